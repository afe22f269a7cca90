//! Python's `'…'.format(…)` and `'…' % …`.

use super::interpreter::Given;
use super::repr::{exponent_of, python_float, with_exponent};
use super::value::Value;
use super::work::{Fault, Text, Work};

/// A format specification: how a value is to be written.
#[derive(Debug, Default)]
struct Spec {
    filling: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    alternate: bool,
    zero: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

/// The largest precision: no number has more digits.
const MAX_PRECISION: usize = 400;

fn digits(rest: &mut &str) -> Result<Option<usize>, Fault> {
    let length = rest
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(rest.len());
    if length == 0 {
        return Ok(None);
    }
    let number = rest[..length].parse().map_err(|_| "a width is too large")?;
    *rest = &rest[length..];
    Ok(Some(number))
}

fn taken(rest: &mut &str, one_of: &str) -> Option<char> {
    let first = rest
        .chars()
        .next()
        .filter(|first| one_of.contains(*first))?;
    *rest = &rest[first.len_utf8()..];
    Some(first)
}

impl Spec {
    /// `[[fill]align][sign][#][0][width][grouping][.precision][type]`
    fn read(mut rest: &str) -> Result<Self, Fault> {
        let mut spec = Self::default();
        let mut characters = rest.chars();
        let first = characters.next();
        if let (Some(first), Some(align @ ('<' | '>' | '=' | '^'))) = (first, characters.next()) {
            spec.filling = Some(first);
            spec.align = Some(align);
            rest = characters.as_str();
        } else {
            spec.align = taken(&mut rest, "<>=^");
        }
        spec.sign = taken(&mut rest, "+- ");
        spec.alternate = taken(&mut rest, "#").is_some();
        spec.zero = taken(&mut rest, "0").is_some();
        spec.width = digits(&mut rest)?.unwrap_or(0);
        spec.grouping = taken(&mut rest, ",_");
        if taken(&mut rest, ".").is_some() {
            let precision = digits(&mut rest)?.ok_or("a precision is missing")?;
            spec.precision = Some(precision);
        }
        spec.kind = taken(&mut rest, "bcdeEfFgGnosxX%");
        if rest.is_empty() {
            Ok(spec)
        } else {
            Err("invalid format specifier".into())
        }
    }

    fn write(&self, value: &Value, out: &mut Text<'_>) -> Result<(), Fault> {
        let is_number = value.as_float().is_some() && !matches!(value, Value::Bool(_))
            || self.kind.is_some_and(|kind| kind != 's') && value.as_float().is_some();
        if !is_number {
            if self.kind.is_some_and(|kind| kind != 's') {
                return Err(format!(
                    "unknown format code for object of type '{}'",
                    value.kind()
                ));
            }
            let text = value.to_text(out.work)?;
            let shown = match self.precision {
                Some(most) => {
                    let end = text
                        .char_indices()
                        .nth(most)
                        .map_or(text.len(), |(at, _)| at);
                    &text[..end]
                }
                None => &text,
            };
            return self.fill("", shown, '<', out);
        }
        let (negative, number) = self.number(value)?;
        let sign = match (negative, self.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            _ => "",
        };
        self.fill(sign, &number, '>', out)
    }

    /// A number without its sign, and whether it is negative.
    fn number(&self, value: &Value) -> Result<(bool, String), Fault> {
        let precision = self.precision.unwrap_or(6);
        if precision > MAX_PRECISION {
            return Err(format!("a precision is {MAX_PRECISION} at most"));
        }
        let prefix = |text: &'static str| if self.alternate { text } else { "" };
        if let (Some(number), None | Some('b' | 'c' | 'd' | 'n' | 'o' | 'x' | 'X')) =
            (value.as_int(), self.kind)
        {
            let size = number.unsigned_abs();
            let written = match self.kind {
                Some('b') => format!("{}{size:b}", prefix("0b")),
                Some('o') => format!("{}{size:o}", prefix("0o")),
                Some('x') => format!("{}{size:x}", prefix("0x")),
                Some('X') => format!("{}{size:X}", prefix("0X")),
                Some('c') => {
                    let character = u32::try_from(size).ok().and_then(char::from_u32);
                    character.ok_or("a number is no character")?.to_string()
                }
                _ => self.grouped(&size.to_string()),
            };
            return Ok((number < 0, written));
        }
        let number = value.as_float().ok_or("not a number")?;
        let size = number.abs();
        let written = match self.kind {
            _ if !size.is_finite() => if size.is_nan() { "nan" } else { "inf" }.to_owned(),
            Some('e' | 'E') => {
                let text = format!("{size:.precision$e}");
                let (digits, exponent) = exponent_of(&text);
                let text = with_exponent(digits, exponent);
                if self.kind == Some('E') {
                    text.to_uppercase()
                } else {
                    text
                }
            }
            Some('f' | 'F') => self.grouped(&format!("{size:.precision$}")),
            Some('%') => format!(
                "{}%",
                self.grouped(&format!("{:.precision$}", size * 100.0))
            ),
            Some(kind @ ('g' | 'G' | 'n')) => {
                let text = general(size, precision.max(1));
                if kind == 'G' {
                    text.to_uppercase()
                } else {
                    text
                }
            }
            _ => match self.precision {
                Some(precision) => {
                    let text = general(size, precision.max(1));
                    if text.contains(['.', 'e']) {
                        text
                    } else {
                        format!("{text}.0")
                    }
                }
                None => self.grouped(&python_float(size)),
            },
        };
        Ok((number.is_sign_negative() && !number.is_nan(), written))
    }

