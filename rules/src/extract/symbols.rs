//! The smallest pieces of bare maths: numbers, groups in braces, symbols.

use super::words;

/// The length of the number that `text` begins with: digits, grouped thousands, decimals, a power of ten; 0 if none.
pub(super) fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from.min(bytes.len())..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut end = digits(0);
    if end == 0 {
        let decimals = if bytes.first() == Some(&b'.') {
            digits(1)
        } else {
            0
        };
        if decimals == 0 {
            return 0;
        }
        end = 1 + decimals;
    } else {
        while let Some(mark) = bytes.get(end) {
            let step = match mark {
                b',' if bytes[end..].starts_with(b",\\!") => 3,
                // The repeating part of a decimal is a command's, or stands in brackets.
                b'.' if ["\\overline", "\\bar", "\\dot"]
                    .iter()
                    .any(|it| text[end + 1..].starts_with(it))
                    || (bytes.get(end + 1) == Some(&b'(') && digits(end + 2) > 0) =>
                {
                    end += 1;
                    break;
                }
                b',' | b'.' | b'\'' => 1,
                // `{,}` and `\,` and `\!`, the ways LaTeX groups thousands.
                b'{' if bytes[end..].starts_with(b"{,}") => 3,
                b'\\' if bytes[end..].starts_with(b"\\,") && digits(end + 2) == 3 => 2,
                b'\\' if bytes[end..].starts_with(b"\\!") && digits(end + 2) == 3 => 2,
                b' ' if (1..=3).contains(&end) || bytes[..end].contains(&b' ') => {
                    if digits(end + 1) == 3
                        && digits(0) <= 3
                        && bytes[0] != b'0'
                        && bytes.get(end + 4) != Some(&b'/')
                    {
                        1
                    } else {
                        break;
                    }
                }
                _ => break,
            };
            let more = digits(end + step);
            if more == 0 || (*mark == b'\'' && more != 3) {
                break;
            }
            end += step + more;
        }
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let power = digits(end + 1 + sign);
        let after = bytes.get(end + 1 + sign + power);
        if power > 0 && !after.is_some_and(u8::is_ascii_alphanumeric) {
            end += 1 + sign + power;
        }
    }
    end
}

/// Currency signs that stand before a number.
pub(super) fn is_currency(character: char) -> bool {
    matches!(
        character,
        '$' | '€' | '£' | '¥' | '₹' | '₽' | '₩' | '₪' | '₫' | '₱' | '₦' | '₴' | '¢'
    )
}

/// Could maths go on here, behind a comma or "and"?
pub(super) fn begins_operand(text: &str) -> bool {
    let bare = text.trim_start_matches(['-', '+', '±']);
    let Some(first) = bare.chars().next() else {
        return false;
    };
    if first.is_ascii_digit() || matches!(first, '(' | '[' | '{' | '\\' | '√' | 'π' | '∞') {
        return true;
    }
    if is_currency(first) {
        return bare[first.len_utf8()..].starts_with(|it: char| it.is_ascii_digit());
    }
    if first.is_ascii_alphabetic() {
        let word = words::first_word(bare);
        let after = bare[word.len()..].trim_start();
        if words::FUNCTION.contains(word) {
            return true;
        }
        return word.len() <= 2 && (after.starts_with(['=', '<', '>', '≤', '≥', '≠', '_', '^']));
    }
    false
}

/// Is this a symbol of maths that stands for itself?
pub(super) fn is_symbol(character: char) -> bool {
    matches!(character,
        'α'..='ω' | 'Γ' | 'Δ' | 'Θ' | 'Λ' | 'Ξ' | 'Π' | 'Σ' | 'Φ' | 'Ψ' | 'Ω'
        | '∞' | '∅' | '½' | '⅓' | '¼' | '¾' | '⅔' | '⅕' | '⅖' | '⅗' | '⅘' | '⅙' | '⅚' | '⅛' | '⅜' | '⅝' | '⅞'
        | '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '⁺' | '⁻' | 'ⁿ' | '₀'..='₉' | 'ℝ' | 'ℤ' | 'ℚ' | 'ℕ' | 'ℂ'
        | '∠' | '△' | '′')
}

/// The length of the braced group that `text` begins with; 0 if none.
pub(super) fn group(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'{') {
        return 0;
    }
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    0
}

/// Is this a fraction in one character: ½, ⅔?
pub(super) fn is_vulgar(character: char) -> bool {
    matches!(character, '¼'..='¾' | '⅐'..='⅞' | '↉')
}
