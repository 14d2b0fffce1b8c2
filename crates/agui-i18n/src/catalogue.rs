//! The texts themselves.

use std::borrow::Cow;
use std::sync::OnceLock;

use agui_iac_code::{ErrorNotice, MessageArg, MessageKey};
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};

use crate::language::Language;

type Bundle = FluentBundle<FluentResource>;

/// The text of a key that takes no arguments.
///
/// Arguments that the text does take show as `{$name}`; use [`format()`] for those.
///
/// ```
/// use agui_i18n::{Language, text};
/// use agui_iac_code::MessageKey;
///
/// assert_eq!(text(Language::En, MessageKey::InterruptPermission), "Permission required");
/// ```
#[must_use]
pub fn text(language: Language, key: MessageKey) -> Cow<'static, str> {
    format(language, key, &[])
}

/// The text of a key with its arguments, which are put in as they are; unused ones are ignored.
///
/// It never fails: a text that a language lacks is taken from English, and in the end the key
/// stands for itself.
///
/// ```
/// use agui_i18n::{Language, format};
/// use agui_iac_code::{MessageArg, MessageKey};
///
/// let args = [("seconds", MessageArg::Number(1))];
/// assert_eq!(
///     format(Language::En, MessageKey::RateLimitedFor, &args),
///     "Too many requests. Try again in 1 second."
/// );
/// ```
#[must_use]
pub fn format(language: Language, key: MessageKey, args: &[(&'static str, MessageArg)]) -> Cow<'static, str> {
    formatted(language, key, args)
        .or_else(|| formatted(Language::En, key, args))
        .unwrap_or(Cow::Borrowed(key.as_str()))
}

/// The text of an error.
///
/// ```
/// use agui_i18n::{Language, notice};
/// use agui_iac_code::{ErrorCode, ErrorNotice};
///
/// assert_eq!(
///     notice(Language::En, &ErrorNotice::new(ErrorCode::ThreadBusy)),
///     "The AG-UI thread already has an active run."
/// );
/// ```
#[must_use]
pub fn notice(language: Language, notice: &ErrorNotice) -> Cow<'static, str> {
    format(language, notice.key, &notice.args)
}

fn formatted(
    language: Language,
    key: MessageKey,
    args: &[(&'static str, MessageArg)],
) -> Option<Cow<'static, str>> {
    let bundle = bundle(language);
    let pattern = bundle.get_message(key.as_str())?.value()?;
    if args.is_empty() {
        return Some(bundle.format_pattern(pattern, None, &mut Vec::new()));
    }
    let mut values = FluentArgs::with_capacity(args.len());
    for (name, arg) in args {
        values.set(*name, value(arg));
    }
    Some(Cow::Owned(bundle.format_pattern(pattern, Some(&values), &mut Vec::new()).into_owned()))
}

fn value(arg: &MessageArg) -> FluentValue<'_> {
    match arg {
        MessageArg::Text(text) => FluentValue::from(text.as_ref()),
        MessageArg::Number(number) => FluentValue::from(*number),
        _ => FluentValue::None,
    }
}

/// The catalogue of a language, parsed at its first use and kept for the life of the process.
fn bundle(language: Language) -> &'static Bundle {
    static BUNDLES: [OnceLock<Bundle>; Language::ALL.len()] =
        [const { OnceLock::new() }; Language::ALL.len()];
    BUNDLES[language as usize].get_or_init(|| parse(language))
}

const fn source(language: Language) -> &'static str {
    match language {
        Language::En => include_str!("../locales/en.ftl"),
        Language::Zh => include_str!("../locales/zh.ftl"),
        Language::Es => include_str!("../locales/es.ftl"),
        Language::Fr => include_str!("../locales/fr.ftl"),
        Language::De => include_str!("../locales/de.ftl"),
        Language::Ja => include_str!("../locales/ja.ftl"),
        Language::Pt => include_str!("../locales/pt.ftl"),
    }
}

fn parse(language: Language) -> Bundle {
    // The catalogues are part of the program and tested; what cannot be parsed is left out, and
    // `format` falls back to English.
    let resource = FluentResource::try_new(source(language).to_owned()).unwrap_or_else(|(rest, _)| rest);
    let locales = language.as_str().parse().into_iter().collect();
    let mut bundle = FluentBundle::new_concurrent(locales);
    // Isolation marks are for bidirectional text; here they would only end up in logs and JSON.
    bundle.set_use_isolating(false);
    bundle.add_resource_overriding(resource);
    bundle
}

#[cfg(test)]
mod tests;