    fn grouped(&self, number: &str) -> String {
        let Some(separator) = self.grouping else {
            return number.to_owned();
        };
        let whole = number.find(['.', 'e']).unwrap_or(number.len());
        let mut grouped = String::new();
        for (at, digit) in number[..whole].chars().enumerate() {
            if at > 0 && (whole - at).is_multiple_of(3) {
                grouped.push(separator);
            }
            grouped.push(digit);
        }
        grouped + &number[whole..]
    }

    fn fill(&self, sign: &str, text: &str, usual: char, out: &mut Text<'_>) -> Result<(), Fault> {
        let missing = self.width.saturating_sub(sign.len() + text.chars().count());
        let filling = self.filling.unwrap_or(if self.zero { '0' } else { ' ' });
        let filling = filling.to_string();
        let usual = if self.zero && usual == '>' {
            '='
        } else {
            usual
        };
        match self.align.unwrap_or(usual) {
            '<' => {
                out.push(sign)?;
                out.push(text)?;
                out.repeat(&filling, missing)
            }
            '^' => {
                out.repeat(&filling, missing / 2)?;
                out.push(sign)?;
                out.push(text)?;
                out.repeat(&filling, missing - missing / 2)
            }
            '=' => {
                out.push(sign)?;
                out.repeat(&filling, missing)?;
                out.push(text)
            }
            _ => {
                out.repeat(&filling, missing)?;
                out.push(sign)?;
                out.push(text)
            }
        }
    }
}

/// `%g`: a number with so many significant digits, without zeros at the end.
fn general(number: f64, precision: usize) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let scientific = format!("{number:.*e}", precision - 1);
    let (digits, exponent) = exponent_of(&scientific);
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if exponent < -4 || usize::try_from(exponent).is_ok_and(|exponent| exponent >= precision) {
        return with_exponent(&trimmed(digits), exponent);
    }
    let places = i64::try_from(precision).unwrap_or(0) - 1 - i64::from(exponent);
    let places = usize::try_from(places).unwrap_or(0);
    trimmed(&format!("{number:.places$}"))
}

/// A value's `repr`, as a text.
fn repr(value: &Value, work: &mut Work) -> Result<Value, Fault> {
    let mut out = Text::new(work);
    value.write_repr(&mut out)?;
    Ok(Value::from(out.finish()))
}

/// `'{} {name!r:>10}'.format(…)`
pub(super) fn brace_format(format: &str, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    let mut out = Text::new(work);
    let mut next = 0;
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        out.push(&rest[..at])?;
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if rest.starts_with(brace) {
            out.push(brace)?;
            rest = &rest[1..];
            continue;
        }
        if brace == "}" {
            return Err("single '}' in a format".into());
        }
        let end = rest.find('}').ok_or("a '{' in a format does not end")?;
        let field = &rest[..end];
        rest = &rest[end + 1..];
        if field.contains('{') {
            return Err("a format within a format is not supported".into());
        }
        let (field, spec) = field.split_once(':').unwrap_or((field, ""));
        let (field, conversion) = match field.split_once('!') {
            Some((field, conversion)) => (field, Some(conversion)),
            None => (field, None),
        };
        let value = field_value(field, &mut next, given, out.work)?;
        let spec = Spec::read(spec)?;
        match conversion {
            None => spec.write(&value, &mut out)?,
            Some("s") => {
                let text = Value::Str(value.to_text(out.work)?);
                spec.write(&text, &mut out)?;
            }
            Some("r") => spec.write(&repr(&value, out.work)?, &mut out)?,
            Some(_) => return Err("an unknown conversion in a format".into()),
        }
    }
    out.push(rest)?;
    Ok(Value::from(out.finish()))
}

