//! Numbers as texts, and `String.format`.

use super::text::{MOST_BYTES, too_long};
use super::value::Value;

/// Widest field of a format.
const MOST_WIDTH: usize = 10_000;

/// Appends a double as `Double.toString` does.
pub(in crate::expression) fn double(number: f64, out: &mut String) -> Result<(), String> {
    real(number, &format!("{:e}", number.abs()), out);
    Ok(())
}

/// Appends a float as `Float.toString` does.
pub(super) fn float(number: f32, out: &mut String) -> Result<(), String> {
    real(number.into(), &format!("{:e}", number.abs()), out);
    Ok(())
}

/// Appends a number with the shortest digits `d.ddde±n`.
fn real(number: f64, scientific: &str, out: &mut String) {
    if number.is_nan() {
        return out.push_str("NaN");
    }
    if number.is_sign_negative() {
        out.push('-');
    }
    if number.is_infinite() {
        return out.push_str("Infinity");
    }
    if number == 0.0 {
        return out.push_str("0.0");
    }
    let (digits, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let digits: String = digits.chars().filter(|c| *c != '.').collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let at_least_one = |digits: &str| match digits {
        "" => "0".to_owned(),
        digits => digits.to_owned(),
    };
    match exponent {
        0..=6 => {
            let whole = exponent as usize + 1;
            let padded = format!("{digits:0<whole$}");
            let (whole, fraction) = padded.split_at(whole);
            out.extend([whole, ".", &at_least_one(fraction)]);
        }
        -3..=-1 => {
            let zeros = "0".repeat((-exponent - 1) as usize);
            out.extend(["0.", &zeros, &digits]);
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            out.extend([first, ".", &at_least_one(rest), "E", &exponent.to_string()]);
        }
    }
}

/// One `%…` of a format.
#[derive(Default)]
struct Field {
    left: bool,
    zeros: bool,
    plus: bool,
    grouped: bool,
    width: usize,
    precision: Option<usize>,
}

/// `String.format`. Fails for what it does not support and for unsuitable arguments.
pub(super) fn format(pattern: &str, arguments: &[Value]) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    let mut next = arguments.iter();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut field = Field::default();
        while let Some(flag) = rest.next_if(|c| matches!(c, '-' | '0' | '+' | ',')) {
            match flag {
                '-' => field.left = true,
                '0' => field.zeros = true,
                '+' => field.plus = true,
                _ => field.grouped = true,
            }
        }
        let digits = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut number = 0_usize;
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                number = number * 10 + digit as usize - '0' as usize;
                if number > MOST_WIDTH {
                    return Err("a field of a format is too wide".to_owned());
                }
            }
            Ok(number)
        };
        field.width = digits(&mut rest)?;
        if rest.next_if_eq(&'.').is_some() {
            field.precision = Some(digits(&mut rest)?);
        }
        let conversion = rest.next().ok_or("the format ends amid a field")?;
        let text = match conversion {
            '%' => "%".to_owned(),
            'n' => "\n".to_owned(),
            _ => {
                let value = next
                    .next()
                    .ok_or("the format has more fields than values")?;
                field.convert(conversion, value)?
            }
        };
        field.pad(&text, &mut out);
        if out.len() > MOST_BYTES {
            return Err(too_long());
        }
    }
    Ok(out)
}

impl Field {
    fn convert(&self, conversion: char, value: &Value) -> Result<String, String> {
        let wrong = || format!("`%{conversion}` does not take a {}", value.class());
        let text = match (conversion, value) {
            ('s' | 'S', value) => {
                let text = value.shown()?;
                match self.precision {
                    Some(most) => text.chars().take(most).collect(),
                    None => text,
                }
            }
            ('d', Value::Big(number)) => {
                self.signed(*number < 0, number.unsigned_abs().to_string())
            }
            ('d', value) if value.is_number() => {
                let number = value.as_whole().ok_or_else(wrong)?;
                self.signed(number < 0, number.unsigned_abs().to_string())
            }
            ('x' | 'X', Value::Int(number)) => format!("{number:x}"),
            ('x' | 'X', Value::Long(number)) => format!("{number:x}"),
            ('f', Value::Double(number)) => self.fixed(*number),
            ('f', Value::Float(number)) => self.fixed((*number).into()),
            ('c', Value::Char(_)) => value.shown()?,
            ('b', Value::Null) => "false".into(),
            ('b', Value::Flag(flag)) => flag.to_string(),
            ('b', _) => "true".into(),
            ('d' | 'x' | 'X' | 'f' | 'c', _) => return Err(wrong()),
            _ => return Err(format!("`%{conversion}` is not supported")),
        };
        Ok(match conversion.is_ascii_uppercase() {
            true => text.to_uppercase(),
            false => text,
        })
    }

    fn fixed(&self, number: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        // Java rounds half up what it shows in its shortest digits.
        let shown = super::arithmetic::rounded_half_up(number.abs(), precision);
        self.signed(number < 0.0, shown)
    }

    fn signed(&self, negative: bool, digits: String) -> String {
        let (whole, fraction) = match digits.split_once('.') {
            Some((whole, fraction)) => (whole.to_owned(), format!(".{fraction}")),
            None => (digits, String::new()),
        };
        let mut grouped = String::new();
        for (index, digit) in whole.chars().enumerate() {
            if self.grouped && index > 0 && (whole.len() - index).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let sign = match (negative, self.plus) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        let zeros = match self.zeros {
            true => self
                .width
                .saturating_sub(sign.len() + grouped.len() + fraction.len()),
            false => 0,
        };
        format!("{sign}{}{grouped}{fraction}", "0".repeat(zeros))
    }

    fn pad(&self, text: &str, out: &mut String) {
        let blanks = " ".repeat(self.width.saturating_sub(text.chars().count()));
        match self.left {
            true => out.extend([text, &blanks]),
            false => out.extend([blanks.as_str(), text]),
        }
    }
}
