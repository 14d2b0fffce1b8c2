use super::*;

/// The example of RFC 6455 section 1.2, with some headers replaced; an empty value removes one.
fn request(changed: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("keep-alive, Upgrade"));
    headers.insert(SEC_WEBSOCKET_KEY, HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ=="));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    for (name, value) in changed {
        if value.is_empty() {
            headers.remove(*name);
        } else {
            headers.insert(*name, HeaderValue::from_str(value).unwrap());
        }
    }
    headers
}

fn shown(headers: &HeaderMap) -> Vec<(&str, &str)> {
    let mut shown: Vec<_> =
        headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    shown.sort_unstable();
    shown
}

#[test]
fn the_answer_to_the_example_of_the_rfc_is_that_of_the_rfc() {
    assert_eq!(
        shown(&accept(&request(&[("sec-websocket-extensions", "permessage-deflate")])).unwrap()),
        [
            ("connection", "Upgrade"),
            ("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            ("upgrade", "websocket"),
        ]
    );
}

#[test]
fn what_no_client_of_version_13_sends_is_refused() {
    type Changed<'a> = &'a [(&'static str, &'a str)];
    let table: &[(Changed<'_>, Refused, u16)] = &[
        (&[("upgrade", "")], Refused::NotAsked, 426),
        (&[("upgrade", "h2c")], Refused::NotAsked, 426),
        (&[("connection", "keep-alive")], Refused::NotAsked, 426),
        (&[("sec-websocket-version", "8")], Refused::Version, 426),
        (&[("sec-websocket-version", "")], Refused::Version, 426),
        (&[("sec-websocket-key", "")], Refused::Key, 400),
        (&[("sec-websocket-key", "c2hvcnQ=")], Refused::Key, 400),
        (&[("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ")], Refused::Key, 400),
        (&[("sec-websocket-key", "not base64 at all!!!!!!!")], Refused::Key, 400),
    ];
    for (changed, refused, status) in table {
        assert_eq!(accept(&request(changed)), Err(*refused), "{changed:?}");
        let problem = refused.problem(Language::En);
        assert_eq!((refused.status().as_u16(), problem.status), (*status, *status), "{changed:?}");
    }
    let version = ("sec-websocket-version", "13");
    assert_eq!(
        shown(&Refused::Version.headers()),
        [("connection", "Upgrade"), version, ("upgrade", "websocket")]
    );
    assert_eq!(shown(&Refused::Key.headers()), []);
}

#[test]
fn a_key_that_is_sent_twice_is_refused() {
    let mut headers = request(&[]);
    headers.append(SEC_WEBSOCKET_KEY, HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ=="));
    assert_eq!(accept(&headers), Err(Refused::Key));
}

#[test]
fn only_the_bearer_subprotocol_is_chosen_and_only_if_offered() {
    let table = [
        ("base64UrlBearerAuthorization.dG9r, base64UrlBearerAuthorization", Some(BEARER_PROTOCOL)),
        ("base64UrlBearerAuthorization", Some(BEARER_PROTOCOL)),
        ("ag-ui, base64UrlBearerAuthorization ,x", Some(BEARER_PROTOCOL)),
        ("base64UrlBearerAuthorization.dG9r", None),
        ("base64urlbearerauthorization", None),
        ("ag-ui", None),
    ];
    for (offered, chosen) in table {
        let answer = accept(&request(&[("sec-websocket-protocol", offered)])).unwrap();
        let protocol = answer.get(SEC_WEBSOCKET_PROTOCOL).map(|value| value.to_str().unwrap());
        assert_eq!(protocol, chosen, "{offered}");
    }
}

#[test]
fn a_token_in_the_subprotocols_becomes_an_authorization_header() {
    let prefix = format!("{BEARER_PROTOCOL}.");
    let encoded = |token: &[u8]| format!("{prefix}{}", URL_SAFE_NO_PAD.encode(token));
    let longest = "x".repeat(MAX_BEARER_CHARS / 4 * 3);
    let table = [
        (encoded(b"eyJh.bGc_-i~"), Some("Bearer eyJh.bGc_-i~".to_owned())),
        (format!("{BEARER_PROTOCOL}, {}", encoded(b"t")), Some("Bearer t".to_owned())),
        (encoded(longest.as_bytes()), Some(format!("Bearer {longest}"))),
        (encoded(format!("{longest}x").as_bytes()), None),
        (encoded(b"two words"), None),
        (encoded(b"line\r\nbreak"), None),
        (encoded(b"\xff"), None),
        (prefix.clone(), None),
        (format!("{prefix}dA=="), None),
        (format!("{prefix}+/+/"), None),
        (format!("{}, {}", encoded(b"a"), encoded(b"b")), None),
        (BEARER_PROTOCOL.to_owned(), None),
        ("ag-ui".to_owned(), None),
    ];
    for (offered, expected) in table {
        let found = authorization(&request(&[("sec-websocket-protocol", &offered)]));
        assert!(found.as_ref().is_none_or(HeaderValue::is_sensitive), "{offered}");
        assert_eq!(found.as_ref().map(|value| value.to_str().unwrap()), expected.as_deref(), "{offered}");
    }
}
