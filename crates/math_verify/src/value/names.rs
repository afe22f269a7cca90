//! Names of symbols: Greek letters in every spelling, accents, subscripts, one case.

use super::expr::symbol_name;
use super::token::{Lexeme, Token};
use juror_algebra::{Constant, Expr};

/// Greek letters, and the command that names each; the two shapes of a letter are two names.
const GREEK: &str = "α alpha β beta γ gamma Γ Gamma δ delta Δ Delta ε epsilon ϵ varepsilon ζ zeta \
    η eta θ theta Θ Theta ϑ vartheta ι iota κ kappa λ lambda Λ Lambda μ mu \
    ν nu ξ xi Ξ Xi ο omicron π pi Π Pi ϖ varpi ρ rho ϱ varrho \
    σ sigma Σ Sigma ς varsigma τ tau υ upsilon Υ Upsilon φ phi Φ Phi ϕ varphi \
    χ chi ψ psi Ψ Psi ω omega Ω Omega";

/// A symbol, or the constant that has this name.
pub(super) fn symbol(text: &str, real: bool, keep_case: bool) -> Expr {
    let text = text.trim();
    let mut greek = GREEK.split_whitespace();
    let single = if text.is_ascii() {
        None
    } else {
        greek.find(|word| *word == text).and_then(|_| greek.next())
    };
    let name = single.unwrap_or_else(|| text.strip_prefix('\\').unwrap_or(text));
    let constant = |name: &str| match name {
        "pi" => Some(Expr::Constant(Constant::Pi)),
        "gamma" | "Gamma" => Some(Expr::Constant(Constant::EulerGamma)),
        _ => None,
    };
    if let Some(constant) = constant(name) {
        return constant;
    }
    if keep_case {
        return plain(name, real);
    }
    let lower = name.to_lowercase();
    constant(&lower).unwrap_or_else(|| plain(&lower, real))
}

/// A symbol of exactly this name.
pub(super) fn plain(name: &str, real: bool) -> Expr {
    Expr::Symbol(symbol_name(name, real))
}

/// The text of tokens without the spaces between them.
pub(super) fn joined(tokens: &[Lexeme<'_>]) -> String {
    tokens.iter().map(|token| token.text).collect()
}

/// The name that a token and its subscript stand for; `None` for the imaginary unit.
pub(super) fn spelled(token: &Lexeme<'_>, subscript: Option<&[Lexeme<'_>]>) -> Option<String> {
    if token.text == "I" {
        return None;
    }
    let mut name = match token.kind {
        Token::Accent => accented(token.text),
        _ => token.text.to_owned(),
    };
    name.truncate(name.trim_end().len());
    let lead = name.len() - name.trim_start().len();
    name.drain(..lead);
    if let Some(tokens) = subscript {
        let text = joined(tokens);
        let text = text.trim();
        if text.chars().count() > 1 {
            name.push_str("_{");
            name.push_str(text);
            name.push('}');
        } else {
            name.push('_');
            name.push_str(text);
        }
    }
    Some(name)
}

/// The name for an accent over a text: words have none, and some accents have two spellings.
fn accented(text: &str) -> String {
    let Some((accent, rest)) = text.split_once('{') else {
        return text.to_owned();
    };
    let accent = accent.strip_prefix('\\').unwrap_or(accent);
    let inner = rest.strip_suffix('}').unwrap_or(rest).replace(' ', "");
    let tag = match accent {
        "bar" | "overline" => "bar",
        "vec" | "overrightarrow" => "vec",
        "tilde" | "widetilde" => "tilde",
        words if words.contains("text") || words.contains("mbox") => {
            return inner.replace(['(', ')'], "");
        }
        alphabet if alphabet.contains("math") => "math",
        other => other,
    };
    format!("{tag}{{{inner}}}")
}
