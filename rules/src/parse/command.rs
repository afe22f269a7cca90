//! What LaTeX commands mean.

use super::token::{Bracket, Kind, Named, Side, Space, Structure};
use crate::algebra::{BinderKind, Constant, Function};
use crate::answer::Operator;

/// What the lexer does at a command.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Action {
    /// Emits a token.
    Emit(Kind<'static>),
    /// Nothing stands there.
    Skip,
    /// Nothing stands there, nor in the group behind.
    SkipGroup,
    /// White space.
    Space(Space),
    /// `\left`, `\right` and sizes: a delimiter follows.
    Delimiter(Side),
    /// `\text`: words.
    Text,
    /// `\mathrm`: an upright name.
    Name,
    /// `\begin`.
    Begin,
    /// `\end`.
    End,
    /// `\not`.
    Not,
}

/// The command of a name without its backslash; `None` for unknown ones.
pub(super) fn command(name: &str) -> Option<Action> {
    if let Some(kind) = symbol(name)
        .or_else(|| function(name))
        .or_else(|| greek(name))
    {
        return Some(Action::Emit(kind));
    }
    Some(match name {
        "left" | "bigl" | "Bigl" | "biggl" | "Biggl" => Action::Delimiter(Side::Left),
        "right" | "bigr" | "Bigr" | "biggr" | "Biggr" => Action::Delimiter(Side::Right),
        "middle" | "big" | "Big" | "bigg" | "Bigg" | "bigm" | "Bigm" => {
            Action::Delimiter(Side::Unknown)
        }
        "text" | "textbf" | "textit" | "textrm" | "textnormal" | "textsf" | "texttt" | "textup"
        | "textsl" | "textsc" | "mbox" | "hbox" | "emph" | "intertext" => Action::Text,
        "mathrm" | "operatorname" | "mathop" | "mathsf" | "mathtt" | "mathup" | "unit" | "si" => {
            Action::Name
        }
        "begin" => Action::Begin,
        "end" => Action::End,
        "not" => Action::Not,
        "quad" | "qquad" | "newline" | "par" => Action::Space(Space::Wide),
        "," | ";" | ":" | ">" | " " | "enspace" | "thinspace" | "medspace" | "thickspace"
        | "space" | "hfill" | "hskip" | "nobreakspace" => Action::Space(Space::Some),
        "!" | "displaystyle" | "textstyle" | "scriptstyle" | "scriptscriptstyle" | "limits"
        | "nolimits" | "boxed" | "fbox" | "framebox" | "rm" | "bf" | "it" | "sf" | "tt" | "cal"
        | "mathbf" | "boldsymbol" | "bm" | "mathit" | "mathnormal" | "mathcal" | "mathscr"
        | "mathfrak" | "pmb" | "mathbin" | "mathrel" | "mathord" | "mathopen" | "mathclose"
        | "mathpunct" | "mathstrut" | "strut" | "negthinspace" | "/" | "-" | "centering"
        | "noindent" | "bfseries" | "large" | "Large" | "LARGE" | "huge" | "small"
        | "normalsize" | "allowbreak" | "hline" | "nonumber" | "notag" | "vphantomsection"
        | "ensuremath" | "smash" | "underline" | "underbrace" | "overbrace" | "mathinner"
        | "relax" | "protect" | "phantomsection" | "null" | "qed" | "blacksquare" | "Box"
        | "square" => Action::Skip,
        "color" | "textcolor" | "hspace" | "vspace" | "phantom" | "hphantom" | "vphantom"
        | "label" | "tag" | "kern" | "mspace" | "colorbox" | "fontsize" => Action::SkipGroup,
        _ => return None,
    })
}

