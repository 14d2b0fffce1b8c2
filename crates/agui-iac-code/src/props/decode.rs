//! Strict decoding, member by member.

use std::collections::{BTreeMap, HashSet};

use serde_json::value::RawValue;

use super::error::Place;
use super::{
    AlibabaCloudProps, CandidatePresentation, IacCodeProps, MAX_ROS_INVOCATION_ID_CHARS, PropsError,
    PropsErrorKind as Kind, RunMode, ThinkingProps,
};
use crate::json::{self, MAX_EXACT, each_member, each_raw_member};
use crate::secret::Secret;

type Result<T> = std::result::Result<T, PropsError>;

pub(super) fn forwarded_props(forwarded_props: Option<&str>) -> Result<IacCodeProps> {
    let root = Place::Root;
    let text = forwarded_props.ok_or_else(|| root.error(Kind::Missing))?;
    let raw: &RawValue = serde_json::from_str(text).map_err(|_| root.error(Kind::Syntax))?;
    if json::is_null(raw) {
        return Err(root.error(Kind::Missing));
    }
    let place = Place::Member(&root, "iacCode");
    let mut found = None;
    let mut twice = false;
    let is_object = each_member(raw, |name, value| {
        if name == "iacCode" {
            twice |= found.replace(value).is_some();
        }
    });
    match (is_object, twice, found) {
        (false, _, _) => Err(root.error(Kind::WrongType)),
        (true, true, _) => Err(place.error(Kind::DuplicateKey)),
        (true, false, None) => Err(place.error(Kind::Missing)),
        (true, false, Some(raw)) => iac_code(raw, &place),
    }
}

fn iac_code(raw: &RawValue, place: &Place<'_>) -> Result<IacCodeProps> {
    let mut version = false;
    let mut ros_invocation_id = None;
    let mut cwd = None;
    let mut it = IacCodeProps::new("", "");
    strict_members(raw, place, |name, value, at| {
        match name {
            "schemaVersion" => version = schema_version(value, at)?,
            "rosInvocationId" => ros_invocation_id = Some(invocation_id(value, at)?),
            "cwd" => cwd = Some(non_empty(value, at)?),
            "model" => it.model = optional(value, at, string)?,
            "llmApiKey" => it.llm_api_key = optional(value, at, secret)?,
            "thinking" => it.thinking = optional(value, at, thinking)?,
            "userId" => it.user_id = optional(value, at, string)?,
            "channel" => it.channel = optional(value, at, string)?,
            "preferredLanguage" => it.preferred_language = optional(value, at, string)?,
            "candidatePresentation" => it.candidate_presentation = optional(value, at, presentation)?,
            "runMode" => it.run_mode = optional(value, at, run_mode)?,
            "pipelineName" => it.pipeline_name = optional(value, at, string)?,
            "cleanupOnly" => it.cleanup_only = optional(value, at, boolean)?,
            "alibabaCloud" => it.alibaba_cloud = optional(value, at, alibaba_cloud)?,
            "llmHeaders" => it.llm_headers = optional(value, at, headers)?,
            "activeGuidance" => it.active_guidance = optional(value, at, boolean)?,
            _ => return Err(at.error(Kind::UnknownKey)),
        }
        Ok(())
    })?;
    let missing = |name| Place::Member(place, name).error(Kind::Missing);
    if !version {
        return Err(missing("schemaVersion"));
    }
    it.ros_invocation_id = ros_invocation_id.ok_or_else(|| missing("rosInvocationId"))?;
    it.cwd = cwd.ok_or_else(|| missing("cwd"))?;
    Ok(it)
}

fn thinking(raw: &RawValue, place: &Place<'_>) -> Result<ThinkingProps> {
    let mut it = ThinkingProps::default();
    strict_members(raw, place, |name, value, at| {
        match name {
            "enabled" => it.enabled = optional(value, at, boolean)?,
            "effort" => it.effort = optional(value, at, string)?,
            "budget" => it.budget = optional(value, at, positive_integer)?,
            _ => return Err(at.error(Kind::UnknownKey)),
        }
        Ok(())
    })?;
    Ok(it)
}

fn alibaba_cloud(raw: &RawValue, place: &Place<'_>) -> Result<AlibabaCloudProps> {
    let mut it = AlibabaCloudProps::default();
    strict_members(raw, place, |name, value, at| {
        match name {
            "accessKeyId" => it.access_key_id = optional(value, at, secret)?,
            "accessKeySecret" => it.access_key_secret = optional(value, at, secret)?,
            "securityToken" => it.security_token = optional(value, at, secret)?,
            "regionId" => it.region_id = optional(value, at, string)?,
            _ => return Err(at.error(Kind::UnknownKey)),
        }
        Ok(())
    })?;
    Ok(it)
}

