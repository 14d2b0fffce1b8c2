//! What a request says it carries and what it says it can read.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};

use crate::refusal::Refusal;

/// Weight of a media range in thousandths.
type Weight = u16;

const FULL_WEIGHT: Weight = 1000;

/// Lets pass `application/json` in UTF-8, in any case and with any other parameter, once.
///
/// Source: S1.4.
pub(crate) fn check_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (types.next(), types.next()) else { return Err(Refusal::NotJson) };
    if !value.to_str().is_ok_and(is_utf8_json) {
        return Err(Refusal::NotJson);
    }
    if is_encoded(headers) { Err(Refusal::NotJson) } else { Ok(()) }
}

/// Lets pass whatever may be JSON whose sender did not say so, or said something else by habit.
///
/// Source: R10, R12.
pub(crate) fn check_may_be_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let types = headers.get_all(CONTENT_TYPE).iter();
    let is_other = types.filter_map(|value| value.to_str().ok()).any(is_form_or_xml);
    if is_other || is_encoded(headers) { Err(Refusal::NotJson) } else { Ok(()) }
}

fn is_form_or_xml(value: &str) -> bool {
    let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/x-www-form-urlencoded"
        || kind.starts_with("multipart/")
        || ["/xml", "+xml"].iter().any(|end| kind.ends_with(end))
}

fn is_encoded(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    codings.any(|value| !value.to_str().is_ok_and(|coding| coding.trim().eq_ignore_ascii_case("identity")))
}

fn is_utf8_json(value: &str) -> bool {
    let mut parts = split_unquoted(value, ';');
    let is_json = parts.next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    is_json
        && parts.filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
            let value = value.trim().trim_matches('"');
            !name.trim().eq_ignore_ascii_case("charset")
                || value.eq_ignore_ascii_case("utf-8")
                || value.eq_ignore_ascii_case("utf8")
        })
}

/// Lets pass whoever can read an event stream or does not say otherwise.
///
/// `application/json` counts as readiness, because many HTTP libraries send it by habit; an explicit
/// `text/event-stream;q=0` does not pass whatever else is listed.
///
/// Source: S1.4; RFC 9110 section 12.5.1.
pub(crate) fn check_accepts_events(headers: &HeaderMap) -> Result<(), Refusal> {
    let values: Vec<String> = headers
        .get_all(ACCEPT)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    let ranges: Vec<Range<'_>> =
        values.iter().flat_map(|value| split_unquoted(value, ',')).filter_map(Range::parse).collect();
    let listed = |kind: &str, subtype: &str| {
        ranges.iter().filter(|range| range.is(kind, subtype)).map(|range| range.weight).max()
    };
    let any = listed("*", "*");
    let events = listed("text", "event-stream");
    let explicitly_refused = events == Some(0);
    let events = events.or_else(|| listed("text", "*")).or(any);
    let json = listed("application", "json").or_else(|| listed("application", "*")).or(any);
    let admitted = [events, json].into_iter().flatten().any(|weight| weight > 0);
    if ranges.is_empty() || (admitted && !explicitly_refused) { Ok(()) } else { Err(Refusal::NotAcceptable) }
}

/// How the events of a run are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Server-sent events.
    #[default]
    Text,
    /// Frames of protocol buffers.
    Binary,
}

/// The encoding that a client wants. Binary is for who names it, without parameters and with no less
/// weight than text has: many libraries send `*/*` by habit and can read no frames.
///
/// Source: AG-UI 1.0, "Protobuf binding"; RFC 9110 section 12.5.1.
pub(crate) fn encoding(headers: &HeaderMap) -> Encoding {
    let values: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let ranges: Vec<Range<'_>> =
        values.iter().flat_map(|value| split_unquoted(value, ',')).filter_map(Range::parse).collect();
    let Some((kind, subtype)) = agui_proto::CONTENT_TYPE.split_once('/') else { return Encoding::Text };
    let listed = |kind: &str, subtype: &str| {
        let same = ranges.iter().filter(|range| range.is(kind, subtype) && !range.has_parameters);
        same.map(|range| range.weight).max()
    };
    let binary = listed(kind, subtype).unwrap_or(0);
    let text = listed("text", "event-stream")
        .or_else(|| listed("text", "*"))
        .or_else(|| listed("*", "*"))
        .unwrap_or(0);
    if binary > 0 && binary >= text { Encoding::Binary } else { Encoding::Text }
}

