//! The words of the LaTeX dialect.

use super::token::Kind;

/// Commands, without the backslash, in the order of their bytes.
pub(super) const COMMANDS: &[(&str, Kind)] = &[
    ("Delta", Kind::Greek),
    ("Diamond", Kind::OtherSymbol),
    ("Finv", Kind::OtherSymbol),
    ("Game", Kind::OtherSymbol),
    ("Gamma", Kind::Gamma),
    ("Im", Kind::OtherSymbol),
    ("Lambda", Kind::Greek),
    ("Leftrightarrow", Kind::Stray),
    ("Longrightarrow", Kind::Approaches),
    ("Omega", Kind::Greek),
    ("Phi", Kind::Greek),
    ("Pi", Kind::Greek),
    ("Psi", Kind::Greek),
    ("Re", Kind::OtherSymbol),
    ("Rightarrow", Kind::Approaches),
    ("Sigma", Kind::Greek),
    ("Theta", Kind::Greek),
    ("Upsilon", Kind::Greek),
    ("Xi", Kind::Greek),
    ("alpha", Kind::Greek),
    ("angle", Kind::OtherSymbol),
    ("approx", Kind::Approximately),
    ("arccos", Kind::Function),
    ("arccosh", Kind::Function),
    ("arccot", Kind::Function),
    ("arccsc", Kind::Function),
    ("arcosh", Kind::Function),
    ("arcsec", Kind::Function),
    ("arcsin", Kind::Function),
    ("arcsinh", Kind::Function),
    ("arctan", Kind::Function),
    ("arctanh", Kind::Function),
    ("arsinh", Kind::Function),
    ("artanh", Kind::Function),
    ("backprime", Kind::OtherSymbol),
    ("beta", Kind::Greek),
    ("bigstar", Kind::OtherSymbol),
    ("binom", Kind::Binomial),
    ("blacklozenge", Kind::OtherSymbol),
    ("blacksquare", Kind::OtherSymbol),
    ("blacktriangle", Kind::OtherSymbol),
    ("boxed", Kind::Boxed),
    ("cap", Kind::Intersection),
    ("cdot", Kind::Times),
    ("ceil", Kind::Function),
    ("cfrac", Kind::Fraction),
    ("chi", Kind::Greek),
    ("choose", Kind::Choose),
    ("circledS", Kind::OtherSymbol),
    ("clubsuit", Kind::OtherSymbol),
    ("complement", Kind::OtherSymbol),
    ("cos", Kind::Function),
    ("cosh", Kind::Function),
    ("cot", Kind::Function),
    ("csc", Kind::Function),
    ("cup", Kind::Union),
    ("dbinom", Kind::Binomial),
    ("delta", Kind::Greek),
    ("det", Kind::Function),
    ("dfrac", Kind::Fraction),
    ("diagdown", Kind::OtherSymbol),
    ("diagup", Kind::OtherSymbol),
    ("diamondsuit", Kind::OtherSymbol),
    ("div", Kind::Divide),
    ("ell", Kind::OtherSymbol),
    ("emptyset", Kind::EmptySet),
    ("epsilon", Kind::Greek),
    ("equiv", Kind::Equal),
    ("eta", Kind::Greek),
    ("eth", Kind::OtherSymbol),
    ("exp", Kind::Function),
    ("exponentialE", Kind::ExpE),
    ("flat", Kind::OtherSymbol),
    ("floor", Kind::Function),
    ("frac", Kind::Fraction),
    ("gamma", Kind::Gamma),
    ("gcd", Kind::Multi),
    ("ge", Kind::GreaterOrEqual),
    ("geq", Kind::GreaterOrEqual),
    ("geqslant", Kind::GreaterOrEqual),
    ("gt", Kind::Greater),
    ("hbar", Kind::OtherSymbol),
    ("heartsuit", Kind::OtherSymbol),
    ("hslash", Kind::OtherSymbol),
    ("imath", Kind::OtherSymbol),
    ("in", Kind::In),
    ("infty", Kind::Symbol),
    ("int", Kind::Integral),
    ("iota", Kind::Greek),
    ("jmath", Kind::OtherSymbol),
    ("kappa", Kind::Greek),
    ("lambda", Kind::Greek),
    ("lbrace", Kind::OpenBraceCommand),
    ("lbrack", Kind::OpenBrack),
    ("lceil", Kind::OpenCeiling),
    ("lcm", Kind::Multi),
    ("le", Kind::LessOrEqual),
    ("leftrightarrow", Kind::Stray),
    ("leq", Kind::LessOrEqual),
    ("leqslant", Kind::LessOrEqual),
    ("lfloor", Kind::OpenFloor),
    ("lgroup", Kind::OpenGroup),
    ("lim", Kind::Limit),
    ("llcorner", Kind::OpenCorner),
    ("ln", Kind::Function),
    ("log", Kind::Function),
    ("longrightarrow", Kind::Approaches),
    ("lozenge", Kind::OtherSymbol),
    ("lrcorner", Kind::CloseCorner),
    ("lt", Kind::Less),
    ("lvert", Kind::OpenVert),
    ("mathit", Kind::Stray),
    ("max", Kind::Multi),
    ("measuredangle", Kind::OtherSymbol),
    ("mho", Kind::OtherSymbol),
    ("min", Kind::Multi),
    ("mod", Kind::Modulo),
    ("mp", Kind::PlusMinus),
    ("mu", Kind::Greek),
    ("nabla", Kind::OtherSymbol),
    ("natural", Kind::OtherSymbol),
    ("ne", Kind::NotEqual),
    ("neq", Kind::NotEqual),
    ("nexists", Kind::OtherSymbol),
    ("notin", Kind::NotIn),
    ("nu", Kind::Greek),
    ("omega", Kind::Greek),
    ("omicron", Kind::Greek),
    ("operatorname", Kind::OperatorName),
    ("over", Kind::Divide),
    ("partial", Kind::Symbol),
    ("phantom", Kind::Phantom),
    ("phi", Kind::Greek),
    ("pi", Kind::Greek),
    ("pm", Kind::PlusMinus),
    ("prime", Kind::OtherSymbol),
    ("prod", Kind::Product),
    ("psi", Kind::Greek),
    ("rbrace", Kind::CloseBraceCommand),
    ("rbrack", Kind::CloseBrack),
    ("rceil", Kind::CloseCeiling),
    ("rfloor", Kind::CloseFloor),
    ("rgroup", Kind::CloseGroup),
    ("rho", Kind::Greek),
    ("rightarrow", Kind::Approaches),
    ("rvert", Kind::CloseVert),
    ("sec", Kind::Function),
    ("setminus", Kind::SetMinus),
    ("sharp", Kind::OtherSymbol),
    ("sigma", Kind::Greek),
    ("sin", Kind::Function),
    ("sinh", Kind::Function),
    ("spadesuit", Kind::OtherSymbol),
    ("sphericalangle", Kind::OtherSymbol),
    ("sqrt", Kind::Root),
    ("square", Kind::OtherSymbol),
    ("subseteq", Kind::Subset),
    ("sum", Kind::Sum),
    ("supseteq", Kind::Superset),
    ("surd", Kind::OtherSymbol),
    ("tan", Kind::Function),
    ("tanh", Kind::Function),
    ("tau", Kind::Greek),
    ("tbinom", Kind::Binomial),
    ("tfrac", Kind::Fraction),
    ("theta", Kind::Greek),
    ("times", Kind::Times),
    ("to", Kind::Approaches),
    ("triangle", Kind::OtherSymbol),
    ("triangledown", Kind::OtherSymbol),
    ("ulcorner", Kind::OpenUpperCorner),
    ("upsilon", Kind::Greek),
    ("urcorner", Kind::CloseUpperCorner),
    ("varepsilon", Kind::Greek),
    ("varnothing", Kind::OtherSymbol),
    ("varphi", Kind::Greek),
    ("varpi", Kind::Greek),
    ("varrho", Kind::Greek),
    ("varsigma", Kind::Greek),
    ("vartheta", Kind::Greek),
    ("vartriangle", Kind::OtherSymbol),
    ("vert", Kind::Vert),
    ("wp", Kind::OtherSymbol),
    ("xi", Kind::Greek),
    ("zeta", Kind::Greek),
];

