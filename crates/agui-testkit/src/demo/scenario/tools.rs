//! Normal turns with tool calls and permissions.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::demo::task::Kind;
use crate::demo::turn::{Ask, End, Turn};
use crate::wire::{self, PermissionRequest, State, iac, merged};

/// What the kernel answers for a tool that the user has denied.
pub(super) const DENIED: &str = "The user explicitly denied this tool operation. Do not retry this \
    operation or perform the same action with another tool unless the user asks again.";

/// A call id that no other call has.
pub(super) fn call_id(name: &str) -> String {
    let unique = Uuid::new_v4().simple().to_string();
    format!("call_{name}_{}", &unique[..8])
}

/// A read-only tool, approved by itself.
pub(super) async fn tool(turn: &Turn) -> End {
    turn.begin();
    turn.think("I look at the workspace first.").await;
    turn.say("I list the files. ").await;
    let id = call_id("list");
    let input = json!({"path": "."});
    turn.call_tool(&id, "list_files", &input).await;
    turn.usage(&turn.message.text, "I list the files.");
    let permission = json!({
        "autoApproved": true, "toolName": "list_files", "toolUseId": id,
        "toolInput": {"path": {"type": "str", "length": 1}},
    });
    turn.status(State::Working, json!({"permission": permission}));
    turn.pause().await;
    turn.kernel.execute(&turn.ids.task_id, &id);
    let result = "main.tf\nnetwork.yaml\nREADME.md";
    turn.tool(&json!({"status": "completed", "toolUseId": id, "name": "list_files", "result": result}));
    let text = "There are three files: main.tf, network.yaml and README.md.";
    turn.say(text).await;
    turn.usage(result, text);
    End::Answered(text.to_owned())
}

/// A remote tool with progress reports.
pub(super) async fn progress(turn: &Turn) -> End {
    turn.begin();
    let id = call_id("scan");
    let name = "mcp__inventory__scan";
    turn.call_tool(&id, name, &json!({"region": "cn-hangzhou"})).await;
    turn.usage(&turn.message.text, "scan");
    for page in 1..=3 {
        turn.pause().await;
        let note = json!({"progress": page, "total": 3, "message": format!("page {page}")});
        let mcp = merged(json!({"serverName": "inventory", "toolName": "scan"}), note.clone());
        let raw = json!({
            "status": "progress", "toolUseId": id, "publicName": name,
            "originalServerName": "inventory", "originalToolName": "scan",
        });
        turn.tool(&json!({
            "status": "progress", "toolUseId": id, "name": name, "mcp": mcp, "mcpProgress": merged(raw, note),
        }));
    }
    turn.kernel.execute(&turn.ids.task_id, &id);
    let result = json!({"resources": [{"type": "vpc", "count": 1}], "pages": 3});
    turn.tool(&json!({"status": "completed", "toolUseId": id, "name": name, "result": result}));
    let text = "The scan found one VPC.";
    turn.say(text).await;
    turn.usage("scan", text);
    End::Answered(text.to_owned())
}

/// Whether the kernel can tell who has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Identity {
    Clear,
    /// The first answer is not enough.
    Doubtful,
}

/// One permission.
pub(super) async fn write(turn: &Turn, identity: Identity) -> End {
    turn.begin();
    turn.think("A file is needed, so I ask.").await;
    turn.say("I will write the file. ").await;
    let file = File::new("notes.txt", &format!("{}\n", turn.message.text));
    file.call(turn).await;
    turn.usage(&turn.message.text, "I will write the file.");
    let mut decision = file.ask(turn, wire::empty()).await;
    if identity == Identity::Doubtful {
        let problem = json!({"permissionIdentityError": {
            "code": "IDENTITY_CHANGED", "retryable": true, "inputId": file.request.input_id,
            "toolUseId": file.request.tool_use_id,
        }});
        decision = file.ask(turn, problem).await;
    }
    let text = if file.carry_out(turn, &decision).await {
        "The file notes.txt is written. (This is the demo: nothing is on the disk.)"
    } else {
        "As you wish: nothing was written."
    };
    turn.say(text).await;
    turn.usage("write_file", text);
    End::Answered(text.to_owned())
}

