//! What a token says, and whether that is enough.

use std::time::Duration;

use graviola::hashing::{Hash as _, Sha256};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ClaimMatch, JwtConfig, ScopeRule};
use crate::{Caller, DeniedReason};

/// The claims of a token whose signature fits.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Claims(Map<String, Value>);

impl Claims {
    /// Checks every condition. `now` is the time since the Unix epoch.
    pub(super) fn check(&self, config: &JwtConfig, issuer: &str, now: Duration) -> Result<(), DeniedReason> {
        if self.text("iss") != Some(issuer) {
            return Err(DeniedReason::Issuer);
        }
        self.check_time(config.leeway.as_secs_f64(), now.as_secs_f64())?;
        let allowed = |list: &[String], value: &str| list.iter().any(|entry| entry == value);

        let audience = &config.allowed_audience;
        if !audience.is_empty() && !self.texts("aud").iter().any(|name| allowed(audience, name)) {
            return Err(DeniedReason::Audience);
        }
        let clients = &config.allowed_clients;
        if !clients.is_empty() && !self.client().is_some_and(|client| allowed(clients, client)) {
            return Err(DeniedReason::Client);
        }
        if !config.custom_claims.iter().all(|rule| self.matches(&rule.name, &rule.value)) {
            return Err(DeniedReason::Claim);
        }
        if !self.has_scopes(&config.allowed_scopes, config.scope_rule) {
            return Err(DeniedReason::Scope);
        }
        Ok(())
    }

    /// Whose the token is: of the subject at the issuer, through a client. Of nobody but itself if it names no
    /// subject: then nothing in it tells one holder from another.
    pub(super) fn caller(&self, token: &[u8]) -> Caller {
        let subject = self.0.get("sub").filter(|subject| !subject.is_null()).map(Value::to_string);
        let parts = match &subject {
            Some(subject) => {
                [self.text("iss").unwrap_or_default(), subject, self.client().unwrap_or_default()]
                    .map(str::as_bytes)
            }
            // No subject is written in no characters.
            None => [token, b"", b""],
        };
        let mut told = Vec::new();
        for part in parts {
            told.extend(part.len().to_be_bytes());
            told.extend(part);
        }
        let digest: String = Sha256::hash(&told).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Caller::new(format!("jwt {digest}"))
    }

    fn client(&self) -> Option<&str> {
        self.text("client_id").or_else(|| self.text("azp"))
    }

