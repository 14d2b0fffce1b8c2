//! What a profile reads in `forwardedProps`, and what of it binds a thread.

use std::path::PathBuf;

use agui_core::Json;
use agui_iac_code::{ErrorNotice, IacCodeProps, MessageKey, RunMode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::config::Profile;
use crate::workspace::{Workspace, WorkspaceError};

/// Stands in records where those of iac-code have a workspace and an invocation. It is no absolute path, so a
/// thread of one profile is never taken for one of the other.
const NOT_IAC_CODE: &str = "a2a";

/// What a request asks for beside its message.
#[derive(Debug)]
pub(crate) enum Terms {
    /// The extension of the iac-code kernel (S3).
    IacCode {
        props: Box<IacCodeProps>,
        /// Checked by [`Terms::check_workspace`].
        workspace: Option<Workspace>,
    },
    /// Any agent: nothing has to be said.
    Generic(Hints),
}

/// What a client may say to an agent of any make, under `forwardedProps.a2a`.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Media types that the client can show; empty leaves it to the agent.
    pub(crate) accepted_output_modes: Vec<String>,
    /// Metadata of the message, for extensions of the agent.
    pub(crate) metadata: Option<Box<RawValue>>,
}

impl Terms {
    /// Reads what the profile knows.
    pub(crate) fn read(profile: Profile, forwarded: Option<&Json>) -> Result<Self, ErrorNotice> {
        match profile {
            Profile::IacCode => {
                let props = IacCodeProps::decode(forwarded.map(Json::get));
                let props = Box::new(props.map_err(|error| ErrorNotice::from(&error))?);
                Ok(Self::IacCode { props, workspace: None })
            }
            Profile::Generic => Hints::read(forwarded).map(Self::Generic),
        }
    }

    /// Checks what has to fit together.
    pub(crate) fn check(&self) -> Result<(), ErrorNotice> {
        match self {
            Self::IacCode { props, .. }
                if props.is_guidance() && props.run_mode != Some(RunMode::Pipeline) =>
            {
                let pointer = "/forwardedProps/iacCode/runMode";
                Err(ErrorNotice::field(MessageKey::InputGuidance, pointer, "not-allowed"))
            }
            _ => Ok(()),
        }
    }

    /// Resolves the workspace, if there is one; reads the file system.
    pub(crate) fn check_workspace(&mut self, roots: &[PathBuf]) -> Result<(), WorkspaceError> {
        if let Self::IacCode { props, workspace } = self {
            *workspace = Some(Workspace::check(&props.cwd, roots)?);
        }
        Ok(())
    }

    /// The language that the client asks for.
    pub(crate) fn preferred_language(&self) -> Option<&str> {
        match self {
            Self::IacCode { props, .. } => props.preferred_language.as_deref(),
            Self::Generic(_) => None,
        }
    }

    /// Whether the message is for the task that runs.
    pub(crate) fn is_guidance(&self) -> bool {
        match self {
            Self::IacCode { props, .. } => props.is_guidance(),
            Self::Generic(_) => false,
        }
    }

    /// Who may resume and cancel the execution (S3.1).
    pub(crate) fn invocation_id(&self) -> &str {
        match self {
            Self::IacCode { props, .. } => &props.ros_invocation_id,
            Self::Generic(_) => NOT_IAC_CODE,
        }
    }

    /// The requester that a thread is bound to (S3.2).
    pub(crate) fn user_id(&self) -> Option<&str> {
        match self {
            Self::IacCode { props, .. } => props.user_id.as_deref(),
            Self::Generic(_) => None,
        }
    }

    /// The workspace that a thread is bound to (S3.2).
    pub(crate) fn cwd(&self) -> &str {
        self.workspace().map_or(NOT_IAC_CODE, Workspace::as_str)
    }

    pub(crate) const fn workspace(&self) -> Option<&Workspace> {
        match self {
            Self::IacCode { workspace, .. } => workspace.as_ref(),
            Self::Generic(_) => None,
        }
    }
}

impl Hints {
    fn read(forwarded: Option<&Json>) -> Result<Self, ErrorNotice> {
        #[derive(Deserialize)]
        struct Props<'a> {
            #[serde(borrow, default)]
            a2a: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Members<'a> {
            #[serde(borrow, default)]
            accepted_output_modes: Option<&'a RawValue>,
            #[serde(borrow, default)]
            metadata: Option<&'a RawValue>,
        }

        // What others forward is theirs: any value is fine.
        let given = forwarded.and_then(|forwarded| serde_json::from_str::<Props<'_>>(forwarded.get()).ok());
        let Some(a2a) = given.and_then(|props| props.a2a) else { return Ok(Self::default()) };
        let wrong = |pointer| ErrorNotice::field(MessageKey::FieldProblem, pointer, "wrong-type");
        let members: Members<'_> =
            serde_json::from_str(a2a.get()).map_err(|_| wrong("/forwardedProps/a2a"))?;
        let modes = members.accepted_output_modes.map(|modes| serde_json::from_str(modes.get()));
        let modes = modes.transpose().map_err(|_| wrong("/forwardedProps/a2a/acceptedOutputModes"))?;
        let metadata = members.metadata.filter(|metadata| metadata.get().starts_with('{'));
        if metadata.is_none() && members.metadata.is_some() {
            return Err(wrong("/forwardedProps/a2a/metadata"));
        }
        let metadata = metadata.map(ToOwned::to_owned);
        Ok(Self { accepted_output_modes: modes.unwrap_or_default(), metadata })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(forwarded: &str) -> Result<String, ErrorNotice> {
        let forwarded = Json::from_string(forwarded.to_owned()).unwrap();
        let Terms::Generic(hints) = Terms::read(Profile::Generic, Some(&forwarded))? else {
            panic!("another profile")
        };
        let metadata = hints.metadata.map(|metadata| metadata.get().to_owned()).unwrap_or_default();
        Ok(format!("{} {metadata}", hints.accepted_output_modes.join(",")))
    }

    #[test]
    fn whatever_is_forwarded_is_fine_for_an_agent_of_any_make() {
        for forwarded in
            ["null", "7", "[]", "{}", r#"{"iacCode":3}"#, r#"{"a2a":null}"#, r#"{"a2a":{"x":1}}"#]
        {
            assert_eq!(read(forwarded).unwrap(), " ", "{forwarded}");
        }
        assert!(matches!(Terms::read(Profile::Generic, None), Ok(Terms::Generic(_))));
        let hints = r#"{"a2a":{"acceptedOutputModes":["text/plain","image/png"],"metadata":{"n":1.0}}}"#;
        assert_eq!(read(hints).unwrap(), r#"text/plain,image/png {"n":1.0}"#);
    }

    #[test]
    fn hints_of_another_type_are_refused_with_their_place() {
        for (forwarded, pointer) in [
            (r#"{"a2a":7}"#, "/forwardedProps/a2a"),
            (r#"{"a2a":{"acceptedOutputModes":"text/plain"}}"#, "/forwardedProps/a2a/acceptedOutputModes"),
            (r#"{"a2a":{"metadata":[]}}"#, "/forwardedProps/a2a/metadata"),
        ] {
            let expected = ErrorNotice::field(MessageKey::FieldProblem, pointer, "wrong-type");
            assert_eq!(read(forwarded), Err(expected), "{forwarded}");
        }
    }
}