/// Spaces, and commands that are passed over like spaces.
pub(super) const SKIPPED: &[&str] = &[
    "hfil",
    "medspace",
    "negmedspace",
    "negthickspace",
    "negthinspace",
    "qquad",
    "quad",
    "thickspace",
    "thinspace",
    "vbox",
    "vcenter",
    "vrule",
    "vskip",
    "vspace",
];

/// Commands that decorate the braces behind them; the whole is one token, up to the first closing brace.
pub(super) const ACCENTS: &[&str] = &[
    "acute",
    "bar",
    "bm",
    "boldsymbol",
    "breve",
    "check",
    "ddot",
    "dot",
    "grave",
    "hat",
    "mathbb",
    "mathbf",
    "mathbin",
    "mathcal",
    "mathclap",
    "mathclose",
    "mathellipsis",
    "mathfrak",
    "mathinner",
    "mathit",
    "mathnormal",
    "mathop",
    "mathopen",
    "mathord",
    "mathpunct",
    "mathrel",
    "mathring",
    "mathrlap",
    "mathrm",
    "mathscr",
    "mathsf",
    "mathsterling",
    "mathtt",
    "mbox",
    "overline",
    "overrightarrow",
    "text",
    "textbf",
    "textit",
    "textnormal",
    "tilde",
    "vec",
    "widecheck",
    "widetilde",
];