/// Signs, relations, brackets, structures.
fn symbol(name: &str) -> Option<Kind<'static>> {
    use Operator as O;
    Some(match name {
        "frac" | "dfrac" | "tfrac" | "cfrac" | "sfrac" | "nicefrac" | "flatfrac" => {
            Kind::Structure(Structure::Fraction)
        }
        "sqrt" | "surd" => Kind::Structure(Structure::Root),
        "binom" | "dbinom" | "tbinom" => Kind::Structure(Structure::Binomial),
        "over" => Kind::Structure(Structure::Over),
        "choose" => Kind::Structure(Structure::Choose),
        "overset" | "underset" | "stackrel" => Kind::Structure(Structure::Overset),
        "cdot" | "times" | "ast" | "star" | "cdotp" | "bullet" => Kind::Times,
        "div" => Kind::Divide,
        "pm" => Kind::PlusMinus,
        "mp" => Kind::MinusPlus,
        "sum" => Kind::Big(BinderKind::Sum),
        "prod" => Kind::Big(BinderKind::Product),
        "int" | "intop" => Kind::Big(BinderKind::Integral),
        "lim" => Kind::Big(BinderKind::Limit),
        "pi" => Kind::Constant(Constant::Pi),
        "infty" | "infin" => Kind::Constant(Constant::Infinity),
        "imath" => Kind::Letter('i'),
        "jmath" => Kind::Letter('j'),
        "ell" => Kind::Letter('ℓ'),
        "hbar" | "hslash" => Kind::Greek("hbar"),
        "circ" | "degree" | "textdegree" => Kind::Circle,
        "prime" => Kind::Prime(1),
        "partial" => Kind::Partial,
        "to" | "rightarrow" | "longrightarrow" => Kind::Tends,
        "{" | "lbrace" => Kind::Open(Bracket::Set),
        "}" | "rbrace" => Kind::Close(Bracket::Set),
        "lbrack" => Kind::Open(Bracket::Square),
        "rbrack" => Kind::Close(Bracket::Square),
        "lparen" => Kind::Open(Bracket::Round),
        "rparen" => Kind::Close(Bracket::Round),
        "langle" => Kind::Open(Bracket::Angle),
        "rangle" => Kind::Close(Bracket::Angle),
        "lfloor" => Kind::Open(Bracket::Floor),
        "rfloor" => Kind::Close(Bracket::Floor),
        "lceil" => Kind::Open(Bracket::Ceiling),
        "rceil" => Kind::Close(Bracket::Ceiling),
        "lvert" => Kind::Bar(Side::Left),
        "rvert" => Kind::Bar(Side::Right),
        "vert" => Kind::Bar(Side::Unknown),
        "|" | "lVert" | "rVert" | "Vert" => Kind::Norm,
        "%" => Kind::Percent,
        "$" => Kind::Currency("USD"),
        "pounds" | "textsterling" => Kind::Currency("GBP"),
        "euro" | "texteuro" | "EUR" => Kind::Currency("EUR"),
        "yen" => Kind::Currency("JPY"),
        "colon" => Kind::Colon,
        "bmod" | "mod" => Kind::Modulo,
        "pmod" => Kind::Congruence,
        "ldots" | "dots" | "cdots" | "dotsc" | "dotsb" | "vdots" | "ddots" | "dotsm" => Kind::Dots,
        "eq" | "equiv" | "coloneqq" | "triangleq" => Kind::Relation(O::Equal),
        "ne" | "neq" => Kind::Relation(O::NotEqual),
        "lt" => Kind::Relation(O::Less),
        "gt" => Kind::Relation(O::Greater),
        "le" | "leq" | "leqslant" | "leqq" => Kind::Relation(O::LessOrEqual),
        "ge" | "geq" | "geqslant" | "geqq" => Kind::Relation(O::GreaterOrEqual),
        "in" => Kind::Relation(O::In),
        "notin" => Kind::Relation(O::NotIn),
        "approx" | "simeq" | "approxeq" | "thickapprox" | "doteq" => {
            Kind::Relation(O::Approximately)
        }
        "subset" | "subseteq" => Kind::Relation(O::Subset),
        "mid" | "divides" => Kind::Relation(O::Divides),
        "parallel" => Kind::Relation(O::Parallel),
        "perp" | "bot" => Kind::Relation(O::Perpendicular),
        "sim" | "cong" => Kind::Relation(O::Similar),
        "cup" | "bigcup" => Kind::Union,
        "cap" | "bigcap" => Kind::Intersection,
        "setminus" | "smallsetminus" | "backslash" => Kind::SetMinus,
        "emptyset" | "varnothing" | "O" => Kind::EmptySet,
        "land" | "wedge" | "&" => Kind::And,
        "lor" | "vee" => Kind::Or,
        "overline" | "bar" => Kind::Accent("bar"),
        "hat" | "widehat" => Kind::Accent("hat"),
        "tilde" | "widetilde" => Kind::Accent("tilde"),
        "vec" | "overrightarrow" => Kind::Accent("vec"),
        "overleftrightarrow" => Kind::Accent("line"),
        "dot" => Kind::Accent("dot"),
        "ddot" => Kind::Accent("ddot"),
        "overarc" | "overparen" | "wideparen" => Kind::Accent("arc"),
        "angle" | "measuredangle" => Kind::Object("∠"),
        "triangle" | "vartriangle" => Kind::Object("△"),
        "odot" => Kind::Object("⊙"),
        "R" | "reals" | "Reals" => Kind::Domain('ℝ'),
        "N" => Kind::Domain('ℕ'),
        "Z" => Kind::Domain('ℤ'),
        "Q" => Kind::Domain('ℚ'),
        "C" => Kind::Domain('ℂ'),
        "nabla" => Kind::Greek("nabla"),
        "_" => Kind::Underscore,
        "#" => Kind::Other,
        "implies" | "iff" | "Rightarrow" | "Leftrightarrow" | "mapsto" | "Longrightarrow" => {
            Kind::Other
        }
        _ => return None,
    })
}

