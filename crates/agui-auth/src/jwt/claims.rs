//! What a token says, and whether that is enough.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ClaimMatch, JwtConfig, ScopeRule};
use crate::DeniedReason;

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
        let client = self.text("client_id").or_else(|| self.text("azp"));
        if !clients.is_empty() && !client.is_some_and(|client| allowed(clients, client)) {
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