/// Two permissions, asked one after the other; the tools run when both are answered.
pub(super) async fn both(turn: &Turn) -> End {
    turn.begin();
    let files = [File::new("first.txt", "1\n"), File::new("second.txt", "2\n")];
    for file in &files {
        file.call(turn).await;
    }
    turn.usage(&turn.message.text, "two files");
    let mut decisions = Vec::new();
    for file in &files {
        decisions.push(file.ask(turn, wire::empty()).await);
    }
    let mut written = 0;
    for (file, decision) in files.iter().zip(&decisions) {
        written += u32::from(file.carry_out(turn, decision).await);
    }
    let text = format!("{written} of 2 files written. (This is the demo: nothing is on the disk.)");
    turn.say(&text).await;
    turn.usage("write_file", &text);
    End::Answered(text)
}

/// A file that would be written.
pub(super) struct File {
    pub(super) request: PermissionRequest,
}

impl File {
    pub(super) fn new(path: &str, content: &str) -> Self {
        Self { request: PermissionRequest::new(&call_id("write"), path, content) }
    }

    pub(super) fn input(&self) -> Value {
        json!({"path": self.request.path, "content": self.request.content})
    }

    async fn call(&self, turn: &Turn) {
        turn.call_tool(&self.request.tool_use_id, "write_file", &self.input()).await;
    }

    /// Parks the task until the permission is answered; `more` stands beside the question.
    async fn ask(&self, turn: &Turn, more: Value) -> String {
        let ids = &turn.ids;
        let request = self.request.clone().with_language(&turn.message.language);
        let input = wire::permission_input(ids, &request);
        let id = &request.tool_use_id;
        let permission =
            json!({"autoApproved": false, "pending": true, "toolName": "write_file", "toolUseId": id});
        let question = if more.get("permissionIdentityError").is_some() {
            more
        } else {
            wire::object([("input", input.clone()), ("permission", permission)])
        };
        let update = wire::status(ids, State::InputRequired, iac(ids, question));
        let (input_id, tool_use_id) = (request.input_id, request.tool_use_id);
        turn.ask(&update, Ask { kind: Kind::Permission, input_id, tool_use_id, input }).await
    }

    /// Runs the tool or reports the refusal; whether it ran.
    async fn carry_out(&self, turn: &Turn, decision: &str) -> bool {
        turn.pause().await;
        let id = &self.request.tool_use_id;
        if decision != "allow_once" {
            turn.tool(&json!({"status": "failed", "toolUseId": id, "name": "write_file", "result": DENIED}));
            return false;
        }
        turn.kernel.execute(&turn.ids.task_id, id);
        let cwd = turn.message.cwd.as_deref().unwrap_or("/workspace");
        let artifact = merged(self.artifact(), json!({"sourcePath": format!("{cwd}/{}", self.request.path)}));
        turn.send(&artifact_update(turn, &artifact));
        let result = self.result(cwd);
        turn.tool(&json!({
            "status": "completed", "toolUseId": id, "name": "write_file", "result": result,
            "artifact": artifact,
        }));
        true
    }

    pub(super) fn result(&self, cwd: &str) -> String {
        let lines = self.request.content.lines().count();
        format!("Successfully wrote {lines} lines to {cwd}/{}", self.request.path)
    }

    pub(super) fn artifact(&self) -> Value {
        let (path, content) = (&self.request.path, self.request.content.as_bytes());
        let id = Uuid::new_v4().to_string();
        let name = path.rsplit('/').next().unwrap_or(path);
        let media_type = if name.ends_with(".yml") { "text/yaml" } else { "text/plain" };
        json!({
            "artifactId": id, "filename": name, "mediaType": media_type, "byteSize": content.len(),
            "sha256": wire::hex(&Sha256::digest(content)), "uri": format!("iac-code-artifact://{id}/{name}"),
        })
    }
}

/// The update that shows a file as an artifact of the task.
pub(super) fn artifact_update(turn: &Turn, artifact: &Value) -> Value {
    let keys = ["byteSize", "mediaType", "sha256", "sourcePath", "uri"];
    let known = keys.iter().filter_map(|key| Some(((*key).to_owned(), artifact.get(*key)?.clone())));
    let metadata = Value::Object(known.collect());
    let mut wrapped = json!({
        "artifactId": artifact["artifactId"], "name": artifact["filename"], "metadata": metadata,
        "parts": [{
            "url": artifact["uri"], "filename": artifact["filename"], "mediaType": artifact["mediaType"],
            "metadata": metadata,
        }],
    });
    wire::doubles(&mut wrapped);
    wire::artifact(&turn.ids, wrapped)
}