/// Words that are names of functions, wherever their letters stand together.
pub(super) const WORDS: &[(&str, Kind)] = &[
    ("SVD", Kind::Name),
    ("arccosh", Kind::Name),
    ("arcosh", Kind::Name),
    ("arcsinh", Kind::Name),
    ("arctanh", Kind::Name),
    ("arsinh", Kind::Name),
    ("artanh", Kind::Name),
    ("bmatrix", Kind::Stray),
    ("ceil", Kind::Name),
    ("cols", Kind::Name),
    ("diag", Kind::MultiName),
    ("diagonalize", Kind::Name),
    ("eig", Kind::Name),
    ("eigen", Kind::Name),
    ("eigenvals", Kind::Name),
    ("eigenvalues", Kind::Name),
    ("eigenvects", Kind::Name),
    ("eigenvectors", Kind::Name),
    ("eye", Kind::Name),
    ("floor", Kind::Name),
    ("gcd", Kind::MultiName),
    ("hstack", Kind::MultiName),
    ("lcm", Kind::MultiName),
    ("matrix", Kind::Stray),
    ("norm", Kind::Name),
    ("nullspace", Kind::Name),
    ("ones", Kind::MultiName),
    ("orth", Kind::MultiName),
    ("ortho", Kind::MultiName),
    ("orthogonal", Kind::MultiName),
    ("orthogonalize", Kind::MultiName),
    ("pmatrix", Kind::Stray),
    ("rank", Kind::Name),
    ("rows", Kind::Name),
    ("rref", Kind::Name),
    ("svd", Kind::Name),
    ("tr", Kind::Name),
    ("trace", Kind::Name),
    ("vmatrix", Kind::Stray),
    ("vstack", Kind::MultiName),
    ("zeros", Kind::MultiName),
];

/// Fixed texts that begin with `^`, longest first where one begins another.
pub(super) const POSTFIXES: &[(&str, Kind)] = &[
    ("^T", Kind::Transpose),
    ("^{T}", Kind::Transpose),
    ("^{\\\top}", Kind::Transpose),
    ("^\\circle", Kind::Degree),
    ("^\\circ", Kind::Degree),
    ("^\\degree", Kind::Degree),
    ("^\u{b0}", Kind::Degree),
    ("^{\\circ}", Kind::Degree),
    ("^{\\degree}", Kind::Degree),
    ("^{\\circle}", Kind::Degree),
    ("^{\u{b0}}", Kind::Degree),
];

/// Commands with an argument that belongs to the token.
pub(super) const ENVIRONMENTS: &[(&str, Kind)] = &[
    ("\\begin{matrix}", Kind::MatrixStart),
    ("\\begin{pmatrix}", Kind::MatrixStart),
    ("\\begin{bmatrix}", Kind::MatrixStart),
    ("\\end{matrix}", Kind::MatrixEnd),
    ("\\end{pmatrix}", Kind::MatrixEnd),
    ("\\end{bmatrix}", Kind::MatrixEnd),
    ("\\end{array}", Kind::ArrayEnd),
    ("\\begin{vmatrix}", Kind::DeterminantStart),
    ("\\end{vmatrix}", Kind::DeterminantEnd),
    ("\\mathbb{N}", Kind::NamedSet),
    ("\\mathbb{Z}", Kind::NamedSet),
    ("\\mathbb{Q}", Kind::NamedSet),
    ("\\mathbb{R}", Kind::NamedSet),
    ("\\mathbb{C}", Kind::NamedSet),
    ("\\mathbb{P}", Kind::NamedSet),
    ("\\not\\equiv", Kind::NotEqual),
    ("\\lbrace\\rbrace", Kind::EmptySet),
    ("\\{\\}", Kind::EmptySet),
];

/// Operators of two and three characters.
pub(super) const LONG_OPERATORS: &[(&str, Kind)] = &[
    ("!==", Kind::NotEqual),
    ("!=", Kind::NotEqual),
    ("==", Kind::Equal),
    ("~=", Kind::Approximately),
    ("<->", Kind::Stray),
    ("<=>", Kind::Stray),
    ("<=", Kind::LessOrEqual),
    (">=", Kind::GreaterOrEqual),
];