/// One element of `Accept`.
struct Range<'a> {
    kind: &'a str,
    subtype: &'a str,
    weight: Weight,
    /// Whether it has parameters of the media type: those before `q`.
    has_parameters: bool,
}

impl<'a> Range<'a> {
    fn parse(element: &'a str) -> Option<Self> {
        let mut parts = split_unquoted(element, ';');
        let name = parts.next()?.trim();
        // A lone `*` is what old clients send for `*/*`.
        let (kind, subtype) = if name == "*" { ("*", "*") } else { name.split_once('/')? };
        let mut weight = FULL_WEIGHT;
        let mut has_parameters = false;
        for (name, value) in parts.filter_map(|parameter| parameter.split_once('=')) {
            if name.trim().eq_ignore_ascii_case("q") {
                weight = weight_of(value.trim());
                break;
            }
            has_parameters = true;
        }
        Some(Self { kind, subtype, weight, has_parameters })
    }

    fn is(&self, kind: &str, subtype: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind) && self.subtype.eq_ignore_ascii_case(subtype)
    }
}

/// A malformed weight counts as 1: a client is not refused for it.
fn weight_of(text: &str) -> Weight {
    let Ok(value) = text.parse::<f32>() else { return FULL_WEIGHT };
    if !(0.0..=1.0).contains(&value) {
        return FULL_WEIGHT;
    }
    // Anything above zero is an offer, however small.
    if value == 0.0 { 0 } else { ((value * f32::from(FULL_WEIGHT)) as Weight).max(1) }
}

