//! The input of a run, which its first event may repeat.

use super::Opaque;
use super::message::Message;

mirror! {
    RunAgentInput {
        thread_id: String = "threadId" text [string, tag = "1"],
        run_id: String = "runId" text [string, tag = "2"],
        parent_run_id: Option<String> = "parentRunId" maybe_text [string, optional, tag = "3"],
        state: Opaque = "state" value [bytes = "vec", repeated, tag = "4"],
        messages: Vec<Message> = "messages" array [message, repeated, tag = "5"],
        tools: Vec<Tool> = "tools" array [message, repeated, tag = "6"],
        context: Vec<Context> = "context" array [message, repeated, tag = "7"],
        forwarded_props: Opaque = "forwardedProps" value [bytes = "vec", repeated, tag = "8"],
        resume: Vec<ResumeEntry> = "resume" array [message, repeated, tag = "9"],
        protocol_version: Option<String> = "protocolVersion" maybe_text [string, optional, tag = "10"],
    }
}

mirror! {
    Tool {
        name: String = "name" text [string, tag = "1"],
        description: String = "description" text [string, tag = "2"],
        parameters: Opaque = "parameters" value [bytes = "vec", repeated, tag = "3"],
        metadata: Opaque = "metadata" object [bytes = "vec", repeated, tag = "4"],
    }
}

mirror! {
    Context {
        description: String = "description" text [string, tag = "1"],
        value: String = "value" text [string, tag = "2"],
    }
}

mirror! {
    ResumeEntry {
        interrupt_id: String = "interruptId" text [string, tag = "1"],
        status: String = "status" text [string, tag = "2"],
        payload: Opaque = "payload" value [bytes = "vec", repeated, tag = "3"],
        metadata: Opaque = "metadata" object [bytes = "vec", repeated, tag = "4"],
    }
}
