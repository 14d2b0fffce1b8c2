//! Every example does what it says.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;
use std::sync::Arc;

use agui_client::{AgentConfig, Conversation, HttpAgent, RunEnd, Seen};
use agui_core::{Agent, Json, Message, UnixMillis};
use agui_transport::{CancellationToken, Server, ServerBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The examples themselves; the tests start their agents on free ports.
macro_rules! example {
    ($name:ident, $path:literal) => {
        #[path = $path]
        #[expect(dead_code, reason = "what only the program itself needs")]
        mod $name;
    };
}

example!(approval, "../../src/bin/approval.rs");
example!(axum_app, "../../src/bin/axum_app.rs");
example!(behind_agentcore, "../../src/bin/behind_agentcore.rs");
example!(echo, "../../src/bin/echo.rs");
example!(tools_and_state, "../../src/bin/tools_and_state.rs");

const NOW: UnixMillis = UnixMillis::new(1_800_000_000_000);

async fn listening(builder: ServerBuilder) -> SocketAddr {
    let server = builder.bind((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
    let addr = server.local_addr();
    tokio::spawn(server.serve(CancellationToken::new()));
    addr
}

async fn client_of(agent: impl Agent) -> HttpAgent {
    let addr = listening(Server::builder(Arc::new(agent))).await;
    HttpAgent::new(AgentConfig::new(format!("http://{addr}/"))).unwrap()
}

/// Says something and gives the types of the events and how the run ends.
async fn turn(
    client: &HttpAgent,
    thread: &mut Conversation,
    said: Option<&str>,
    run: &str,
) -> (Vec<String>, RunEnd) {
    if let Some(text) = said {
        thread.say(format!("said-{run}"), text);
    }
    let mut seen = Vec::new();
    let note = |told: Seen<'_>, _: &Conversation| match told {
        Seen::Event(event) => seen.push(event.event_type().to_string()),
        told => unreachable!("a good agent gives nothing to note: {told:?}"),
    };
    let end = client.converse(thread, run, NOW, note).await.unwrap();
    (seen, end)
}

/// The text of the last message of the assistant.
fn answer(thread: &Conversation) -> String {
    let mut texts = thread.messages().iter().filter_map(|message| match message {
        Message::Assistant(message) => message.content.clone(),
        _ => None,
    });
    texts.next_back().unwrap_or_default()
}

fn results(thread: &Conversation) -> Vec<String> {
    let results = thread.messages().iter().filter_map(|message| match message {
        Message::Tool(message) => Some(message.content.to_text().into_owned()),
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn echo_says_what_was_said_in_pieces() {
    let client = client_of(echo::Echo).await;
    let mut thread = Conversation::new("t");
    let (seen, end) = turn(&client, &mut thread, Some("one two three"), "r1").await;
    assert_eq!(answer(&thread), "one two three");
    assert_eq!(seen.iter().filter(|name| *name == "TEXT_MESSAGE_CONTENT").count(), 3);
    assert!(matches!(end, RunEnd::Success { .. }));
    assert!(include_str!("../../src/bin/echo.rs").lines().count() < 40, "it is the short one");
}

#[tokio::test]
async fn the_list_grows_from_turn_to_turn() {
    let client = client_of(tools_and_state::Shopper).await;
    let mut thread = Conversation::new("t");
    let wanted = "milk, bread, butter, cheese, apples, pears and flour";
    let (first, _) = turn(&client, &mut thread, Some(wanted), "r1").await;
    let mut items = vec!["milk", "bread", "butter", "cheese", "apples", "pears", "flour"];
    assert_eq!(thread.state().parse::<Value>().unwrap(), json!({ "items": items }));
    for form in ["STATE_SNAPSHOT", "STATE_DELTA"] {
        assert!(first.iter().any(|name| name == form), "{form} in {first:?}");
    }
    turn(&client, &mut thread, Some("eggs"), "r2").await;
    items.push("eggs");
    assert_eq!(thread.state().parse::<Value>().unwrap(), json!({ "items": items }));
    assert_eq!(results(&thread).last().unwrap(), "8 on the list");
    assert_eq!(answer(&thread), "The list has 8 items.");
}

#[tokio::test]
async fn nothing_is_deleted_without_a_yes() {
    let client = client_of(approval::Careful).await;
    let refused = "not deleted: the user said no";
    for (payload, result) in
        [(Some(r#"{"approved":true}"#), "deleted"), (Some(r#"{"approved":false}"#), refused), (None, refused)]
    {
        let mut thread = Conversation::new("t");
        let (_, asked) = turn(&client, &mut thread, Some("notes.txt"), "r1").await;
        let RunEnd::Interrupted { interrupts } = asked else { unreachable!("{asked:?}") };
        assert_eq!(interrupts[0].message.as_deref(), Some("Delete notes.txt?"));
        let id = &interrupts[0].id;
        match payload {
            Some(json) => thread.resolve(id, Some(Json::from_string(json.to_owned()).unwrap())),
            None => thread.abandon(id),
        }
        .unwrap();
        let (_, end) = turn(&client, &mut thread, None, "r2").await;
        assert!(matches!(end, RunEnd::Success { .. }));
        assert_eq!(results(&thread), [result]);
    }
}

#[tokio::test]
async fn the_clerk_of_the_application_answers() {
    let client = client_of(axum_app::Clerk).await;
    let mut thread = Conversation::new("t");
    turn(&client, &mut thread, Some("hello"), "r1").await;
    assert_eq!(answer(&thread), "How can I help you?");
}

#[tokio::test]
async fn the_container_keeps_the_contract_of_its_platform() {
    let addr = listening(behind_agentcore::server()).await;
    let ping = exchange(addr, "GET /ping HTTP/1.1", "").await;
    assert!(
        ping.starts_with("HTTP/1.1 200") && ping.contains(r#"{"status":"Healthy","time_of_last_update":"#),
        "{ping}"
    );

    let config = AgentConfig::new(format!("http://{addr}/invocations"));
    let mut thread = Conversation::new("t");
    turn(&HttpAgent::new(config).unwrap(), &mut thread, Some("hello"), "r1").await;
    assert_eq!(answer(&thread), "Hello from the container.");

    // What is refused is an event stream all the same.
    let refused = exchange(addr, "POST /invocations HTTP/1.1", "{}").await;
    assert!(
        refused.starts_with("HTTP/1.1 200")
            && refused.contains(r#"data: {"type":"RUN_ERROR","code":"VALIDATION_ERROR""#),
        "{refused}"
    );
    assert!(refused.contains("x-amzn-requestid: "), "{refused}");
}

/// Sends a request on a connection of its own and reads the whole answer.
async fn exchange(addr: SocketAddr, line: &str, body: &str) -> String {
    let mut socket = TcpStream::connect(addr).await.unwrap();
    let head = format!(
        "{line}\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer
}

/// What `chat` shows to somebody who types this.
async fn chat(addr: SocketAddr, typed: &str) -> String {
    let mut chat = tokio::process::Command::new(env!("CARGO_BIN_EXE_chat"))
        .arg(format!("http://{addr}/"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = chat.stdin.take().unwrap();
    input.write_all(typed.as_bytes()).await.unwrap();
    drop(input);
    let output = chat.wait_with_output().await.unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn the_terminal_client_shows_what_comes_and_asks_what_is_asked() {
    let addr = listening(Server::builder(Arc::new(approval::Careful))).await;
    let shown = chat(addr, "notes.txt\ny\n").await;
    for expected in
        [r#"[delete_file {"path":"notes.txt"}]"#, "Delete notes.txt?", "[= deleted]", "Done as you said."]
    {
        assert!(shown.contains(expected), "{expected} in {shown}");
    }
}

#[tokio::test]
async fn the_terminal_client_hands_no_escape_sequence_to_the_terminal() {
    // Both agents repeat what the user says: as text, and as a question.
    let said = "a\u{1b}]52;c;cm0gLXJmIH4=\u{7}\u{9b}2J\u{202e}b";
    let echo = listening(Server::builder(Arc::new(echo::Echo))).await;
    let careful = listening(Server::builder(Arc::new(approval::Careful))).await;
    for (addr, typed) in [(echo, format!("{said}\n")), (careful, format!("{said}\nn\n"))] {
        let shown = chat(addr, &typed).await;
        assert!(shown.contains("a\u{fffd}]52;c;cm0gLXJmIH4=\u{fffd}\u{fffd}2J\u{fffd}b"), "{shown:?}");
        let harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert_eq!(shown.chars().find(|c| harmful(*c)), None, "{shown:?}");
    }
}
