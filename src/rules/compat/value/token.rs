//! Tokens of the LaTeX dialect: the longest one wins, and a command needs no boundary (`\pie` is `\pi` and `e`).

/// What a token is. Names that the grammar never asks for are [`Kind::Stray`]: they lex, and then nothing parses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Transpose,
    Degree,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
    OpenParen,
    CloseParen,
    OpenParenVisual,
    CloseParenVisual,
    OpenGroup,
    CloseGroup,
    OpenBrace,
    CloseBrace,
    OpenBraceVisual,
    CloseBraceVisual,
    OpenBraceCommand,
    CloseBraceCommand,
    OpenBracket,
    CloseBracket,
    OpenBrack,
    CloseBrack,
    Phantom,
    Boxed,
    Bar,
    OpenVert,
    CloseVert,
    Vert,
    Norm,
    OpenFloor,
    CloseFloor,
    OpenCorner,
    CloseCorner,
    OpenCeiling,
    CloseCeiling,
    OpenUpperCorner,
    CloseUpperCorner,
    Limit,
    Approaches,
    Integral,
    Sum,
    Product,
    /// A function of one argument.
    Function,
    /// `\gamma` without a space behind it: the function or the constant.
    Gamma,
    /// A name that is a function of one argument inside `\operatorname{}`, and nothing anywhere else.
    Name,
    /// Likewise, of several.
    MultiName,
    Root,
    /// A function of several arguments.
    Multi,
    Fraction,
    Binomial,
    Choose,
    OperatorName,
    MatrixStart,
    MatrixEnd,
    ArrayStart,
    ArrayEnd,
    DeterminantStart,
    DeterminantEnd,
    Column,
    Row,
    Underscore,
    Caret,
    Colon,
    Semicolon,
    Comma,
    Differential,
    ExpE,
    CapitalE,
    Letter,
    Number,
    Scientific,
    In,
    Assign,
    Equal,
    Approximately,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    NotEqual,
    Bang,
    PercentNumber,
    Greek,
    OtherSymbol,
    Symbol,
    NamedSet,
    Accent,
    Union,
    Intersection,
    SetMinus,
    PlusMinus,
    EmptySet,
    Superset,
    Subset,
    NotIn,
    Stray,
}

/// A token with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
}

/// How many tokens are read at most.
const LIMIT: usize = 4_000;