/// The value of a field: `0`, `name`, `name.attribute[place]`, or empty for the next argument.
fn field_value(
    field: &str,
    next: &mut usize,
    given: &Given,
    work: &mut Work,
) -> Result<Value, Fault> {
    let name_ends = field.find(['.', '[']).unwrap_or(field.len());
    let (name, mut path) = field.split_at(name_ends);
    let missing = || "a format names an argument that was not given".to_owned();
    let mut value = if name.is_empty() {
        *next += 1;
        given.plain.get(*next - 1).cloned()
    } else if let Ok(at) = name.parse::<usize>() {
        given.plain.get(at).cloned()
    } else {
        let named = given.named.iter().find(|(own, _)| own == name);
        named.map(|(_, value)| value.clone())
    }
    .ok_or_else(missing)?;
    while !path.is_empty() {
        work.spend(super::work::STEP)?;
        let key = if let Some(after) = path.strip_prefix('[') {
            let end = after.find(']').ok_or("a '[' in a format does not end")?;
            path = &after[end + 1..];
            &after[..end]
        } else {
            return Err("an attribute in a format is not supported".into());
        };
        value = match (&value, key.parse::<usize>()) {
            (Value::List(list), Ok(at)) => list.entries.get(at).cloned().ok_or_else(missing)?,
            _ => value.lookup(&Value::from(key), work)?.ok_or_else(missing)?,
        };
    }
    Ok(value)
}

/// `'%s and %d' % (…)`
pub(super) fn percent_format(
    format: &str,
    arguments: &[Value],
    work: &mut Work,
) -> Result<Value, Fault> {
    let mut out = Text::new(work);
    let mut given = arguments.iter();
    let mut rest = format;
    let mut named = false;
    while let Some(at) = rest.find('%') {
        out.push(&rest[..at])?;
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push("%")?;
            rest = after;
            continue;
        }
        let mut by_name = None;
        if let Some(after) = rest.strip_prefix('(') {
            let end = after.find(')').ok_or("a '(' in a format does not end")?;
            let dictionary = arguments.first().ok_or("format requires a mapping")?;
            let name = Value::from(&after[..end]);
            let found = dictionary.lookup(&name, out.work)?;
            by_name = Some(found.ok_or("a format names a key that is not there")?);
            named = true;
            rest = &after[end + 1..];
        }
        let mut spec = Spec::default();
        while let Some(flag) = taken(&mut rest, "-+ #0") {
            match flag {
                '-' => spec.align = Some('<'),
                '0' => spec.zero = true,
                '#' => spec.alternate = true,
                sign => spec.sign = Some(sign),
            }
        }
        spec.width = digits(&mut rest)?.unwrap_or(0);
        if taken(&mut rest, ".").is_some() {
            spec.precision = Some(digits(&mut rest)?.unwrap_or(0));
        }
        let kind = taken(&mut rest, "sradiufFeEgGxXoc").ok_or("unsupported format character")?;
        let value = match by_name {
            Some(value) => value,
            None => given
                .next()
                .cloned()
                .ok_or("not enough arguments for format string")?,
        };
        if spec.align == Some('<') {
            spec.zero = false;
        }
        let value = match kind {
            's' => {
                spec.kind = Some('s');
                Value::Str(value.to_text(out.work)?)
            }
            'r' | 'a' => {
                spec.kind = Some('s');
                repr(&value, out.work)?
            }
            'd' | 'i' | 'u' => {
                spec.precision = None;
                spec.kind = Some('d');
                let number = value
                    .as_float()
                    .ok_or("%d format: a real number is required")?;
                match value.as_int() {
                    Some(number) => Value::Int(number),
                    None => Value::Int(number as i128),
                }
            }
            'c' => Value::Str(match value.as_int() {
                Some(number) => {
                    let character = u32::try_from(number).ok().and_then(char::from_u32);
                    character.ok_or("%c needs a character")?.to_string().into()
                }
                None => value.to_text(out.work)?,
            }),
            other => {
                spec.kind = Some(other);
                if value.as_float().is_none() {
                    return Err("must be real number, not str".into());
                }
                value
            }
        };
        if spec.align.is_none() && spec.kind == Some('s') {
            spec.align = Some('>');
            spec.zero = false;
        }
        spec.write(&value, &mut out)?;
    }
    out.push(rest)?;
    if given.next().is_some() && !named && !matches!(arguments, [Value::Dict(_)]) {
        return Err("not all arguments converted during string formatting".into());
    }
    Ok(Value::from(out.finish()))
}
