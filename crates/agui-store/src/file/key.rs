//! File names of threads.
//!
//! The rule is iac-code's, so that both adapters find each other's files: a thread id that is a harmless
//! file name everywhere is its own key, another is spelled in hexadecimal, a long one is hashed. Keys are
//! lower case, hence distinct on file systems that ignore case; ids that differ only in Unicode
//! normalisation have different bytes and so different keys.
//!
//! iac-code does not limit the length of harmless ids, and cannot store those whose temporary file name
//! passes 255 bytes. Here ids beyond [`MAX_STEM_BYTES`] are hashed too; the longest ones that iac-code can
//! store may lie under their own name ([`legacy_stem`]).

use agui_core::ThreadId;

use crate::digest::Digest;
use crate::error::StoreError;

/// Longest key, in bytes: leaves room for prefix and suffixes within the 255 bytes of a name.
const MAX_STEM_BYTES: usize = 200;

/// Longest key that iac-code can write: `.`, key, `.json.`, 8 random characters, `.tmp` are 255 bytes.
const MAX_LEGACY_STEM_BYTES: usize = 236;

/// The key of a thread.
pub(super) fn stem(thread: &ThreadId) -> Result<String, StoreError> {
    let id = thread.as_str();
    if id.is_empty() {
        return Err(StoreError::EmptyThreadId);
    }
    if is_harmless(id) && id.len() <= MAX_STEM_BYTES {
        return Ok(id.to_owned());
    }
    if !is_harmless(id) {
        let mut encoded = String::from("aguiid~");
        for byte in id.bytes().take(MAX_STEM_BYTES) {
            encoded.push_str(&format!("{byte:02x}"));
        }
        if encoded.len() <= MAX_STEM_BYTES {
            return Ok(encoded);
        }
    }
    Ok(format!("aguihash~{}", Digest::of(id.as_bytes())))
}

/// The key that iac-code uses for a thread whose [`stem`] is another one.
pub(super) fn legacy_stem(thread: &ThreadId) -> Option<&str> {
    let id = thread.as_str();
    (id.len() > MAX_STEM_BYTES && id.len() <= MAX_LEGACY_STEM_BYTES && is_harmless(id)).then_some(id)
}

fn is_harmless(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte))
        && !id.ends_with('.')
        && !is_device(id.split('.').next().unwrap_or_default())
}

/// Names that Windows takes for devices, whatever follows a dot.
fn is_device(name: &str) -> bool {
    match name {
        "con" | "prn" | "aux" | "nul" => true,
        _ => {
            let port = name.strip_prefix("com").or_else(|| name.strip_prefix("lpt"));
            port.is_some_and(|digit| matches!(digit.as_bytes(), [b'1'..=b'9']))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn stem_of(id: &str) -> String {
        stem(&ThreadId::from(id)).unwrap()
    }

    #[test]
    fn keys_are_those_of_iac_code() {
        let hex =
            |id: &str| format!("aguiid~{}", id.bytes().map(|byte| format!("{byte:02x}")).collect::<String>());
        let hash = |id: &str| format!("aguihash~{}", Digest::of(id.as_bytes()));
        let own = [
            "t1",
            "a",
            "thread-o5",
            "a_b.c-d",
            ".hidden",
            "..a",
            "con1",
            "com0",
            "com10",
            "lpt",
            "console",
            "0",
        ];
        for id in own {
            assert_eq!(stem_of(id), id);
        }
        let encoded = [
            "T1",
            ".",
            "..",
            "...",
            "a.",
            "con",
            "CON",
            "con.txt",
            "nul.tar.gz",
            "com1",
            "lpt9.x",
            "aux",
            "prn",
            "../x",
            "a/b",
            "a\\b",
            "feishu:oc_1",
            "C:",
            " ",
            "a b",
            "ä",
            "a\u{308}",
            "a\0b",
            "thread-p-zh_tw.",
            "aguiid~41",
            "\n",
        ];
        for id in encoded {
            assert_eq!(stem_of(id), hex(id), "{id:?}");
        }
        let long = "X".repeat(96);
        assert_eq!(stem_of(&long), hex(&long));
        for id in ["X".repeat(97), "x".repeat(201), "é".repeat(300), "x".repeat(100_000)] {
            assert_eq!(stem_of(&id), hash(&id));
        }
        assert_eq!(stem_of(&"x".repeat(200)), "x".repeat(200));
        assert!(matches!(stem(&ThreadId::from("")), Err(StoreError::EmptyThreadId)));
    }

    #[test]
    fn distinct_ids_have_keys_that_stay_distinct_when_case_is_ignored() {
        let ids = [
            "t1",
            "T1",
            "Ä",
            "A\u{308}",
            "ä",
            "con",
            "CON",
            "Con",
            "a",
            "a.",
            "A",
            "a b",
            "a%20b",
            "aguiid~54",
            "T",
            "aguihash~x",
            &"x".repeat(300),
            &"X".repeat(300),
        ];
        let keys: HashSet<String> = ids.iter().map(|id| stem_of(id).to_lowercase()).collect();
        assert_eq!(keys.len(), ids.len());
    }

    #[test]
    fn ids_that_iac_code_stores_under_a_longer_name_are_known() {
        let cases = [(200, false), (201, true), (236, true), (237, false)];
        for (length, expected) in cases {
            let id = "x".repeat(length);
            assert_eq!(legacy_stem(&ThreadId::from(id.as_str())), expected.then_some(&*id), "{length}");
        }
        assert_eq!(legacy_stem(&ThreadId::from("X".repeat(210))), None);
    }
}