/// Functions, by command and by plain name.
pub(super) fn function(name: &str) -> Option<Kind<'static>> {
    use Function as F;
    Some(Kind::Function(match name {
        "sin" => Named::One(F::Sin),
        "cos" => Named::One(F::Cos),
        "tan" | "tg" => Named::One(F::Tan),
        "cot" | "ctg" | "cotan" => Named::One(F::Cot),
        "sec" => Named::One(F::Sec),
        "csc" | "cosec" => Named::One(F::Csc),
        "arcsin" | "asin" => Named::One(F::Arcsin),
        "arccos" | "acos" => Named::One(F::Arccos),
        "arctan" | "atan" | "arctg" => Named::One(F::Arctan),
        "arccot" | "acot" | "arcctg" => Named::One(F::Arccot),
        "arcsec" | "asec" => Named::One(F::Arcsec),
        "arccsc" | "acsc" => Named::One(F::Arccsc),
        "sinh" | "sh" => Named::One(F::Sinh),
        "cosh" | "ch" => Named::One(F::Cosh),
        "tanh" | "th" => Named::One(F::Tanh),
        "coth" | "cth" => Named::One(F::Coth),
        "arsinh" | "arcsinh" | "asinh" => Named::One(F::Arsinh),
        "arcosh" | "arccosh" | "acosh" => Named::One(F::Arcosh),
        "artanh" | "arctanh" | "atanh" => Named::One(F::Artanh),
        "log" => Named::Log,
        "lg" => Named::LogBase(10),
        "ln" => Named::Ln,
        "exp" => Named::Exp,
        "sech" => Named::OneOver(F::Cosh),
        "csch" | "cosech" => Named::OneOver(F::Sinh),
        "cis" => Named::Cis,
        "cbrt" => Named::Root(3),
        "abs" => Named::One(F::Absolute),
        "floor" => Named::One(F::Floor),
        "ceil" | "ceiling" => Named::One(F::Ceiling),
        "sgn" | "sign" | "signum" => Named::One(F::Sign),
        "gcd" => Named::Many(F::Gcd),
        "lcm" | "LCM" => Named::Many(F::Lcm),
        "max" => Named::Many(F::Max),
        "min" => Named::Many(F::Min),
        "Re" => Named::One(F::RealPart),
        "Im" => Named::One(F::ImaginaryPart),
        "arg" | "Arg" => Named::One(F::Argument),
        "det" => Named::Opaque("det"),
        "dim" => Named::Opaque("dim"),
        "deg" => Named::Opaque("deg"),
        "ker" => Named::Opaque("ker"),
        "sup" => Named::Opaque("sup"),
        "inf" => Named::Opaque("inf"),
        "Pr" => Named::Opaque("Pr"),
        _ => return None,
    }))
}

