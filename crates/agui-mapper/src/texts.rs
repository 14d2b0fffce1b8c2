//! Texts of interrupts that the kernel gives no text for.

/// Default texts, in the language of the request; the caller fills them from its catalogue.
///
/// ```
/// use agui_mapper::{MapperConfig, Texts};
///
/// let mut texts = Texts::new();
/// texts.permission_required = "Autorisation requise".to_owned();
/// let config = MapperConfig::new("thread", "run", "execution", "invocation", "C1").with_texts(texts);
/// # drop(config);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Texts {
    /// A permission without prompt and title.
    pub permission_required: String,
    /// Any other question without a prompt.
    pub input_required: String,
    /// A choice among candidates without a prompt.
    pub candidate_selection: String,
    /// A resource selection without a prompt.
    pub resource_selection: String,
    /// A deployment that waits for a yes.
    pub deployment_confirmation: String,
    /// A pipeline that stopped and asks whether to go on.
    pub pause_confirmation: String,
    /// A pipeline that a backup holds back.
    pub backup_blocked: String,
    /// The user has to sign in somewhere.
    pub auth_required: String,
    /// The answer of a user who has signed in; shown as a choice and sent as text.
    pub auth_done: String,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            permission_required: "Permission required".to_owned(),
            input_required: "Input required".to_owned(),
            candidate_selection: "Choose one of the plans".to_owned(),
            resource_selection: "Choose a cloud resource".to_owned(),
            deployment_confirmation: "Confirm the deployment".to_owned(),
            pause_confirmation: "The pipeline is paused. How shall it go on?".to_owned(),
            backup_blocked: "The pipeline waits for a backup. How shall it go on?".to_owned(),
            auth_required: "Sign in to continue".to_owned(),
            auth_done: "Signed in, continue".to_owned(),
        }
    }
}

impl Texts {
    /// The English texts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
