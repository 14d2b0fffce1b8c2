use std::time::Duration;

use http::{HeaderName, HeaderValue, Request};
use proptest::prelude::*;
use serde::Deserialize;

use super::*;

/// The published samples of the algorithm: key, date, service and region are the same for all.
const SUITE: &str = include_str!("../../fixtures/sigv4-suite.json");
/// Requests that the Python client signed at noon of 2026-11-30, for the service of agent runtimes.
const CLIENT: &str = include_str!("../../fixtures/sigv4-client.json");

const SUITE_TIME_S: u64 = 1_440_938_160;
const CLIENT_TIME_S: u64 = 1_796_040_000;

type Verdict = Result<(), DeniedReason>;

#[derive(Debug, Clone, Deserialize)]
struct Sample {
    name: String,
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: String,
    session_token: Option<String>,
}

impl Sample {
    fn all(text: &str) -> Vec<Self> {
        serde_json::from_str(text).unwrap()
    }

    fn client(name: &str) -> Self {
        Self::all(CLIENT).into_iter().find(|sample| sample.name == name).unwrap()
    }

    fn head(&self) -> Parts {
        let mut request = Request::builder().method(self.method.as_str()).uri(&self.target);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if !self.body.is_empty() {
            request = request.header(CONTENT_LENGTH, self.body.len());
        }
        request.body(()).unwrap().into_parts().0
    }

    fn credentials(&self) -> AwsCredentials {
        let credentials =
            AwsCredentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY").unwrap();
        match &self.session_token {
            Some(token) => credentials.with_session_token(token),
            None => credentials,
        }
    }

    fn verifier_at(&self, seconds: u64) -> SigV4Verifier {
        let clock = Clock::from_fn(move || Duration::from_secs(seconds));
        SigV4Verifier::new(self.credentials(), "us-west-2").unwrap().with_clock(clock)
    }

    fn verifier(&self) -> SigV4Verifier {
        self.verifier_at(CLIENT_TIME_S)
    }

    fn set_header(&mut self, name: &str, value: &str) {
        for (known, old) in &mut self.headers {
            if known == name {
                value.clone_into(old);
            }
        }
    }
}

/// What the head alone gives, and what head and body give.
fn verdicts(verifier: &SigV4Verifier, sample: &Sample) -> (Verdict, Verdict) {
    let head = sample.head();
    let reason = |verdict: Result<(), Denied>| {
        verdict.map_err(|denied| {
            assert_eq!(denied.status(), 403, "R35");
            assert_eq!(denied.code().as_str(), "ACCESS_DENIED", "R35");
            assert_eq!(denied.challenge(), None, "R35");
            denied.reason()
        })
    };
    (reason(verifier.check(&head)), reason(verifier.check_body(&head, sample.body.as_bytes())))
}

fn both(verdict: Verdict) -> (Verdict, Verdict) {
    (verdict, verdict)
}

#[test]
fn r28_the_published_samples_pass() {
    let samples = Sample::all(SUITE);
    assert_eq!(samples.len(), 21);
    for sample in samples {
        let clock = Clock::from_fn(|| Duration::from_secs(SUITE_TIME_S));
        let verifier = SigV4Verifier::new(sample.credentials(), "us-east-1").unwrap();
        let verifier = verifier.with_service("service").unwrap().with_clock(clock);
        assert_eq!(verdicts(&verifier, &sample), both(Ok(())), "{}", sample.name);
    }
}

#[test]
fn r28_what_the_python_client_signs_passes() {
    for sample in Sample::all(CLIENT) {
        let expected = match sample.name.as_str() {
            "post an unsigned body" => Err(DeniedReason::Payload),
            "presigned for an hour" => Err(DeniedReason::Malformed),
            _ => Ok(()),
        };
        assert_eq!(verdicts(&sample.verifier(), &sample), both(expected), "{}", sample.name);
    }
}

#[test]
fn an_unsigned_body_passes_where_it_may() {
    let mut sample = Sample::client("post an unsigned body");
    let verifier = sample.verifier().with_payload_rule(PayloadRule::MayBeUnsigned);
    assert_eq!(verdicts(&verifier, &sample), both(Ok(())));
    sample.body = "another".to_owned();
    assert_eq!(verdicts(&verifier, &sample), both(Ok(())));
}

#[test]
fn another_body_is_found_out_when_it_is_there() {
    let mut sample = Sample::client("post a run");
    sample.body.push(' ');
    assert_eq!(verdicts(&sample.verifier(), &sample), (Ok(()), Err(DeniedReason::Signature)));

    let mut announced = Sample::client("get with a body hash");
    announced.body = "x".to_owned();
    assert_eq!(verdicts(&announced.verifier(), &announced), (Ok(()), Err(DeniedReason::Payload)));
    let zeros = "0".repeat(64);
    for (hash, expected) in [(zeros.as_str(), DeniedReason::Signature), ("abc", DeniedReason::Payload)] {
        announced.set_header("x-amz-content-sha256", hash);
        assert_eq!(verdicts(&announced.verifier(), &announced).0, Err(expected), "{hash}");
    }
}

