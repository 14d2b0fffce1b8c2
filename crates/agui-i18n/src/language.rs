//! The languages that there are texts in.

use std::fmt;

/// A language of the catalogues.
///
/// Source: S1.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Language {
    /// English, when no wish can be met.
    #[default]
    En,
    /// Chinese, simplified.
    Zh,
    /// Spanish.
    Es,
    /// French.
    Fr,
    /// German.
    De,
    /// Japanese.
    Ja,
    /// Portuguese.
    Pt,
}

impl Language {
    /// Every language, English first.
    pub const ALL: [Self; 7] = [Self::En, Self::Zh, Self::Es, Self::Fr, Self::De, Self::Ja, Self::Pt];

    /// The primary subtag, for example `fr`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
            Self::Es => "es",
            Self::Fr => "fr",
            Self::De => "de",
            Self::Ja => "ja",
            Self::Pt => "pt",
        }
    }

    /// The language of a tag such as `zh-CN` or `ZH_tw`: its primary subtag decides.
    ///
    /// Source: RFC 4647 section 3.4 (lookup), with one region a language.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.as_str().eq_ignore_ascii_case(primary))
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_6_the_primary_subtag_decides_whatever_its_case_and_separator() {
        let cases = [
            ("en", Some(Language::En)),
            ("zh-CN", Some(Language::Zh)),
            ("ZH_tw", Some(Language::Zh)),
            ("zh-Hant-HK", Some(Language::Zh)),
            (" pt-BR ", Some(Language::Pt)),
            ("JA", Some(Language::Ja)),
            ("es-419", Some(Language::Es)),
            ("de-DE-1996", Some(Language::De)),
            ("fr", Some(Language::Fr)),
            ("xx", None),
            ("eng", None),
            ("", None),
            ("-en", None),
            ("*", None),
        ];
        for (tag, language) in cases {
            assert_eq!(Language::from_tag(tag), language, "{tag:?}");
        }
    }
}