    fn check_time(&self, leeway_s: f64, now_s: f64) -> Result<(), DeniedReason> {
        let moment = |name: &str| match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or(DeniedReason::Malformed),
        };
        let expires = moment("exp")?.ok_or(DeniedReason::Malformed)?;
        if expires + leeway_s <= now_s {
            return Err(DeniedReason::Expired);
        }
        if moment("nbf")?.is_some_and(|begins| begins - leeway_s > now_s) {
            return Err(DeniedReason::NotYetValid);
        }
        Ok(())
    }

    /// Scopes come as words of `scope` (RFC 9068), or as words or a list in `scp`.
    fn has_scopes(&self, wanted: &[String], rule: ScopeRule) -> bool {
        let claim = if self.0.contains_key("scope") { "scope" } else { "scp" };
        let texts = self.texts(claim);
        let has =
            |scope: &String| texts.iter().any(|text| text.split_ascii_whitespace().any(|word| word == scope));
        match rule {
            ScopeRule::Any => wanted.is_empty() || wanted.iter().any(has),
            ScopeRule::All => wanted.iter().all(has),
        }
    }

    fn matches(&self, name: &str, wanted: &ClaimMatch) -> bool {
        match wanted {
            ClaimMatch::Equals(text) => self.text(name) == Some(text),
            ClaimMatch::Contains(text) => self.list(name).contains(&text.as_str()),
            ClaimMatch::ContainsAny(texts) => {
                self.texts(name).iter().any(|value| texts.iter().any(|text| text == value))
            }
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn list(&self, name: &str) -> Vec<&str> {
        let list = self.0.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The texts of a claim that may be one or several.
    fn texts(&self, name: &str) -> Vec<&str> {
        self.text(name).map_or_else(|| self.list(name), |text| vec![text])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ClaimRule;

    const NOW: Duration = Duration::from_secs(1_000_000);

    fn config() -> JwtConfig {
        JwtConfig::new("https://a.example/.well-known/openid-configuration".parse().unwrap())
    }

    fn verdict(config: &JwtConfig, claims: Value) -> Result<(), DeniedReason> {
        let Value::Object(mut claims) = claims else { panic!("claims are an object") };
        claims.entry("iss").or_insert(json!("https://a.example"));
        claims.entry("exp").or_insert(json!(1_000_060));
        Claims(claims).check(config, "https://a.example", NOW)
    }

    #[test]
    fn a_token_lives_from_nbf_to_exp_with_a_minute_on_either_side() {
        let table = [
            (json!({"exp": 999_941}), Ok(())),
            (json!({"exp": 999_940}), Err(DeniedReason::Expired)),
            (json!({"exp": 999_940.5}), Ok(())),
            (json!({"exp": -1}), Err(DeniedReason::Expired)),
            (json!({"exp": null}), Err(DeniedReason::Malformed)),
            (json!({"exp": "1000060"}), Err(DeniedReason::Malformed)),
            (json!({"exp": 1e300}), Ok(())),
            (json!({"nbf": 1_000_060}), Ok(())),
            (json!({"nbf": 1_000_061}), Err(DeniedReason::NotYetValid)),
            (json!({"nbf": null}), Ok(())),
            (json!({"nbf": true}), Err(DeniedReason::Malformed)),
        ];
        for (claims, expected) in table {
            assert_eq!(verdict(&config(), claims.clone()), expected, "{claims}");
        }
    }

    #[test]
    fn the_issuer_is_compared_as_it_is() {
        for iss in [json!("https://a.example/"), json!(["https://a.example"]), json!(null), json!("")] {
            assert_eq!(verdict(&config(), json!({"iss": iss})), Err(DeniedReason::Issuer), "{iss}");
        }
    }

    #[test]
    fn one_audience_of_several_is_enough() {
        let config = config().with_audience(["a", "b"]);
        let table = [
            (json!({"aud": "b"}), Ok(())),
            (json!({"aud": ["x", "a"]}), Ok(())),
            (json!({"aud": "a b"}), Err(DeniedReason::Audience)),
            (json!({"aud": ["x", 1]}), Err(DeniedReason::Audience)),
            (json!({"aud": []}), Err(DeniedReason::Audience)),
            (json!({"aud": {"a": 1}}), Err(DeniedReason::Audience)),
            (json!({}), Err(DeniedReason::Audience)),
        ];
        for (claims, expected) in table {
            assert_eq!(verdict(&config, claims.clone()), expected, "{claims}");
        }
    }

    #[test]
    fn the_client_is_client_id_or_else_azp() {
        let config = config().with_clients(["c"]);
        let table = [
            (json!({"client_id": "c"}), Ok(())),
            (json!({"azp": "c"}), Ok(())),
            (json!({"client_id": "x", "azp": "c"}), Err(DeniedReason::Client)),
            (json!({"client_id": ["c"]}), Err(DeniedReason::Client)),
            (json!({}), Err(DeniedReason::Client)),
        ];
        for (claims, expected) in table {
            assert_eq!(verdict(&config, claims.clone()), expected, "{claims}");
        }
    }

    #[test]
    fn a_caller_is_a_subject_of_an_issuer_through_a_client_and_a_fresh_token_is_the_same_one() {
        let caller = |claims: Value| {
            let Value::Object(claims) = claims else { panic!("claims are an object") };
            Claims(claims).caller(b"a.token")
        };
        let whole = json!({"iss": "i", "sub": "u", "client_id": "c", "exp": 1, "jti": "1", "scope": "r"});
        let caller_of_whole = caller(whole.clone());
        let with = |name: &str, value: Value| {
            let mut claims = whole.clone();
            claims[name] = value;
            caller(claims)
        };
        for (name, value) in
            [("exp", json!(2)), ("jti", json!("2")), ("scope", json!("w")), ("azp", json!("d"))]
        {
            assert_eq!(with(name, value), caller_of_whole, "{name}");
        }
        let others = [
            with("iss", json!("j")),
            with("sub", json!("v")),
            with("sub", json!(7)),
            with("client_id", json!("d")),
            with("client_id", json!(null)),
            // Parts do not run into each other.
            caller(json!({"iss": "i", "sub": "uc", "client_id": ""})),
            caller(json!({"iss": "i\"u\"", "sub": "", "client_id": "c"})),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(*other, caller_of_whole, "{index}");
        }
        let azp = caller(json!({"iss": "i", "sub": "u", "azp": "c"}));
        assert_eq!(azp, caller_of_whole, "a client is the same by either name");
        let shown = format!("{caller_of_whole} {caller_of_whole:?}");
        assert!(shown.starts_with("jwt ") && !shown.contains("\"u\""), "{shown}");
    }

    #[test]
    fn a_token_without_a_subject_is_a_caller_of_its_own() {
        let Value::Object(claims) = json!({"iss": "i", "client_id": "c", "sub": null}) else { panic!() };
        let claims = Claims(claims);
        assert_eq!(claims.caller(b"one"), claims.caller(b"one"));
        assert_ne!(claims.caller(b"one"), claims.caller(b"two"));
    }

    #[test]
    fn scopes_are_words_and_the_rule_says_how_many_are_needed() {
        let any = config().with_scopes(["r", "w"]);
        let all = any.clone().with_scope_rule(ScopeRule::All);
        let no = Err(DeniedReason::Scope);
        let table = [
            (json!({"scope": "w r"}), Ok(()), Ok(())),
            (json!({"scope": "x r"}), Ok(()), no),
            (json!({"scope": "rw"}), no, no),
            (json!({"scope": "R"}), no, no),
            (json!({"scope": ["r", "w"]}), Ok(()), Ok(())),
            (json!({"scp": "r w"}), Ok(()), Ok(())),
            (json!({"scp": ["w"]}), Ok(()), no),
            (json!({"scope": "", "scp": "r w"}), no, no),
            (json!({"scope": 1}), no, no),
            (json!({}), no, no),
        ];
        for (claims, with_any, with_all) in table {
            assert_eq!(verdict(&any, claims.clone()), with_any, "any {claims}");
            assert_eq!(verdict(&all, claims.clone()), with_all, "all {claims}");
        }
    }

    #[test]
    fn custom_claims_have_the_three_comparisons_of_the_platform() {
        let equals = config().with_claim(ClaimRule::new("t", ClaimMatch::Equals("a".to_owned())));
        let contains = config().with_claim(ClaimRule::new("t", ClaimMatch::Contains("a".to_owned())));
        let any = config()
            .with_claim(ClaimRule::new("t", ClaimMatch::ContainsAny(vec!["a".to_owned(), "b".to_owned()])));
        let no = Err(DeniedReason::Claim);
        let table = [
            (json!({"t": "a"}), Ok(()), no, Ok(())),
            (json!({"t": ["a"]}), no, Ok(()), Ok(())),
            (json!({"t": ["x", "b"]}), no, no, Ok(())),
            (json!({"t": "ab"}), no, no, no),
            (json!({"t": {"a": "a"}}), no, no, no),
            (json!({}), no, no, no),
        ];
        for (claims, with_equals, with_contains, with_any) in table {
            assert_eq!(verdict(&equals, claims.clone()), with_equals, "equals {claims}");
            assert_eq!(verdict(&contains, claims.clone()), with_contains, "contains {claims}");
            assert_eq!(verdict(&any, claims.clone()), with_any, "any {claims}");
        }
    }

    #[test]
    fn all_conditions_have_to_hold() {
        let config = config().with_audience(["a"]).with_clients(["c"]).with_scopes(["s"]);
        let whole = json!({"aud": "a", "client_id": "c", "scope": "s"});
        assert_eq!(verdict(&config, whole.clone()), Ok(()));
        for (claim, expected) in [
            ("aud", DeniedReason::Audience),
            ("client_id", DeniedReason::Client),
            ("scope", DeniedReason::Scope),
        ] {
            let mut claims = whole.clone();
            claims[claim] = json!("other");
            assert_eq!(verdict(&config, claims), Err(expected), "{claim}");
        }
    }
}