/// Tokens of one character that are no beginning of a longer one.
pub(super) fn single(character: char) -> Option<Kind> {
    Some(match character {
        '+' | '∔' | '⊕' | '⊞' => Kind::Plus,
        '-' | '−' | '∸' => Kind::Minus,
        '*' | '×' | '∗'..='∙' | '⊗' | '⊠'..='⊡' | '⋄'..='⋆' | '⋈'..='⋊' => {
            Kind::Times
        }
        '/' | '÷' | '∕' => Kind::Divide,
        '(' => Kind::OpenParen,
        ')' => Kind::CloseParen,
        '{' => Kind::OpenBrace,
        '}' => Kind::CloseBrace,
        '[' => Kind::OpenBracket,
        ']' => Kind::CloseBracket,
        '|' => Kind::Bar,
        '&' => Kind::Column,
        '_' => Kind::Underscore,
        '^' => Kind::Caret,
        ':' => Kind::Colon,
        ';' => Kind::Semicolon,
        ',' => Kind::Comma,
        '.' => Kind::Stray,
        '\'' => Kind::Transpose,
        '!' => Kind::Bang,
        '=' | '≎'..='≗' | '≟' | '≡' | '≣' => Kind::Assign,
        '≃' | '≅' | '≈' | '≊' | '≋' => Kind::Approximately,
        '<' | '≪' | '≺' | '⋖' => Kind::Less,
        '≤' | '≦' | '≲' | '≾' => Kind::LessOrEqual,
        '>' | '≫' | '≻' | '⋗' => Kind::Greater,
        '≥' | '≧' | '≳' | '≿' => Kind::GreaterOrEqual,
        '≁' | '≄' | '≇' | '≉' | '≠' | '≢' => Kind::NotEqual,
        'ℕ' | 'ℤ' | 'ℚ' | 'ℝ' | 'ℂ' | 'ℙ' => Kind::NamedSet,
        '∪' => Kind::Union,
        '∩' => Kind::Intersection,
        '∖' => Kind::SetMinus,
        '±' | '∓' => Kind::PlusMinus,
        '∅' => Kind::EmptySet,
        '⊇' => Kind::Superset,
        '⊆' => Kind::Subset,
        '∉' => Kind::NotIn,
        'ℵ'..='ℸ' => Kind::OtherSymbol,
        'e' => Kind::ExpE,
        'E' => Kind::CapitalE,
        'α' | 'β' | 'γ' | 'Γ' | 'δ' | 'Δ' | 'ε' | 'ϵ' | 'ζ' | 'η' | 'θ' | 'Θ' | 'ϑ' | 'ι' | 'κ'
        | 'λ' | 'Λ' | 'μ' | 'ν' | 'ξ' | 'Ξ' | 'ο' | 'π' | 'Π' | 'ϖ' | 'ρ' | 'ϱ' | 'σ' | 'Σ'
        | 'ς' | 'τ' | 'υ' | 'Υ' | 'φ' | 'Φ' | 'ϕ' | 'χ' | 'ψ' | 'Ψ' | 'ω' | 'Ω' => {
            Kind::Greek
        }
        letter if letter.is_ascii_alphabetic() => Kind::Letter,
        _ => return None,
    })
}

/// May a factor begin with this token?
pub(super) fn begins_factor(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::OpenParen
            | Kind::OpenGroup
            | Kind::OpenBrace
            | Kind::OpenBraceVisual
            | Kind::OpenBraceCommand
            | Kind::OpenBracket
            | Kind::OpenBrack
            | Kind::Phantom
            | Kind::Boxed
            | Kind::Bar
            | Kind::OpenVert
            | Kind::Vert
            | Kind::Norm
            | Kind::OpenFloor
            | Kind::OpenCorner
            | Kind::OpenCeiling
            | Kind::OpenUpperCorner
            | Kind::Limit
            | Kind::Integral
            | Kind::Sum
            | Kind::Product
            | Kind::Function
            | Kind::Gamma
            | Kind::Root
            | Kind::Multi
            | Kind::Fraction
            | Kind::Binomial
            | Kind::OperatorName
            | Kind::MatrixStart
            | Kind::ArrayStart
            | Kind::DeterminantStart
            | Kind::Differential
            | Kind::ExpE
            | Kind::CapitalE
            | Kind::Letter
            | Kind::Number
            | Kind::Scientific
            | Kind::PercentNumber
            | Kind::Greek
            | Kind::OtherSymbol
            | Kind::Symbol
            | Kind::Accent
    )
}
