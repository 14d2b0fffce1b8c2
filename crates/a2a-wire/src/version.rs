/// An A2A protocol version that requests can be written for.
///
/// Example: see [`SendMessage`](crate::SendMessage).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// 1.0: PascalCase methods, member names as discriminators, ProtoJSON enums.
    #[default]
    V1_0,
    /// 0.3: slash methods, `kind` members, lower-case enums.
    V0_3,
}

impl ProtocolVersion {
    /// Value of the `A2A-Version` header.
    ///
    /// Source: A2A 1.0, "Service parameters"; an absent header means 0.3.
    #[must_use]
    pub const fn header_value(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V0_3 => "0.3",
        }
    }

    /// The tenant, where this version has tenants.
    pub(crate) const fn tenant(self, tenant: Option<&str>) -> Option<&str> {
        match self {
            Self::V1_0 => tenant,
            Self::V0_3 => None,
        }
    }
}

/// A JSON-RPC method that this crate writes requests for.
///
/// Source: A2A 1.0 and 0.3, method names of the JSON-RPC binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Send a message, wait for the answer.
    SendMessage,
    /// Send a message, receive updates as they happen.
    SendStreamingMessage,
    /// Read a task.
    GetTask,
    /// Ask for a task to be canceled.
    CancelTask,
    /// Receive the updates of a task that runs already.
    SubscribeToTask,
    /// Read the tasks of a conversation; 1.0 only, where 0.3 gets a name that no server knows.
    ListTasks,
}

impl Method {
    /// The method's name on the wire.
    #[must_use]
    pub const fn name(self, version: ProtocolVersion) -> &'static str {
        match (self, version) {
            (Self::SendMessage, ProtocolVersion::V1_0) => "SendMessage",
            (Self::SendMessage, ProtocolVersion::V0_3) => "message/send",
            (Self::SendStreamingMessage, ProtocolVersion::V1_0) => "SendStreamingMessage",
            (Self::SendStreamingMessage, ProtocolVersion::V0_3) => "message/stream",
            (Self::GetTask, ProtocolVersion::V1_0) => "GetTask",
            (Self::GetTask, ProtocolVersion::V0_3) => "tasks/get",
            (Self::CancelTask, ProtocolVersion::V1_0) => "CancelTask",
            (Self::CancelTask, ProtocolVersion::V0_3) => "tasks/cancel",
            (Self::SubscribeToTask, ProtocolVersion::V1_0) => "SubscribeToTask",
            (Self::SubscribeToTask, ProtocolVersion::V0_3) => "tasks/resubscribe",
            (Self::ListTasks, ProtocolVersion::V1_0) => "ListTasks",
            (Self::ListTasks, ProtocolVersion::V0_3) => "tasks/list",
        }
    }
}