#[test]
fn a_stranger_is_turned_away_before_the_body_is_read_if_the_head_says_enough() {
    let mut sample = Sample::client("get without a body");
    sample.target.push('x');
    assert_eq!(verdicts(&sample.verifier(), &sample), both(Err(DeniedReason::Signature)));
}

#[test]
fn all_that_the_head_tells_is_checked_before_the_body_is_read() {
    let sample = Sample::client("post a run");
    assert_eq!(verdicts(&sample.verifier(), &sample).0, Ok(()), "the body decides about this one");
    let changed = |change: &dyn Fn(&mut Sample)| {
        let mut sample = sample.clone();
        change(&mut sample);
        verdicts(&sample.verifier(), &sample)
    };
    let authorization = sample.headers.last().unwrap().1.clone();
    let rewritten = |from: &str, to: &str| {
        let authorization = authorization.replacen(from, to, 1);
        changed(&|sample| sample.set_header("authorization", &authorization))
    };
    for (from, to, expected) in [
        ("AWS4-HMAC-SHA256", "Bearer", DeniedReason::OtherScheme),
        ("AKIDEXAMPLE", "AKIDOTHER", DeniedReason::Unknown),
        ("us-west-2", "us-east-1", DeniedReason::CredentialScope),
        ("aws4_request", "aws5_request", DeniedReason::Malformed),
        ("Signature=", "Signature=0", DeniedReason::Malformed),
    ] {
        assert_eq!(rewritten(from, to), both(Err(expected)), "{to}");
    }
    for seconds in [CLIENT_TIME_S + 901, CLIENT_TIME_S - 901] {
        assert!(verdicts(&sample.verifier_at(seconds), &sample).0.is_err(), "{seconds}");
    }
    for name in ["x-amz-date", "accept"] {
        let gone = changed(&|sample| sample.headers.retain(|(known, _)| known != name));
        assert_eq!(gone, both(Err(DeniedReason::UnsignedHeader)), "{name}");
    }
}

#[test]
fn whatever_is_signed_cannot_be_changed() {
    let sample = Sample::client("post a run");
    let changed = |change: &dyn Fn(&mut Sample)| {
        let mut sample = sample.clone();
        change(&mut sample);
        verdicts(&sample.verifier(), &sample).1
    };
    let wrong = Err(DeniedReason::Signature);
    assert_eq!(changed(&|sample| sample.method = "PUT".to_owned()), wrong);
    assert_eq!(changed(&|sample| sample.target = "/ws".to_owned()), wrong);
    assert_eq!(changed(&|sample| sample.target.push_str("?a=b")), wrong);
    assert_eq!(changed(&|sample| sample.set_header("host", "localhost:8081")), wrong);
    assert_eq!(changed(&|sample| sample.set_header("accept", "application/json")), wrong);
    assert_eq!(changed(&|sample| sample.set_header("x-amz-date", "20261130T120001Z")), wrong);
    assert_eq!(changed(&|sample| sample.headers.push(("accept".to_owned(), "a/b".to_owned()))), wrong);
    assert_eq!(changed(&|sample| sample.headers.push(("x-other".to_owned(), "y".to_owned()))), Ok(()));
    let gone = changed(&|sample| sample.headers.retain(|(name, _)| name != "accept"));
    assert_eq!(gone, Err(DeniedReason::UnsignedHeader));
}

#[test]
fn a_signature_in_a_header_lives_for_fifteen_minutes_in_either_direction() {
    let sample = Sample::client("get without a body");
    for (seconds, expected) in [
        (CLIENT_TIME_S + 900, Ok(())),
        (CLIENT_TIME_S + 901, Err(DeniedReason::Expired)),
        (CLIENT_TIME_S - 900, Ok(())),
        (CLIENT_TIME_S - 901, Err(DeniedReason::NotYetValid)),
        (0, Err(DeniedReason::NotYetValid)),
        (u64::MAX, Err(DeniedReason::Expired)),
    ] {
        assert_eq!(verdicts(&sample.verifier_at(seconds), &sample), both(expected), "{seconds}");
    }
}

