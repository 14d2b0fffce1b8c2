//! Names that tell of a secret.

/// Headers that carry credentials, besides those with telling names.
const HEADERS: &[&str] = &["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// Words that tell wherever they stand in a name, in lower case and without separators.
const PARTS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "credential",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "sharedkey",
    "signingkey",
    "encryptionkey",
];

/// Words that tell at the end of a name.
const ENDS: &[&str] = &["token", "pwd", "cookie", "bearer"];

/// Whether a header carries credentials.
pub(super) fn is_secret_header(name: &str) -> bool {
    HEADERS.iter().any(|known| known.eq_ignore_ascii_case(name)) || is_telling(name)
}

/// Whether a name says that its value is a secret. Counts of tokens are none.
pub(crate) fn is_telling(name: &str) -> bool {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    PARTS.iter().any(|part| plain.contains(part)) || ENDS.iter().any(|end| plain.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_in_every_spelling() {
        for name in [
            "password",
            "dbPassword",
            "DB_PASSWORD",
            "x-api-key",
            "apiKey",
            "accessKeyId",
            "access_key_secret",
            "securityToken",
            "token",
            "id-token",
            "client_secret",
            "Credentials",
            "Authorization",
            "setCookie",
        ] {
            assert!(is_telling(name), "{name}");
        }
        for name in ["inputTokens", "totalTokens", "tokenizer", "key", "name", "passage", "secretary"] {
            assert_eq!(is_telling(name), name == "secretary", "{name}");
        }
        assert!(
            is_secret_header("Cookie") && is_secret_header("X-Auth-Token") && !is_secret_header("Accept")
        );
    }
}