/// Greek letters; variants of one letter are one.
pub(super) fn greek(name: &str) -> Option<Kind<'static>> {
    Some(Kind::Greek(match name {
        "alpha" => "alpha",
        "beta" => "beta",
        "gamma" => "gamma",
        "delta" => "delta",
        "epsilon" | "varepsilon" => "epsilon",
        "zeta" => "zeta",
        "eta" => "eta",
        "theta" | "vartheta" => "theta",
        "iota" => "iota",
        "kappa" | "varkappa" => "kappa",
        "lambda" => "lambda",
        "mu" => "mu",
        "nu" => "nu",
        "xi" => "xi",
        "omicron" => "omicron",
        "varpi" => "varpi",
        "rho" | "varrho" => "rho",
        "sigma" | "varsigma" => "sigma",
        "tau" => "tau",
        "upsilon" => "upsilon",
        "phi" | "varphi" => "phi",
        "chi" => "chi",
        "psi" => "psi",
        "omega" => "omega",
        "Gamma" => "Gamma",
        "Delta" => "Delta",
        "Theta" => "Theta",
        "Lambda" => "Lambda",
        "Xi" => "Xi",
        "Pi" => "Pi",
        "Sigma" => "Sigma",
        "Upsilon" => "Upsilon",
        "Phi" => "Phi",
        "Psi" => "Psi",
        "Omega" => "Omega",
        _ => return None,
    }))
}

/// Greek letters as characters.
pub(super) fn greek_letter(character: char) -> Option<Kind<'static>> {
    Some(match character {
        'π' | '𝜋' => Kind::Constant(Constant::Pi),
        'α' => Kind::Greek("alpha"),
        'β' => Kind::Greek("beta"),
        'γ' => Kind::Greek("gamma"),
        'δ' => Kind::Greek("delta"),
        'ε' | 'ϵ' => Kind::Greek("epsilon"),
        'ζ' => Kind::Greek("zeta"),
        'η' => Kind::Greek("eta"),
        'θ' | 'ϑ' => Kind::Greek("theta"),
        'ι' => Kind::Greek("iota"),
        'κ' => Kind::Greek("kappa"),
        'λ' => Kind::Greek("lambda"),
        'μ' | 'µ' => Kind::Greek("mu"),
        'ν' => Kind::Greek("nu"),
        'ξ' => Kind::Greek("xi"),
        'ρ' | 'ϱ' => Kind::Greek("rho"),
        'σ' | 'ς' => Kind::Greek("sigma"),
        'τ' => Kind::Greek("tau"),
        'υ' => Kind::Greek("upsilon"),
        'φ' | 'ϕ' => Kind::Greek("phi"),
        'χ' => Kind::Greek("chi"),
        'ψ' => Kind::Greek("psi"),
        'ω' => Kind::Greek("omega"),
        'Γ' => Kind::Greek("Gamma"),
        'Δ' => Kind::Greek("Delta"),
        'Θ' => Kind::Greek("Theta"),
        'Λ' => Kind::Greek("Lambda"),
        'Ξ' => Kind::Greek("Xi"),
        'Π' => Kind::Greek("Pi"),
        'Σ' => Kind::Greek("Sigma"),
        'Φ' => Kind::Greek("Phi"),
        'Ψ' => Kind::Greek("Psi"),
        'Ω' => Kind::Greek("Omega"),
        _ => return None,
    })
}