/// Commands, without the backslash, in the order of their bytes.
const COMMANDS: &[(&str, Kind)] = &[
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
const SKIPPED: &[&str] = &[
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
const ACCENTS: &[&str] = &[
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
const WORDS: &[(&str, Kind)] = &[
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
const POSTFIXES: &[(&str, Kind)] = &[
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
const ENVIRONMENTS: &[(&str, Kind)] = &[
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

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' ')
}

/// The length of a number at the beginning.
fn number_length(rest: &[u8]) -> usize {
    let digits = |from: usize| {
        rest[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let whole = digits(0);
    if rest.get(whole) == Some(&b'.') {
        let decimals = digits(whole + 1);
        if decimals > 0 {
            return whole + 1 + decimals;
        }
    }
    whole
}

/// A number, with what makes it a percentage or scientific notation.
fn number(rest: &str) -> Option<(Kind, usize)> {
    let bytes = rest.as_bytes();
    let length = number_length(bytes);
    if length == 0 {
        return None;
    }
    let after_space = length + usize::from(bytes.get(length).is_some_and(|byte| is_space(*byte)));
    if bytes[after_space..].starts_with(b"\\%") {
        return Some((Kind::PercentNumber, after_space + 2));
    }
    if bytes.get(after_space) == Some(&b'%') {
        return Some((Kind::PercentNumber, after_space + 1));
    }
    if bytes.get(length) == Some(&b'E') {
        let tail = &rest[length + 1..];
        let sign = tail
            .chars()
            .next()
            .filter(|next| {
                matches!(single(*next), Some(Kind::Plus | Kind::Minus)) && next.is_ascii()
                    || matches!(next, '−' | '∸' | '∔' | '⊕' | '⊞')
            })
            .map_or(0, char::len_utf8);
        let digits = tail[sign..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            return Some((Kind::Scientific, length + 1 + sign + digits));
        }
    }
    Some((Kind::Number, length))
}

/// Tokens of one character that are no beginning of a longer one.
fn single(character: char) -> Option<Kind> {
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

/// Operators of two and three characters.
const LONG_OPERATORS: &[(&str, Kind)] = &[
    ("!==", Kind::NotEqual),
    ("!=", Kind::NotEqual),
    ("==", Kind::Equal),
    ("~=", Kind::Approximately),
    ("<->", Kind::Stray),
    ("<=>", Kind::Stray),
    ("<=", Kind::LessOrEqual),
    (">=", Kind::GreaterOrEqual),
];

/// `d` and the variable behind it.
fn differential_length(rest: &[u8]) -> Option<usize> {
    if rest.first() != Some(&b'd') {
        return None;
    }
    let at = 1 + rest[1..].iter().take_while(|byte| is_space(**byte)).count();
    match rest.get(at)? {
        byte if byte.is_ascii_alphabetic() => Some(at + 1),
        b'\\' => {
            let letters = rest[at + 1..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphabetic())
                .count();
            (letters > 0).then_some(at + 1 + letters)
        }
        _ => None,
    }
}

/// What the lexer found.
enum Found {
    Token(Kind, usize),
    Skip(usize),
}

/// A token that begins with a backslash.
fn command(rest: &str) -> Option<Found> {
    let bytes = rest.as_bytes();
    for (text, kind) in ENVIRONMENTS {
        if rest.starts_with(text) {
            return Some(Found::Token(*kind, text.len()));
        }
    }
    let opening = "\\begin{array}{";
    if let Some(columns) = rest.strip_prefix(opening) {
        let width = columns
            .bytes()
            .take_while(|byte| matches!(byte, b'c' | b'l' | b'r'))
            .count();
        if columns.as_bytes().get(width) == Some(&b'}') {
            return Some(Found::Token(Kind::ArrayStart, opening.len() + width + 1));
        }
    }
    match bytes.get(1)? {
        b',' | b':' | b';' | b'!' => return Some(Found::Skip(2)),
        b'$' => {
            return Some(if rest[2..].starts_with("\\infty") {
                Found::Token(Kind::Symbol, 8)
            } else {
                Found::Skip(2)
            });
        }
        b'(' => return Some(Found::Token(Kind::OpenParenVisual, 2)),
        b')' => return Some(Found::Token(Kind::CloseParenVisual, 2)),
        b'{' => return Some(Found::Token(Kind::OpenBraceVisual, 2)),
        b'}' => return Some(Found::Token(Kind::CloseBraceVisual, 2)),
        b'|' => return Some(Found::Token(Kind::Norm, 2)),
        b'\\' => return Some(Found::Token(Kind::Row, 2)),
        _ => {}
    }
    let letters = bytes[1..]
        .iter()
        .take(20)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    for length in (1..=letters).rev() {
        let name = &rest[1..=length];
        let end = length + 1;
        if ACCENTS.binary_search(&name).is_ok() {
            let open = end + usize::from(bytes.get(end).is_some_and(|byte| is_space(*byte)));
            if bytes.get(open) == Some(&b'{')
                && let Some(close) = rest[open..].find('}')
            {
                return Some(Found::Token(Kind::Accent, open + close + 1));
            }
        }
        if SKIPPED.binary_search(&name).is_ok() {
            return Some(Found::Skip(end));
        }
        if let Ok(index) = COMMANDS.binary_search_by(|(command, _)| (*command).cmp(name)) {
            let (_, kind) = COMMANDS[index];
            let space = usize::from(bytes.get(end) == Some(&b' '));
            return Some(match kind {
                Kind::Greek | Kind::OtherSymbol => Found::Token(kind, end + space),
                Kind::Gamma if space == 1 => Found::Token(Kind::Greek, end + 1),
                Kind::Symbol if name == "infty" && rest[end..].starts_with("\\%") => {
                    Found::Token(kind, end + 2)
                }
                Kind::Symbol if name == "infty" && rest[end..].starts_with('%') => {
                    Found::Token(kind, end + 1)
                }
                _ => Found::Token(kind, end),
            });
        }
    }
    None
}

/// The token at the beginning of a text that is not empty.
fn first(rest: &str) -> Option<Found> {
    let bytes = rest.as_bytes();
    let byte = *bytes.first()?;
    if is_space(byte) {
        let width = bytes.iter().take_while(|byte| is_space(**byte)).count();
        return Some(Found::Skip(width));
    }
    if byte == b'\\' {
        return command(rest);
    }
    if byte.is_ascii_digit() || byte == b'.' {
        if let Some((kind, length)) = number(rest) {
            return Some(Found::Token(kind, length));
        }
        return Some(Found::Token(Kind::Stray, 1));
    }
    if byte == b'^' {
        for (text, kind) in POSTFIXES {
            if rest.starts_with(text) {
                return Some(Found::Token(*kind, text.len()));
            }
        }
    }
    for (text, kind) in LONG_OPERATORS {
        if rest.starts_with(text) {
            return Some(Found::Token(*kind, text.len()));
        }
    }
    if byte.is_ascii_alphabetic() {
        let differential = differential_length(bytes).unwrap_or(0);
        let word = WORDS
            .iter()
            .filter(|(word, _)| rest.starts_with(word))
            .max_by_key(|(word, _)| word.len());
        if let Some((word, kind)) = word
            && word.len() > differential
        {
            return Some(Found::Token(*kind, word.len()));
        }
        if differential > 0 {
            return Some(Found::Token(Kind::Differential, differential));
        }
    }
    let character = rest.chars().next()?;
    let kind = single(character)?;
    let mut length = character.len_utf8();
    if matches!(kind, Kind::Greek | Kind::OtherSymbol) && bytes.get(length) == Some(&b' ') {
        length += 1;
    }
    Some(Found::Token(kind, length))
}

/// The tokens of a text; `None` where a character begins none, or there are too many.
pub(super) fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut found = Vec::with_capacity(text.len().min(LIMIT) / 2 + 4);
    let mut at = 0;
    while at < text.len() {
        match first(&text[at..])? {
            Found::Skip(length) => at += length,
            Found::Token(kind, length) => {
                if found.len() == LIMIT {
                    return None;
                }
                found.push(Token {
                    kind,
                    text: &text[at..at + length],
                });
                at += length;
            }
        }
    }
    Some(found)
}
