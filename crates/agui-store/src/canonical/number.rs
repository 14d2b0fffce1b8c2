//! Numbers: one spelling for one value.

/// How numbers that are no integer literals are spelled.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Numbers {
    /// By value, no digit lost.
    Exact,
    /// As Python spells the double that it reads.
    Python,
}

/// Integers up to this many digits are spelled out; longer ones keep an exponent, so that a short
/// literal such as `1e999999` cannot become a long text. Python reads no longer ones either.
const MAX_PLAIN_DIGITS: usize = 4300;

/// The parts of a JSON number literal.
struct Literal<'a> {
    negative: bool,
    integer: &'a str,
    fraction: &'a str,
    exponent: &'a str,
}

/// Writes the canonical spelling, `None` if `literal` is not a JSON number.
pub(super) fn write(literal: &str, numbers: Numbers, out: &mut Vec<u8>) -> Option<()> {
    let parts = parse(literal)?;
    let spelled = match numbers {
        _ if parts.fraction.is_empty()
            && parts.exponent.is_empty()
            && parts.integer.len() <= MAX_PLAIN_DIGITS =>
        {
            if parts.integer == "0" {
                "0".to_owned()
            } else {
                literal.to_owned()
            }
        }
        Numbers::Exact => exact(literal, &parts),
        Numbers::Python => python(literal.parse().ok()?),
    };
    out.extend_from_slice(spelled.as_bytes());
    Some(())
}

fn parse(literal: &str) -> Option<Literal<'_>> {
    let (negative, rest) = match literal.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, literal),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let (integer, fraction) = match mantissa.split_once('.') {
        Some((integer, fraction)) => (integer, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let sound = digits(integer)
        && (integer.len() == 1 || !integer.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)));
    sound.then(|| Literal {
        negative,
        integer,
        fraction: fraction.unwrap_or_default(),
        exponent: exponent.unwrap_or_default(),
    })
}

/// `digits` without zeros at either end, times ten to an exponent; spelled plainly when that is short.
fn exact(literal: &str, parts: &Literal<'_>) -> String {
    let all = format!("{}{}", parts.integer, parts.fraction);
    let significant = all.trim_start_matches('0');
    let digits = significant.trim_end_matches('0');
    if digits.is_empty() {
        return "0".to_owned();
    }
    let zeros = significant.len() - digits.len();
    let exponent = if parts.exponent.is_empty() { Ok(0) } else { parts.exponent.parse::<i64>() };
    let Some(exponent) = exponent.ok().and_then(|exponent| shifted(exponent, zeros, parts.fraction.len()))
    else {
        // An exponent beyond 64 bits: the spelling is the only form that keeps the value.
        return literal.to_ascii_lowercase();
    };
    let sign = if parts.negative { "-" } else { "" };
    match usize::try_from(exponent) {
        Ok(zeros) if digits.len().saturating_add(zeros) <= MAX_PLAIN_DIGITS => {
            format!("{sign}{digits}{:0<zeros$}", "")
        }
        _ => format!("{sign}{digits}e{exponent}"),
    }
}

fn shifted(exponent: i64, up: usize, down: usize) -> Option<i64> {
    exponent.checked_add(i64::try_from(up).ok()?)?.checked_sub(i64::try_from(down).ok()?)
}

/// `repr` of a Python float: shortest digits that read back as the same double, with an exponent from
/// `1e16` on and below `1e-4`; infinities as `json.dumps` writes them.
fn python(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (digits, exponent) = shortest(value.abs());
    match usize::try_from(exponent) {
        Ok(whole @ 0..16) => {
            let (integer, fraction) = digits.split_at_checked(whole + 1).unwrap_or((&digits, ""));
            let fraction = if fraction.is_empty() { "0" } else { fraction };
            format!("{sign}{integer:0<width$}.{fraction}", width = whole + 1)
        }
        Err(_) if exponent >= -4 => {
            let zeros = usize::try_from(-1 - exponent).unwrap_or_default();
            format!("{sign}0.{:0<zeros$}{digits}", "")
        }
        _ => {
            let (first, rest) = digits.split_at_checked(1).unwrap_or((&digits, ""));
            let point = if rest.is_empty() { "" } else { "." };
            let exponent_sign = if exponent < 0 { '-' } else { '+' };
            format!("{sign}{first}{point}{rest}e{exponent_sign}{:02}", exponent.unsigned_abs())
        }
    }
}

/// The shortest digits that read back as `value`, and the exponent of the first one.
///
/// Of two digit strings that are equally near Python takes the even one, the standard library the upper
/// one; rounding the exact value to that many digits is the former.
fn shortest(value: f64) -> (String, i32) {
    let upper = format!("{value:e}");
    let decimals = upper.split('e').next().map_or(0, |mantissa| mantissa.len().saturating_sub(2));
    let even = format!("{value:.decimals$e}");
    let text = if even.parse() == Ok(value) { even } else { upper };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or_default())
}