/// Signs as single characters beyond ASCII.
pub(super) fn sign(character: char) -> Option<Kind<'static>> {
    use Operator as O;
    Some(match character {
        '−' | '–' | '—' | '‐' | '‑' | '‒' | '﹣' => Kind::Minus,
        '×' | '·' | '⋅' | '∙' | '•' | '∗' | '✕' | '✖' | '⨯' | '⋆' => Kind::Times,
        '÷' | '⁄' | '∕' => Kind::Divide,
        '±' => Kind::PlusMinus,
        '∓' => Kind::MinusPlus,
        '≤' | '⩽' | '≦' => Kind::Relation(O::LessOrEqual),
        '≥' | '⩾' | '≧' => Kind::Relation(O::GreaterOrEqual),
        '≠' => Kind::Relation(O::NotEqual),
        '≡' | '≔' => Kind::Relation(O::Equal),
        '≈' | '≃' | '≒' => Kind::Relation(O::Approximately),
        '≅' | '∼' => Kind::Relation(O::Similar),
        '∈' | '∊' => Kind::Relation(O::In),
        '∉' => Kind::Relation(O::NotIn),
        '⊂' | '⊆' => Kind::Relation(O::Subset),
        '∣' => Kind::Relation(O::Divides),
        '∥' => Kind::Relation(O::Parallel),
        '⊥' | '⟂' => Kind::Relation(O::Perpendicular),
        '‖' => Kind::Norm,
        '∪' | '⋃' => Kind::Union,
        '∩' | '⋂' => Kind::Intersection,
        '∖' => Kind::SetMinus,
        '∅' | 'Ø' | '⌀' => Kind::EmptySet,
        '∧' => Kind::And,
        '∨' => Kind::Or,
        '∞' => Kind::Constant(Constant::Infinity),
        '√' => Kind::Structure(Structure::Root),
        '∛' => Kind::Structure(Structure::CubeRoot),
        '∜' => Kind::Structure(Structure::FourthRoot),
        '∑' => Kind::Big(BinderKind::Sum),
        '∏' => Kind::Big(BinderKind::Product),
        '∫' => Kind::Big(BinderKind::Integral),
        '∂' => Kind::Partial,
        '→' | '⟶' => Kind::Tends,
        '∠' | '∡' => Kind::Object("∠"),
        '△' | '▲' => Kind::Object("△"),
        '⊙' => Kind::Object("⊙"),
        'ℝ' | 'ℤ' | 'ℕ' | 'ℚ' | 'ℂ' => Kind::Domain(character),
        '°' | 'º' | '˚' | '∘' => Kind::Circle,
        '′' | '’' | '‘' => Kind::Prime(1),
        '″' => Kind::Prime(2),
        '⟨' | '〈' => Kind::Open(Bracket::Angle),
        '⟩' | '〉' => Kind::Close(Bracket::Angle),
        '⌊' => Kind::Open(Bracket::Floor),
        '⌋' => Kind::Close(Bracket::Floor),
        '⌈' => Kind::Open(Bracket::Ceiling),
        '⌉' => Kind::Close(Bracket::Ceiling),
        '€' => Kind::Currency("EUR"),
        '£' => Kind::Currency("GBP"),
        '¥' => Kind::Currency("JPY"),
        '₹' => Kind::Currency("INR"),
        '₽' => Kind::Currency("RUB"),
        '₩' => Kind::Currency("KRW"),
        '₪' => Kind::Currency("ILS"),
        '₫' => Kind::Currency("VND"),
        '₱' => Kind::Currency("PHP"),
        '₺' => Kind::Currency("TRY"),
        '₴' => Kind::Currency("UAH"),
        '₦' => Kind::Currency("NGN"),
        '…' | '⋯' | '⋮' => Kind::Dots,
        '、' => Kind::Comma,
        '。' => Kind::Stop,
        '½' => Kind::Vulgar(1, 2),
        '⅓' => Kind::Vulgar(1, 3),
        '⅔' => Kind::Vulgar(2, 3),
        '¼' => Kind::Vulgar(1, 4),
        '¾' => Kind::Vulgar(3, 4),
        '⅕' => Kind::Vulgar(1, 5),
        '⅖' => Kind::Vulgar(2, 5),
        '⅗' => Kind::Vulgar(3, 5),
        '⅘' => Kind::Vulgar(4, 5),
        '⅙' => Kind::Vulgar(1, 6),
        '⅚' => Kind::Vulgar(5, 6),
        '⅐' => Kind::Vulgar(1, 7),
        '⅛' => Kind::Vulgar(1, 8),
        '⅜' => Kind::Vulgar(3, 8),
        '⅝' => Kind::Vulgar(5, 8),
        '⅞' => Kind::Vulgar(7, 8),
        '⅑' => Kind::Vulgar(1, 9),
        '⅒' => Kind::Vulgar(1, 10),
        _ => return None,
    })
}
