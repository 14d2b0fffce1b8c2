//! What a request leaves out and iac-code asks for: `forwardedProps.iacCode`.

use std::path::PathBuf;
use std::sync::Arc;

use agui_core::{Agent, BoxFuture, Json, Problem, RunRequest, RunStream};
use bytes::Bytes;
use serde_json::value::{RawValue, to_raw_value};

use crate::members::Members;
use crate::session;

/// Where the extension is, and its name inside.
const PROPS: &str = "forwardedProps";
pub(crate) const IAC_CODE: &str = "iacCode";

/// What is filled in.
#[derive(Debug, Clone)]
pub(crate) struct Defaults {
    /// The directory with one directory for each session.
    pub(crate) workspace_root: PathBuf,
    /// The session of requests that name none. It stays the same over restarts, because a thread is bound
    /// to its directory and to its requester: a client that names no session finds both again.
    pub(crate) session: Box<str>,
    /// More members of the extension, a JSON object.
    pub(crate) props: Box<str>,
}

/// An agent whose requests need not have the extension, or not all of it: `schemaVersion`,
/// `rosInvocationId` (the session) and `cwd` (the session's directory) come from the session, other
/// members from the configuration. What is there stays as it is, digits and unknown members included.
pub(crate) struct Fill {
    agent: Arc<dyn Agent>,
    defaults: Defaults,
}

impl Fill {
    pub(crate) fn new(agent: Arc<dyn Agent>, defaults: Defaults) -> Self {
        Self { agent, defaults }
    }

    /// The request with what it left out.
    fn complete(&self, mut request: RunRequest) -> Result<RunRequest, Problem> {
        let session = session::session_of(&request)?.unwrap_or(&self.defaults.session);
        let forwarded = request.input.forwarded_props.as_ref().map(Json::get);
        match self.filled(session, forwarded) {
            Some(props) => {
                request.body = with_props(&request.body, &props).unwrap_or(request.body);
                request.input.forwarded_props = Some(Json::from(props));
                Ok(request)
            }
            // Nothing is missing, or what is there is not what it should be: the agent tells.
            None => Ok(request),
        }
    }

    /// `forwardedProps` with a whole extension; `None` if nothing has to be changed.
    fn filled(&self, session: &str, forwarded: Option<&str>) -> Option<Box<RawValue>> {
        let mut props = match forwarded {
            None | Some("null") => Members::none(),
            Some(text) => Members::read(text)?,
        };
        let before = props.given(IAC_CODE).map(RawValue::get).unwrap_or("{}").to_owned();
        let mut extension = Members::read(&before)?;
        let own = self.own(session)?;
        let own = Members::read(own.get())?;
        let configured = Members::read(&self.defaults.props)?;
        extension.complete_with(&own);
        extension.complete_with(&configured);
        let after = extension.to_json().ok()?;
        if after.get() == before {
            return None;
        }
        props.set(IAC_CODE, after);
        props.to_json().ok()
    }

    /// The members that depend on the session.
    fn own(&self, session: &str) -> Option<Box<RawValue>> {
        #[derive(serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Own<'a> {
            schema_version: u8,
            ros_invocation_id: &'a str,
            cwd: &'a str,
        }

        let cwd = self.defaults.workspace_root.join(session);
        to_raw_value(&Own { schema_version: 1, ros_invocation_id: session, cwd: cwd.to_str()? }).ok()
    }
}

/// The body with other properties and everything else as it came.
fn with_props(body: &Bytes, props: &RawValue) -> Option<Bytes> {
    let mut members = Members::read(std::str::from_utf8(body).ok()?)?;
    members.set(PROPS, props.to_owned());
    let json: Box<str> = members.to_json().ok()?.into();
    Some(Bytes::from(String::from(json)))
}

impl Agent for Fill {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move { self.agent.run(self.complete(request)?).await })
    }
}

#[cfg(test)]
mod tests {
    use agui_core::RunAgentInput;

    use super::*;

    struct Nobody;

    impl Agent for Nobody {
        fn run(&self, _: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
            Box::pin(async { Err(Problem::new(500, "X", "")) })
        }
    }

    fn fill(body: &str, session: Option<&str>) -> Result<RunRequest, Problem> {
        let defaults = Defaults {
            workspace_root: "/w".into(),
            session: "local".into(),
            props: r#"{"preferredLanguage":"de"}"#.into(),
        };
        let body = Bytes::from(body.to_owned());
        let mut request = RunRequest::new(RunAgentInput::decode(&body).unwrap(), body);
        if let Some(session) = session {
            request = request.with_header(session::SESSION_HEADER, session);
        }
        Fill::new(Arc::new(Nobody), defaults).complete(request)
    }

    fn filled(body: &str, session: Option<&str>) -> String {
        let request = fill(body, session).unwrap();
        let text = std::str::from_utf8(&request.body).unwrap().to_owned();
        let reread = RunAgentInput::decode(text.as_bytes()).unwrap();
        assert_eq!(reread, request.input, "body and input say the same");
        text
    }

    #[test]
    fn what_is_missing_comes_from_the_session_and_the_configuration() {
        let cases = [
            (
                r#"{"threadId":"t","runId":"r","messages":[]}"#,
                Some("s-1"),
                r#"{"threadId":"t","runId":"r","messages":[],"forwardedProps":{"iacCode":{"schemaVersion":1,"rosInvocationId":"s-1","cwd":"/w/s-1","preferredLanguage":"de"}}}"#,
            ),
            (
                r#"{"threadId":"t","forwardedProps":{},"runId":"r","messages":[],"state":{"n":1.50}}"#,
                None,
                r#"{"threadId":"t","forwardedProps":{"iacCode":{"schemaVersion":1,"rosInvocationId":"local","cwd":"/w/local","preferredLanguage":"de"}},"runId":"r","messages":[],"state":{"n":1.50}}"#,
            ),
            (
                r#"{"threadId":"t","runId":"r","messages":[],"forwardedProps":{"big":12345678901234567890123,"iacCode":{"cwd":"/mine","x":1.0,"preferredLanguage":null}}}"#,
                Some("s"),
                r#"{"threadId":"t","runId":"r","messages":[],"forwardedProps":{"big":12345678901234567890123,"iacCode":{"cwd":"/mine","x":1.0,"preferredLanguage":"de","schemaVersion":1,"rosInvocationId":"s"}}}"#,
            ),
        ];
        for (body, session, expected) in cases {
            assert_eq!(filled(body, session), expected);
        }
    }

    #[test]
    fn what_is_whole_or_wrong_is_left_alone() {
        for props in [
            r#"{"iacCode":{"schemaVersion":1,"rosInvocationId":"i","cwd":"/c","preferredLanguage":"fr"}}"#,
            r#""text""#,
            r#"{"iacCode":[]}"#,
        ] {
            let body = format!(r#"{{ "threadId":"t","runId":"r","messages":[],"forwardedProps":{props} }}"#);
            assert_eq!(fill(&body, Some("s")).unwrap().body, body.as_bytes());
        }
    }

    #[test]
    fn a_session_id_that_leads_elsewhere_is_refused_and_not_shown() {
        let body = r#"{"threadId":"t","runId":"r","messages":[]}"#;
        for id in ["../../etc", "a/b", ".", ".hidden"] {
            let problem = fill(body, Some(id)).unwrap_err();
            assert_eq!((problem.status, &*problem.code), (400, "VALIDATION_ERROR"));
            assert!(!problem.message.contains(id) || id == ".", "{}", problem.message);
        }
    }
}