/// Splits at `separator` outside of quoted strings.
fn split_unquoted(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    text.split(move |c: char| {
        let was_escaped = std::mem::take(&mut escaped);
        match c {
            '\\' if quoted && !was_escaped => escaped = true,
            '"' if !was_escaped => quoted = !quoted,
            _ => {}
        }
        c == separator && !quoted
    })
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(name: &HeaderName, values: &[&[u8]]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), HeaderValue::from_bytes(value).unwrap())).collect()
    }

    #[test]
    fn s1_4_only_json_in_utf_8_is_taken() {
        let table: &[(&[&[u8]], bool)] = &[
            (&[b"application/json"], true),
            (&[b"Application/JSON"], true),
            (&[b"application/json; charset=utf-8"], true),
            (&[b"application/json;CHARSET=\"UTF-8\""], true),
            (&[b"application/json ; charset=utf8; profile=\"a;b\""], true),
            (&[b"application/json;"], true),
            (&[b"application/json; charset=\"utf-16\""], false),
            (&[b"application/json; charset=latin1"], false),
            (&[b"application/problem+json"], false),
            (&[b"application/jsonl"], false),
            (&[b"text/plain"], false),
            (&[b"text/plain; application/json"], false),
            (&[b""], false),
            (&[b"\xff"], false),
            (&[], false),
            (&[b"application/json", b"application/json"], false),
        ];
        for (values, taken) in table {
            assert_eq!(check_json(&headers(&CONTENT_TYPE, values)).is_ok(), *taken, "{values:?}");
        }
    }

    #[test]
    fn forms_and_xml_are_never_json() {
        let table: &[(&[&[u8]], bool)] = &[
            (&[], true),
            (&[b""], true),
            (&[b"application/json"], true),
            (&[b"application/jsonl; charset=latin1"], true),
            (&[b"application/octet-stream"], true),
            (&[b"text/plain;charset=UTF-8"], true),
            (&[b"text/event-stream"], true),
            (&[b"\xff"], true),
            (&[b"application/x-www-form-urlencoded"], false),
            (&[b"Multipart/Form-Data; boundary=x"], false),
            (&[b"text/xml"], false),
            (&[b"application/xml; charset=utf-8"], false),
            (&[b"application/soap+xml"], false),
            (&[b"application/json", b"text/xml"], false),
        ];
        for (values, taken) in table {
            assert_eq!(check_may_be_json(&headers(&CONTENT_TYPE, values)).is_ok(), *taken, "{values:?}");
        }
        let gzip = headers(&CONTENT_ENCODING, &[b"gzip"]);
        assert!(check_may_be_json(&gzip).is_err());
    }

    #[test]
    fn a_compressed_body_is_not_taken() {
        for (coding, taken) in [("identity", true), ("gzip", false), ("br", false)] {
            let mut headers = headers(&CONTENT_TYPE, &[b"application/json"]);
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
            assert_eq!(check_json(&headers).is_ok(), taken, "{coding}");
        }
    }

    #[test]
    fn s1_4_accept_is_refused_only_if_it_admits_no_stream() {
        let table: &[(&[&[u8]], bool)] = &[
            (&[], true),
            (&[b""], true),
            (&[b"text/event-stream"], true),
            (&[b"TEXT/Event-Stream"], true),
            (&[b"text/event-stream;q=0.5"], true),
            (&[b"text/event-stream;charset=utf-8;q=0.001"], true),
            (&[b"application/json"], true),
            (&[b"application/json, text/plain, */*"], true),
            (&[b"*/*"], true),
            (&[b"*"], true),
            (&[b"text/*"], true),
            (&[b"application/*;q=0.1"], true),
            (&[b"text/html", b"text/event-stream"], true),
            (&[b"text/html;x=\"a,b\", */*;q=0.1"], true),
            (&[b"*/*;q=zero"], true),
            (&[b"\xff\xfe"], true),
            (&[b"text/html"], false),
            (&[b"text/html;x=\"*/*,*/*\""], false),
            (&[b"text/event-stream;q=0"], false),
            (&[b"text/event-stream; Q=0.000, */*"], false),
            (&[b"text/event-stream;q=0, application/json"], false),
            (&[b"*/*;q=0"], false),
            (&[b"application/json;q=0"], false),
            (&[b"application/vnd.ag-ui.event+proto"], false),
        ];
        for (values, admitted) in table {
            assert_eq!(check_accepts_events(&headers(&ACCEPT, values)).is_ok(), *admitted, "{values:?}");
        }
    }

    #[test]
    fn frames_are_for_who_names_them() {
        let table: &[(&[&[u8]], Encoding)] = &[
            (&[b"application/vnd.ag-ui.event+proto"], Encoding::Binary),
            (&[b"Application/VND.ag-ui.event+Proto ; q=0.1"], Encoding::Binary),
            (&[b"application/vnd.ag-ui.event+proto, text/event-stream"], Encoding::Binary),
            (&[b"text/event-stream;q=0.9", b"application/vnd.ag-ui.event+proto"], Encoding::Binary),
            (&[b"application/vnd.ag-ui.event+proto, text/event-stream;q=0"], Encoding::Binary),
            (&[b"application/vnd.ag-ui.event+proto, */*;q=0.1"], Encoding::Binary),
            (&[b"application/vnd.ag-ui.event+proto;q=0.5;v=1"], Encoding::Binary),
            (&[b"application/vnd.ag-ui.event+proto;q=0.1, text/event-stream"], Encoding::Text),
            (&[b"application/vnd.ag-ui.event+proto;q=0.5, */*"], Encoding::Text),
            (&[b"application/vnd.ag-ui.event+proto;q=0"], Encoding::Text),
            (&[b"application/vnd.ag-ui.event+proto;v=1"], Encoding::Text),
            (&[b"application/*"], Encoding::Text),
            (&[b"*/*"], Encoding::Text),
            (&[b"text/event-stream"], Encoding::Text),
            (&[b""], Encoding::Text),
            (&[], Encoding::Text),
        ];
        for (values, expected) in table {
            assert_eq!(encoding(&headers(&ACCEPT, values)), *expected, "{values:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_header_is_too_strange(value in "[ -~\\x80-\\xff]{0,40}", structured in "([a-z*/;,=q0-9.\\\\\" ]|text/event-stream){0,12}") {
            for value in [value, structured] {
                let taken = check_json(&headers(&CONTENT_TYPE, &[value.as_bytes()])).is_ok();
                proptest::prop_assert!(!taken || value.to_ascii_lowercase().contains("application/json"));
                let refused = check_accepts_events(&headers(&ACCEPT, &[value.as_bytes()])).is_err();
                proptest::prop_assert!(!refused || value.contains('/') || value.contains('*'));
                let encoding = encoding(&headers(&ACCEPT, &[value.as_bytes()]));
                proptest::prop_assert_eq!(encoding, Encoding::Text);
            }
        }
    }
}
