//! Token counts, summed per provider and model.

use agui_core::TokenUsage;
use agui_iac_code::metadata::Usage;

/// Largest count that every reader of JSON holds exactly.
const MAX_COUNT: u64 = (1 << 53) - 1;

/// The token counts of a run.
#[derive(Debug, Default)]
pub(crate) struct UsageSum {
    sums: Vec<TokenUsage>,
}

impl UsageSum {
    /// Adds the counts of one model call.
    ///
    /// The kernel leaves cached tokens out of its input tokens and adds them to the total; AG-UI counts
    /// them as input. A total that is already the sum of input and output shows that they are in.
    pub(crate) fn add(&mut self, usage: &Usage<'_>) {
        let sane = |count: Option<u64>| count.filter(|count| *count <= MAX_COUNT);
        let (input, output) = (sane(usage.input_tokens), sane(usage.output_tokens));
        let (total, cached) = (sane(usage.total_tokens), sane(usage.cached_input_tokens));
        let sum_without_cached = input.zip(output).map(|(input, output)| input + output);
        let included = total.is_some() && total == sum_without_cached;
        let input = if included { input } else { input.map(|input| input + cached.unwrap_or(0)) };
        if input.or(output).or(total).or(cached).is_none() {
            return;
        }
        let sum = self.of(usage.provider.as_deref(), usage.model.as_deref());
        add(&mut sum.input_tokens, input);
        add(&mut sum.output_tokens, output);
        add(&mut sum.total_tokens, total);
        add(&mut sum.cached_input_tokens, cached);
    }

    /// The sums for the terminal event; none if no count came.
    pub(crate) fn take(&mut self) -> Vec<TokenUsage> {
        std::mem::take(&mut self.sums)
    }

    fn of(&mut self, provider: Option<&str>, model: Option<&str>) -> &mut TokenUsage {
        let known = self
            .sums
            .iter()
            .position(|sum| sum.provider.as_deref() == provider && sum.model.as_deref() == model);
        let at = known.unwrap_or_else(|| {
            let mut sum = TokenUsage::default();
            sum.provider = provider.map(str::to_owned);
            sum.model = model.map(str::to_owned);
            self.sums.push(sum);
            self.sums.len() - 1
        });
        &mut self.sums[at]
    }
}

fn add(sum: &mut Option<u64>, count: Option<u64>) {
    if let Some(count) = count {
        *sum = Some(sum.unwrap_or(0).saturating_add(count).min(MAX_COUNT));
    }
}

#[cfg(test)]
mod tests {
    use agui_iac_code::metadata::IacMetadata;
    use serde_json::value::RawValue;

    use super::*;

    fn sums(usages: &[&str]) -> String {
        let mut sum = UsageSum::default();
        for usage in usages {
            let text = format!(r#"{{"iac_code":{{"usage":{usage}}}}}"#);
            let raw: &RawValue = serde_json::from_str(&text).unwrap();
            sum.add(IacMetadata::read(raw).usage.as_deref().unwrap());
        }
        serde_json::to_string(&sum.take()).unwrap()
    }

    #[test]
    fn s5_3_counts_are_summed_per_provider_and_model() {
        let one = r#"{"provider":"p","model":"m","inputTokens":11.0,"cachedInputTokens":3.0,"outputTokens":6.0,"totalTokens":20.0}"#;
        let other = r#"{"provider":"p","model":"n","inputTokens":1,"outputTokens":2}"#;
        let cases = [
            (
                vec![one],
                r#"[{"provider":"p","model":"m","inputTokens":14,"outputTokens":6,"totalTokens":20,"cachedInputTokens":3}]"#,
            ),
            (
                vec![one, other, one],
                r#"[{"provider":"p","model":"m","inputTokens":28,"outputTokens":12,"totalTokens":40,"cachedInputTokens":6},{"provider":"p","model":"n","inputTokens":1,"outputTokens":2}]"#,
            ),
            (
                vec![r#"{"inputTokens":14,"cachedInputTokens":3,"outputTokens":6,"totalTokens":20}"#],
                r#"[{"inputTokens":14,"outputTokens":6,"totalTokens":20,"cachedInputTokens":3}]"#,
            ),
        ];
        for (usages, expected) in cases {
            assert_eq!(sums(&usages), expected);
        }
    }

    #[test]
    fn w28_negative_absurd_and_missing_counts_stay_absent() {
        let cases = [
            (r#"{"inputTokens":-1,"outputTokens":2}"#, r#"[{"outputTokens":2}]"#),
            (r#"{"inputTokens":9007199254740992,"outputTokens":2}"#, r#"[{"outputTokens":2}]"#),
            (r#"{"inputTokens":1.5,"outputTokens":"2"}"#, "[]"),
            ("{}", "[]"),
            (r#"{"provider":"p","model":"m"}"#, "[]"),
            (r#"{"outputTokens":0}"#, r#"[{"outputTokens":0}]"#),
        ];
        for (usage, expected) in cases {
            assert_eq!(sums(&[usage]), expected, "{usage}");
        }
    }

    #[test]
    fn sums_stay_exact_in_json() {
        let huge = r#"{"outputTokens":9007199254740991}"#;
        assert_eq!(sums(&[huge, huge]), r#"[{"outputTokens":9007199254740991}]"#);
    }
}