#[test]
fn a_signed_address_lives_as_long_as_it_says_and_five_minutes_at_most() {
    for (name, life) in [("presigned", 300), ("presigned for a minute", 60)] {
        let sample = Sample::client(name);
        for (seconds, expected) in [
            (CLIENT_TIME_S + life, Ok(())),
            (CLIENT_TIME_S + life + 1, Err(DeniedReason::Expired)),
            (CLIENT_TIME_S - 900, Ok(())),
            (CLIENT_TIME_S - 901, Err(DeniedReason::NotYetValid)),
        ] {
            assert_eq!(verdicts(&sample.verifier_at(seconds), &sample), both(expected), "{name} {seconds}");
        }
    }
    for expires in ["0", "301", "-1", "+60", "6e1", "", "99999999999"] {
        let mut sample = Sample::client("presigned");
        sample.target = sample.target.replace("Expires=300", &format!("Expires={expires}"));
        assert_eq!(verdicts(&sample.verifier(), &sample), both(Err(DeniedReason::Malformed)), "{expires}");
    }
}

#[test]
fn another_caller_day_region_or_service_is_refused() {
    let sample = Sample::client("post a run");
    let authorization = &sample.headers.last().unwrap().1;
    for (from, to, expected) in [
        ("AKIDEXAMPLE", "AKIDOTHER", DeniedReason::Unknown),
        ("20261130", "20261129", DeniedReason::CredentialScope),
        ("us-west-2", "us-east-1", DeniedReason::CredentialScope),
        ("/bedrock-agentcore/", "/s3/", DeniedReason::CredentialScope),
        ("aws4_request", "aws5_request", DeniedReason::Malformed),
        ("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256", DeniedReason::OtherScheme),
    ] {
        let mut sample = sample.clone();
        sample.set_header("authorization", &authorization.replacen(from, to, 1));
        assert_eq!(verdicts(&sample.verifier(), &sample), both(Err(expected)), "{to}");
    }
}

#[test]
fn a_session_token_has_to_be_there_be_signed_and_be_the_right_one() {
    let wrong = both(Err(DeniedReason::SessionToken));
    for name in ["post with a session token", "presigned with a session token"] {
        let sample = Sample::client(name);
        let other = Sample { session_token: Some("other".to_owned()), ..sample.clone() };
        assert_eq!(verdicts(&other.verifier(), &sample), wrong, "{name}");
        let none = Sample { session_token: None, ..sample.clone() };
        assert_eq!(verdicts(&none.verifier(), &sample), wrong, "{name}");
    }
    let plain = Sample::client("get without a body");
    let temporary = Sample { session_token: Some("token".to_owned()), ..plain.clone() };
    assert_eq!(verdicts(&temporary.verifier(), &plain), wrong);
    let mut unsigned = temporary.clone();
    unsigned.headers.push(("x-amz-security-token".to_owned(), "token".to_owned()));
    assert_eq!(verdicts(&temporary.verifier(), &unsigned), both(Err(DeniedReason::UnsignedHeader)));
}

#[test]
fn what_is_no_signature_is_told_from_what_is_a_wrong_one() {
    use DeniedReason::{Malformed, Missing, OtherScheme, Repeated, UnsignedHeader};
    let credential = "Credential=AKIDEXAMPLE/20261130/us-west-2/bedrock-agentcore/aws4_request";
    let signature = format!("Signature={}", "0".repeat(64));
    let table = [
        (vec![], Missing),
        (vec!["Bearer token".to_owned()], OtherScheme),
        (vec!["AWS4-HMAC-SHA256".to_owned()], OtherScheme),
        (vec!["AWS4-HMAC-SHA256 ".to_owned()], Malformed),
        (vec![format!("AWS4-HMAC-SHA256 {credential}")], Malformed),
        (
            vec![format!("AWS4-HMAC-SHA256 {credential}, SignedHeaders=host;x-amz-date, Signature=abc")],
            Malformed,
        ),
        (
            vec![format!("AWS4-HMAC-SHA256 {credential}, SignedHeaders=x-amz-date;host, {signature}")],
            Malformed,
        ),
        (
            vec![format!("AWS4-HMAC-SHA256 {credential}, SignedHeaders=host;host;x-amz-date, {signature}")],
            Malformed,
        ),
        (
            vec![format!("AWS4-HMAC-SHA256 {credential}, SignedHeaders=Host;x-amz-date, {signature}")],
            Malformed,
        ),
        (vec![format!("AWS4-HMAC-SHA256 {credential}, SignedHeaders=, {signature}")], Malformed),
        (
            vec![format!("AWS4-HMAC-SHA256 {credential}, SignedHeaders=x-amz-date, {signature}")],
            UnsignedHeader,
        ),
        (vec![format!("AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, {signature}")], UnsignedHeader),
        (
            vec![format!("AWS4-HMAC-SHA256 {credential}, {signature}, SignedHeaders=host, {signature}")],
            Repeated,
        ),
        (vec![format!("AWS4-HMAC-SHA256 {credential}, Other=x")], Malformed),
        (vec!["AWS4-HMAC-SHA256 a".to_owned(), "AWS4-HMAC-SHA256 b".to_owned()], Repeated),
    ];
    for (values, expected) in table {
        let mut sample = Sample::client("get without a body");
        sample.headers.retain(|(name, _)| name != "authorization");
        sample.headers.extend(values.iter().map(|value| ("authorization".to_owned(), value.clone())));
        assert_eq!(verdicts(&sample.verifier(), &sample), both(Err(expected)), "{values:?}");
    }
}