fn headers(raw: &RawValue, place: &Place<'_>) -> Result<BTreeMap<String, Secret>> {
    let mut it = BTreeMap::new();
    strict_members(raw, place, |name, value, at| {
        it.insert(name.to_owned(), secret(value, at)?);
        Ok(())
    })?;
    Ok(it)
}

/// Calls `each` for every member of an object until one is wrong; a repeated name is wrong.
///
/// A name with a broken escape cannot be one of the schema, so it is an unknown key, and the error
/// names the object it stands in.
fn strict_members<'a>(
    raw: &'a RawValue,
    place: &Place<'_>,
    mut each: impl FnMut(&str, &'a RawValue, &Place<'_>) -> Result<()>,
) -> Result<()> {
    let mut seen = HashSet::new();
    let mut failure = None;
    let is_object = each_raw_member(raw, |name, value| {
        if failure.is_some() {
            return;
        }
        let Ok(name) = json::string(name) else {
            failure = Some(place.error(Kind::UnknownKey));
            return;
        };
        let at = Place::Member(place, &name);
        if seen.insert(name.clone().into_owned()) {
            failure = each(&name, value, &at).err();
        } else {
            failure = Some(at.error(Kind::DuplicateKey));
        }
    });
    if !is_object {
        return Err(place.error(Kind::WrongType));
    }
    failure.map_or(Ok(()), Err)
}

/// Reads a value unless it is null.
fn optional<T>(
    raw: &RawValue,
    place: &Place<'_>,
    read: impl FnOnce(&RawValue, &Place<'_>) -> Result<T>,
) -> Result<Option<T>> {
    if json::is_null(raw) { Ok(None) } else { read(raw, place).map(Some) }
}

fn string(raw: &RawValue, place: &Place<'_>) -> Result<String> {
    json::string(raw).map(String::from).map_err(|_| place.error(Kind::WrongType))
}

fn secret(raw: &RawValue, place: &Place<'_>) -> Result<Secret> {
    string(raw, place).map(Secret::new)
}

fn boolean(raw: &RawValue, place: &Place<'_>) -> Result<bool> {
    match raw.get() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(place.error(Kind::WrongType)),
    }
}

fn non_empty(raw: &RawValue, place: &Place<'_>) -> Result<String> {
    let text = string(raw, place)?;
    if text.is_empty() { Err(place.error(Kind::OutOfRange)) } else { Ok(text) }
}

fn invocation_id(raw: &RawValue, place: &Place<'_>) -> Result<String> {
    let text = non_empty(raw, place)?;
    // Four bytes a character at most, so a far too long text is not counted through.
    if text.len() > 4 * MAX_ROS_INVOCATION_ID_CHARS || text.chars().count() > MAX_ROS_INVOCATION_ID_CHARS {
        return Err(place.error(Kind::OutOfRange));
    }
    Ok(text)
}

fn schema_version(raw: &RawValue, place: &Place<'_>) -> Result<bool> {
    if !is_number(raw) {
        return Err(place.error(Kind::WrongType));
    }
    if json::whole_number(raw) == Ok(1) { Ok(true) } else { Err(place.error(Kind::OutOfRange)) }
}

fn positive_integer(raw: &RawValue, place: &Place<'_>) -> Result<u64> {
    if !is_number(raw) {
        return Err(place.error(Kind::WrongType));
    }
    match json::whole_number(raw) {
        Ok(number @ 1..=MAX_EXACT) => Ok(number),
        Ok(_) => Err(place.error(Kind::OutOfRange)),
        // A fraction is no integer; anything else that is a number is too small or too large.
        Err(_) if json::is_fraction(raw) => Err(place.error(Kind::WrongType)),
        Err(_) => Err(place.error(Kind::OutOfRange)),
    }
}

fn is_number(raw: &RawValue) -> bool {
    raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

fn presentation(raw: &RawValue, place: &Place<'_>) -> Result<CandidatePresentation> {
    match string(raw, place)?.as_str() {
        "standard" => Ok(CandidatePresentation::Standard),
        "rich" => Ok(CandidatePresentation::Rich),
        _ => Err(place.error(Kind::OutOfRange)),
    }
}

fn run_mode(raw: &RawValue, place: &Place<'_>) -> Result<RunMode> {
    match string(raw, place)?.as_str() {
        "normal" => Ok(RunMode::Normal),
        "pipeline" => Ok(RunMode::Pipeline),
        _ => Err(place.error(Kind::OutOfRange)),
    }
}
