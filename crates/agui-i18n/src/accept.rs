//! The choice of a language from what a caller prefers.

use crate::language::Language;

/// The language to answer in: `preferred` if there are texts in it, else the best of the
/// `Accept-Language` header, else English.
///
/// `preferred` is a single tag such as `fr` or `zh_CN` (`forwardedProps.iacCode.preferredLanguage`).
/// In the header the highest weight wins, the earlier of two equal ones; a range with `q=0` is
/// excluded, even from `*`; a range with a weight that is none is skipped. Nothing here can fail:
/// a header that makes no sense is no preference.
///
/// Source: S1.6; RFC 9110 section 12.5.4; RFC 4647 section 3.4.
#[must_use]
pub fn choose(preferred: Option<&str>, accept_language: Option<&str>) -> Language {
    preferred
        .and_then(Language::from_tag)
        .or_else(|| accept_language.and_then(best_of_header))
        .unwrap_or_default()
}

/// One range of the header, as far as it concerns us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Range {
    Language(Language),
    Any,
}

fn best_of_header(header: &str) -> Option<Language> {
    let mut best: Option<(u16, Range)> = None;
    let mut named = Vec::new();
    for (range, weight) in header.split(',').filter_map(parse_range) {
        if let Range::Language(language) = range {
            named.push((language, weight));
        }
        if weight > 0 && best.is_none_or(|(highest, _)| weight > highest) {
            best = Some((weight, range));
        }
    }
    match best? {
        (_, Range::Language(language)) => Some(language),
        // `*` is any language that no other range of the header names.
        (_, Range::Any) => {
            let free = |wanted: &Language| named.iter().all(|(language, _)| language != wanted);
            let listed = named.iter().filter(|(_, weight)| *weight > 0).max_by_key(|(_, weight)| *weight);
            Language::ALL.into_iter().find(free).or_else(|| listed.map(|(language, _)| *language))
        }
    }
}

/// A range of one of our languages or `*`, with its weight in thousandths.
fn parse_range(item: &str) -> Option<(Range, u16)> {
    let mut pieces = item.split(';');
    let tag = pieces.next()?.trim();
    let range = if tag == "*" { Range::Any } else { Range::Language(Language::from_tag(tag)?) };
    let mut weight = 1000;
    for parameter in pieces {
        let (name, value) = parameter.split_once('=')?;
        if name.trim().eq_ignore_ascii_case("q") {
            weight = thousandths(value.trim())?;
        }
    }
    Some((range, weight))
}

/// A weight of RFC 9110: `0` to `1` with at most three decimals.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = decimals.len() <= 3 && decimals.bytes().all(|digit| digit.is_ascii_digit());
    let fraction = format!("{decimals:0<3}").parse::<u16>().ok().filter(|_| digits)?;
    match (whole, fraction) {
        ("0", _) => Some(fraction),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_6_the_preferred_language_wins_over_the_header() {
        let cases = [
            (Some("fr"), Some("de"), Language::Fr),
            (Some("pt_BR"), None, Language::Pt),
            (Some("xx"), Some("de"), Language::De),
            (Some(""), Some("ja"), Language::Ja),
            (None, Some("es"), Language::Es),
            (Some("xx"), Some("xx"), Language::En),
            (None, None, Language::En),
        ];
        for (preferred, header, language) in cases {
            assert_eq!(choose(preferred, header), language, "{preferred:?} {header:?}");
        }
    }

    #[test]
    fn s1_6_the_header_is_read_with_its_weights() {
        let cases = [
            ("de", Language::De),
            ("fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", Language::Fr),
            ("en;q=0.5, ja;q=0.9", Language::Ja),
            ("xx, es;q=0.1", Language::Es),
            ("es;q=0.5, pt;q=0.5", Language::Es),
            ("en;q=0.001, zh;q=0.002", Language::Zh),
            ("ZH_cn", Language::Zh),
            ("de;Q=0.3,fr;q=0.4", Language::Fr),
            ("de ; q=0.3 , fr ; q = 0.4", Language::Fr),
            ("it, nl;q=0.8", Language::En),
            ("", Language::En),
            (",,;", Language::En),
        ];
        for (header, language) in cases {
            assert_eq!(choose(None, Some(header)), language, "{header:?}");
        }
    }

    #[test]
    fn s1_6_a_weight_of_zero_excludes() {
        let cases = [
            ("fr;q=0, de;q=0.1", Language::De),
            ("fr;q=0.000", Language::En),
            ("*, en;q=0", Language::Zh),
            ("en;q=0, zh;q=0, *;q=0.5", Language::Es),
            ("*;q=0", Language::En),
            ("de;q=0.2, *;q=0", Language::De),
        ];
        for (header, language) in cases {
            assert_eq!(choose(None, Some(header)), language, "{header:?}");
        }
    }

    #[test]
    fn the_star_is_any_language_that_is_not_named() {
        let cases = [
            ("*", Language::En),
            ("de;q=0.5, *", Language::En),
            ("de, *;q=0.5", Language::De),
            ("en;q=0.5, *;q=0.9", Language::Zh),
            ("en;q=0.1,zh;q=0.2,es;q=0.3,fr;q=0.4,de;q=0.3,ja;q=0.2,pt;q=0.1,*", Language::Fr),
        ];
        for (header, language) in cases {
            assert_eq!(choose(None, Some(header)), language, "{header:?}");
        }
    }

    #[test]
    fn a_range_with_a_weight_that_is_none_is_skipped() {
        for weight in ["2", "1.5", "-1", "0.1234", "x", "", "0,5x", "1.0001", ".5", "0.5.5", "NaN"] {
            let header = format!("ja;q={weight}, de;q=0.1");
            assert_eq!(choose(None, Some(&header)), Language::De, "{header:?}");
        }
        for weight in ["1", "1.", "1.0", "1.000", "0.999", "0.2"] {
            let header = format!("ja;q={weight}, de;q=0.1");
            assert_eq!(choose(None, Some(&header)), Language::Ja, "{header:?}");
        }
    }
}
