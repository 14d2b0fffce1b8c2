//! The document of `GET /health` (S1.1).

use agui_core::PROTOCOL_VERSION;
use agui_host::{KernelChoice, Status};
use agui_transport::Health;
use serde::Serialize;
use tokio::sync::watch;

/// Version of A2A that the adapter speaks to its kernel.
const EXECUTION_KERNEL: &str = "a2a-1.0";

/// The same where the agent's card says the version.
const ANY_AGENT: &str = "a2a";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    status: &'static str,
    protocol: &'static str,
    protocol_package_version: &'static str,
    execution_kernel: &'static str,
    server_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<serde_json::Value>,
}

/// What the server says of itself; of the kernel too when it is managed here.
pub(crate) fn document(choice: &KernelChoice, kernel: Option<&watch::Receiver<Status>>) -> Health {
    Health::ok(&Document {
        status: "ok",
        protocol: "ag-ui",
        protocol_package_version: PROTOCOL_VERSION,
        execution_kernel: match choice {
            KernelChoice::Agent(_) => ANY_AGENT,
            _ => EXECUTION_KERNEL,
        },
        server_version: env!("CARGO_PKG_VERSION"),
        kernel: kernel.map(|status| status.borrow().to_json()),
    })
}