#[test]
fn a_request_with_two_signatures_or_doubled_parts_is_refused() {
    let mut two = Sample::client("presigned");
    two.headers.push(("authorization".to_owned(), "AWS4-HMAC-SHA256 x".to_owned()));
    assert_eq!(verdicts(&two.verifier(), &two), both(Err(DeniedReason::Repeated)));

    for part in [
        "X-Amz-Signature=00",
        "X-Amz-Date=x",
        "X-Amz-Expires=1",
        "X-Amz-Security-Token=x&X-Amz-Security-Token=y",
    ] {
        let mut sample = Sample::client("presigned");
        sample.target = format!("{}&{part}", sample.target);
        assert_eq!(verdicts(&sample.verifier(), &sample), both(Err(DeniedReason::Repeated)), "{part}");
    }
}

#[test]
fn over_http_2_the_host_may_stand_in_the_target() {
    let mut sample = Sample::client("get without a body");
    sample.headers.retain(|(name, _)| name != "host");
    assert_eq!(verdicts(&sample.verifier(), &sample), both(Err(DeniedReason::UnsignedHeader)));
    sample.target = format!("http://127.0.0.1:8080{}", sample.target);
    assert_eq!(verdicts(&sample.verifier(), &sample), both(Ok(())));
}

#[test]
fn credentials_that_no_signature_could_name_are_refused_and_none_is_ever_shown() {
    for (id, secret) in [("", "s"), ("a/b", "s"), ("a b", "s"), ("é", "s"), ("AKID", "")] {
        assert!(AwsCredentials::new(id, secret).is_err(), "{id:?}");
    }
    let credentials = AwsCredentials::new("AKID", "hunter2").unwrap().with_session_token("hunter3");
    assert!(SigV4Verifier::new(credentials.clone(), "").is_err());
    let verifier = SigV4Verifier::new(credentials, "r").unwrap();
    let shown = format!("{verifier:?}");
    assert!(shown.contains("AwsCredentials(..)") && !shown.contains("hunter"), "{shown}");
}

fn header_text() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::sample::select(vec![
        "AWS4-HMAC-SHA256 ",
        "Credential=",
        "AKIDEXAMPLE/20261130/us-west-2/bedrock-agentcore/aws4_request",
        "/",
        ", ",
        "SignedHeaders=host;x-amz-date",
        ";",
        "Signature=",
        "=",
        "%",
        "20261130T120000Z",
        "é",
        "0000",
    ]);
    prop_oneof![
        prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..80),
    ]
}

proptest! {
    #[test]
    fn no_request_makes_the_verifier_panic_or_pass(
        target in "/[a-z%./]{0,12}(\\?(X-Amz-[A-Z][a-z]{1,12}|[%&=+a-z]{0,4})(=[%&=a-zA-Z0-9]{0,12}){0,3})?",
        headers in prop::collection::vec((0_usize..5, header_text()), 0..6),
        body in prop::collection::vec(any::<u8>(), 0..16),
        seconds in any::<u64>(),
    ) {
        const NAMES: [&str; 5] = ["authorization", "x-amz-date", "host", "x-amz-content-sha256", "x-amz-security-token"];
        let Ok(request) = Request::post(&target).body(()) else { return Ok(()) };
        let mut head = request.into_parts().0;
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                head.headers.append(HeaderName::from_static(NAMES[name]), value);
            }
        }
        let verifier = Sample::client("post a run").verifier_at(seconds).with_payload_rule(PayloadRule::MayBeUnsigned);
        let _ = verifier.check(&head);
        prop_assert!(verifier.check_body(&head, &body).is_err());
    }

    #[test]
    fn any_changed_byte_of_a_signature_is_noticed(at in 0_usize..64, digit in 0_u8..16) {
        let mut sample = Sample::client("post a run");
        let authorization = sample.headers.last().unwrap().1.clone();
        let start = authorization.len() - 64 + at;
        let mut changed = authorization.clone();
        changed.replace_range(start..=start, &format!("{digit:x}"));
        sample.set_header("authorization", &changed);
        let expected = if changed == authorization { Ok(()) } else { Err(DeniedReason::Signature) };
        prop_assert_eq!(verdicts(&sample.verifier(), &sample).1, expected);
    }
}
