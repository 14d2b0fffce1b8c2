//! The names of the token of the caller's workload identity.

use std::sync::Arc;

use agui_core::{Agent, BoxFuture, Problem, RunRequest, RunStream};

/// Headers with the token, best first: the platform was seen to use all of these names, and agents read one
/// or the other.
pub(crate) const WORKLOAD_TOKEN_HEADERS: [&str; 3] = [
    "x-amzn-bedrock-agentcore-runtime-workload-accesstoken",
    "x-amz-bedrock-agentcore-identity-wat",
    "workloadaccesstoken",
];

/// An agent that finds the token under each name if it came under any.
pub(crate) struct TokenAliases(pub(crate) Arc<dyn Agent>);

impl Agent for TokenAliases {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        self.0.run(with_aliases(request))
    }
}

fn with_aliases(mut request: RunRequest) -> RunRequest {
    let token = WORKLOAD_TOKEN_HEADERS.iter().find_map(|name| request.header(name)).map(Box::<str>::from);
    if let Some(token) = token {
        for name in WORKLOAD_TOKEN_HEADERS {
            if request.header(name).is_none() {
                request = request.with_header(name, token.clone());
            }
        }
    }
    request
}
