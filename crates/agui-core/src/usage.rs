//! Token accounting.

record! {
    /// Tokens used with one model of one provider. Absent is not zero.
    ///
    /// Input and output are inclusive totals; the cached, cache-write and reasoning counts are parts
    /// of them. Source: AG-UI 1.0, "Token usage".
    #[derive(Default)]
    pub struct TokenUsage {
        required {}
        optional {
            /// The provider.
            provider: String = "provider", with_provider, plain;
            /// The model.
            model: String = "model", with_model, plain;
            /// Tokens read.
            input_tokens: u64 = "inputTokens", with_input_tokens, plain;
            /// Tokens written.
            output_tokens: u64 = "outputTokens", with_output_tokens, plain;
            /// Input and output together.
            total_tokens: u64 = "totalTokens", with_total_tokens, plain;
            /// The part of the output that was reasoning.
            reasoning_tokens: u64 = "reasoningTokens", with_reasoning_tokens, plain;
            /// The part of the input that came from a cache.
            cached_input_tokens: u64 = "cachedInputTokens", with_cached_input_tokens, plain;
            /// The part of the input that was written to a cache.
            cache_write_input_tokens: u64 = "cacheWriteInputTokens", with_cache_write_input_tokens, plain;
        }
    }
}
