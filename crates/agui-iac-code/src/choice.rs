//! The answers to choose from, with ids that no two of them share.

use std::collections::HashSet;

use crate::metadata::Input;

/// One answer of a question as a client sees it, and what it sends to the kernel.
///
/// Example: see [`Input::choices`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// Id that a client answers with, unique in the question.
    pub id: String,
    /// What to show.
    pub title: String,
    /// Text that the kernel understands: the option's label, else its id.
    pub answer: String,
}

impl Input<'_> {
    /// The options with unambiguous ids.
    ///
    /// An option keeps its own id; the first of several equal ids keeps it and the others get
    /// `-2`, `-3`. An option without one gets its place in the list, unless that is taken. So the
    /// id `0` never means another option than the one that is called `0` (weakness 44).
    ///
    /// ```
    /// use agui_iac_code::metadata::IacMetadata;
    /// use serde_json::value::RawValue;
    ///
    /// let metadata: &RawValue = serde_json::from_str(
    ///     r#"{"iac_code":{"input":{"kind":"ask_user_question","inputId":"ask-1",
    ///         "options":[{"label":"Plan A"},{"id":"0","label":"Plan 0"}]}}}"#,
    /// )?;
    /// let input = IacMetadata::read(metadata).input.expect("a question");
    /// let choices = input.choices();
    /// assert_eq!((choices[0].id.as_str(), choices[0].answer.as_str()), ("0-2", "Plan A"));
    /// assert_eq!((choices[1].id.as_str(), choices[1].answer.as_str()), ("0", "Plan 0"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        let own = |id: &Option<_>| id.as_deref().filter(|id: &&str| !id.is_empty()).map(str::to_owned);
        let own_ids: Vec<Option<String>> = self.options.iter().map(|option| own(&option.id)).collect();
        let mut taken: HashSet<String> = own_ids.iter().flatten().cloned().collect();
        let mut given: HashSet<String> = HashSet::new();
        let mut choices = Vec::with_capacity(self.options.len());
        for (place, (option, own_id)) in self.options.iter().zip(own_ids).enumerate() {
            let id = match own_id {
                Some(id) if given.insert(id.clone()) => id,
                Some(id) => free_id(&id, &mut taken),
                None if taken.insert(place.to_string()) => place.to_string(),
                None => free_id(&place.to_string(), &mut taken),
            };
            let label = own(&option.label);
            let answer = label.clone().or_else(|| own(&option.id)).unwrap_or_else(|| id.clone());
            choices.push(Choice { title: label.unwrap_or_else(|| id.clone()), id, answer });
        }
        choices
    }
}

/// The first of `id-2`, `id-3`, … that is not taken; it is taken afterwards.
fn free_id(id: &str, taken: &mut HashSet<String>) -> String {
    let mut number = 2_usize;
    loop {
        let candidate = format!("{id}-{number}");
        if taken.insert(candidate.clone()) {
            return candidate;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use crate::Notes;
    use crate::metadata::Input;

    #[test]
    fn every_option_gets_an_id_of_its_own() {
        type Shown = (&'static str, &'static str, &'static str);
        let cases: [(&str, &[Shown]); 6] = [
            (
                r#"[{"label":"Plan A"},{"id":"0","label":"Plan 0"}]"#,
                &[("0-2", "Plan A", "Plan A"), ("0", "Plan 0", "Plan 0")],
            ),
            (
                r#"[{"candidate_index":0.0,"name":"cheap"},{"candidate_index":1,"name":"ha"}]"#,
                &[("0", "cheap", "cheap"), ("1", "ha", "ha")],
            ),
            (
                r#"[{"id":"a","label":"one"},{"id":"a","label":"two"},{"id":"a-2","label":"three"}]"#,
                &[("a", "one", "one"), ("a-3", "two", "two"), ("a-2", "three", "three")],
            ),
            (r#"[{"id":7},{"id":null},{"id":""}]"#, &[("7", "7", "7"), ("1", "1", "1"), ("2", "2", "2")]),
            (r#"["yes","no","yes"]"#, &[("yes", "yes", "yes"), ("no", "no", "no"), ("yes-2", "yes", "yes")]),
            (r#"[null,3,{"label":"only"}]"#, &[("0", "only", "only")]),
        ];
        for (options, expected) in cases {
            let text = format!(r#"{{"kind":"ask_user_question","options":{options}}}"#);
            let raw: &RawValue = serde_json::from_str(&text).unwrap();
            let input = Input::read(raw, &mut Notes::default()).unwrap();

            let choices = input.choices();

            let seen: Vec<(&str, &str, &str)> =
                choices.iter().map(|it| (it.id.as_str(), it.title.as_str(), it.answer.as_str())).collect();
            assert_eq!(seen, expected, "{options}");
        }
    }
}
