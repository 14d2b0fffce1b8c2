//! What an agent declares about itself. Absent means undeclared, not unsupported.
//!
//! AG-UI defines the shape, not how it is fetched. Source: AG-UI 1.0, "Capabilities".

use crate::{Json, JsonObject, Tool};

record! {
    /// What an agent declares about itself.
    #[derive(Default)]
    pub struct Capabilities {
        required {}
        optional {
            /// Who the agent is.
            identity: AgentIdentity = "identity", with_identity, plain;
            /// How it can be reached.
            transport: TransportCapabilities = "transport", with_transport, plain;
            /// What it does with tools.
            tools: ToolCapabilities = "tools", with_tools, plain;
            /// What it can answer with.
            output: OutputCapabilities = "output", with_output, plain;
            /// What it does with shared state.
            state: StateCapabilities = "state", with_state, plain;
            /// Other agents behind it.
            multi_agent: MultiAgentCapabilities = "multiAgent", with_multi_agent, plain;
            /// What it shows of its reasoning.
            reasoning: ReasoningCapabilities = "reasoning", with_reasoning, plain;
            /// Media it reads and writes.
            multimodal: MultimodalCapabilities = "multimodal", with_multimodal, plain;
            /// What it executes.
            execution: ExecutionCapabilities = "execution", with_execution, plain;
            /// How people take part.
            human_in_the_loop: HumanInTheLoopCapabilities = "humanInTheLoop", with_human_in_the_loop, plain;
            /// Open keys.
            custom: JsonObject = "custom", with_custom, plain;
        }
    }
}

record! {
    /// Who an agent is.
    #[derive(Default)]
    pub struct AgentIdentity {
        required {}
        optional {
            /// Name for people.
            name: String = "name", with_name, plain;
            /// Kind of agent or framework.
            agent_type: String = "type", with_agent_type, plain;
            /// What it is for.
            description: String = "description", with_description, plain;
            /// Version of the agent.
            version: String = "version", with_version, plain;
            /// Who offers it.
            provider: String = "provider", with_provider, plain;
            /// Where it is documented.
            documentation_url: String = "documentationUrl", with_documentation_url, plain;
            /// Open keys.
            metadata: Json = "metadata", with_metadata, plain;
        }
    }
}

/// Defines a group of flags, with other members after them.
macro_rules! flags {
    (
        $(#[doc = $doc:literal])*
        $name:ident { $($(#[doc = $fdoc:literal])* $flag:ident = $key:literal, $with:ident;)* } { $($rest:tt)* }
    ) => {
        record! {
            $(#[doc = $doc])*
            #[derive(Default)]
            pub struct $name {
                required {}
                optional {
                    $($(#[doc = $fdoc])* $flag: bool = $key, $with, plain;)*
                    $($rest)*
                }
            }
        }
    };
}

flags! {
    /// How an agent can be reached.
    TransportCapabilities {
        /// Streams events.
        streaming = "streaming", with_streaming;
        /// Speaks WebSocket.
        websocket = "websocket", with_websocket;
        /// Offers the binary encoding over HTTP.
        http_binary = "httpBinary", with_http_binary;
        /// Pushes notifications.
        push_notifications = "pushNotifications", with_push_notifications;
        /// Resumes streams.
        resumable = "resumable", with_resumable;
    } {}
}

flags! {
    /// What an agent does with tools.
    ToolCapabilities {
        /// Calls tools.
        supported = "supported", with_supported;
        /// Makes several calls at a time.
        parallel_calls = "parallelCalls", with_parallel_calls;
        /// Calls tools that the client offers.
        client_provided = "clientProvided", with_client_provided;
    } {
        /// The agent's own tools.
        items: Vec<Tool> = "items", with_items, plain;
    }
}

flags! {
    /// What an agent can answer with.
    OutputCapabilities {
        /// Follows a schema.
        structured_output = "structuredOutput", with_structured_output;
    } {
        /// Media types it writes.
        supported_mime_types: Vec<String> = "supportedMimeTypes", with_supported_mime_types, plain;
    }
}

flags! {
    /// What an agent does with shared state.
    StateCapabilities {
        /// Sends snapshots.
        snapshots = "snapshots", with_snapshots;
        /// Sends deltas.
        deltas = "deltas", with_deltas;
        /// Remembers over threads.
        memory = "memory", with_memory;
        /// Keeps state over runs.
        persistent_state = "persistentState", with_persistent_state;
    } {}
}

flags! {
    /// Other agents behind an agent.
    MultiAgentCapabilities {
        /// Works with other agents.
        supported = "supported", with_supported;
        /// Delegates work.
        delegation = "delegation", with_delegation;
        /// Hands a conversation over.
        handoffs = "handoffs", with_handoffs;
    } {
        /// The other agents.
        subagents: Vec<SubagentDescription> = "subagents", with_subagents, plain;
    }
}

record! {
    /// An agent behind another one.
    pub struct SubagentDescription {
        required {
            /// Name of the agent.
            name: String = "name",
        }
        optional {
            /// What it is for.
            description: String = "description", with_description, plain;
        }
    }
}

flags! {
    /// What an agent shows of its reasoning.
    ReasoningCapabilities {
        /// Shows it.
        supported = "supported", with_supported;
        /// Shows it while it thinks.
        streaming = "streaming", with_streaming;
        /// Sends it encrypted.
        encrypted = "encrypted", with_encrypted;
    } {}
}

record! {
    /// Media that an agent reads and writes.
    #[derive(Default)]
    pub struct MultimodalCapabilities {
        required {}
        optional {
            /// What it reads.
            input: MultimodalInput = "input", with_input, plain;
            /// What it writes.
            output: MultimodalOutput = "output", with_output, plain;
        }
    }
}

flags! {
    /// Media that an agent reads.
    MultimodalInput {
        /// Images.
        image = "image", with_image;
        /// Sound.
        audio = "audio", with_audio;
        /// Video.
        video = "video", with_video;
        /// PDF documents.
        pdf = "pdf", with_pdf;
        /// Other files.
        file = "file", with_file;
    } {}
}

flags! {
    /// Media that an agent writes.
    MultimodalOutput {
        /// Images.
        image = "image", with_image;
        /// Sound.
        audio = "audio", with_audio;
    } {}
}

flags! {
    /// What an agent executes.
    ExecutionCapabilities {
        /// Runs code.
        code_execution = "codeExecution", with_code_execution;
        /// Runs it in a sandbox.
        sandboxed = "sandboxed", with_sandboxed;
    } {
        /// Most rounds of a run.
        max_iterations: u64 = "maxIterations", with_max_iterations, plain;
        /// Longest run, in milliseconds.
        max_execution_time_ms: u64 = "maxExecutionTime", with_max_execution_time_ms, plain;
    }
}

flags! {
    /// How people take part.
    HumanInTheLoopCapabilities {
        /// People take part.
        supported = "supported", with_supported;
        /// They approve actions.
        approvals = "approvals", with_approvals;
        /// They step in.
        interventions = "interventions", with_interventions;
        /// They give feedback.
        feedback = "feedback", with_feedback;
        /// The agent ends runs with interrupts.
        interrupts = "interrupts", with_interrupts;
        /// They approve with changes.
        approve_with_edits = "approveWithEdits", with_approve_with_edits;
    } {}
}
