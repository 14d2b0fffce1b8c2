//! Talks to any AG-UI agent: `cargo run -p agui-examples --bin chat -- http://127.0.0.1:8000/`.
//!
//! Reads a line, shows what the agent says, thinks, calls and changes, and asks when the agent asks.
#![expect(clippy::print_stdout, reason = "it talks to a person")]

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use agui_client::{AgentConfig, Conversation, HttpAgent, RunEnd};
use agui_core::{Event, Interrupt, Json, UnixMillis};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:8000/".to_owned());
    let mut config = AgentConfig::new(url);
    if let Ok(token) = std::env::var("AGUI_TOKEN") {
        config = config.with_bearer(&token);
    }
    let agent = HttpAgent::new(config)?;
    let began = now();
    let mut thread = Conversation::new(format!("chat-{}", began.as_u64()));
    let mut runs = 0;
    while let Some(line) = read("\nyou> ")? {
        thread.say(format!("user-{runs}"), line);
        loop {
            runs += 1;
            let turn = agent.converse(&mut thread, format!("run-{runs}"), now(), |event, _| show(event));
            match turn.await? {
                RunEnd::Interrupted { interrupts } => {
                    for interrupt in &interrupts {
                        answer(&mut thread, interrupt)?;
                    }
                }
                RunEnd::Failed(error) => {
                    println!("\n[failed: {}]", error.message);
                    break;
                }
                _ => break,
            }
        }
    }
    Ok(())
}

fn show(event: &Event) {
    match event {
        Event::TextMessageContent(content) => print!("{}", content.delta),
        Event::ReasoningMessageContent(content) => print!("\x1b[2m{}\x1b[0m", content.delta),
        Event::ToolCallStart(start) => print!("\n[{} ", start.tool_call_name),
        Event::ToolCallArgs(args) => print!("{}", args.delta),
        Event::ToolCallEnd(_) => println!("]"),
        Event::ToolCallResult(result) => println!("[= {}]", result.content.to_text()),
        Event::StateSnapshot(snapshot) => println!("[state {}]", snapshot.snapshot.get()),
        Event::StateDelta(delta) => println!("[state, {} change(s)]", delta.delta.len()),
        _ => {}
    }
    // A terminal that is gone is noticed when the next line is read.
    let _ = io::stdout().flush();
}

fn answer(thread: &mut Conversation, interrupt: &Interrupt) -> Result<(), Box<dyn Error>> {
    let question = interrupt.message.as_deref().unwrap_or(&interrupt.reason);
    let said = read(&format!("{question} [y/n, JSON, or nothing to leave it] "))?.unwrap_or_default();
    let payload = match said.as_str() {
        "" => return Ok(thread.abandon(&interrupt.id)?),
        "y" => r#"{"approved":true}"#,
        "n" => r#"{"approved":false}"#,
        json => json,
    };
    thread.resolve(&interrupt.id, Some(Json::from_string(payload.to_owned())?))?;
    Ok(())
}

fn read(prompt: &str) -> io::Result<Option<String>> {
    print!("{prompt}");
    io::stdout().flush()?;
    let mut line = String::new();
    let length = io::stdin().lock().read_line(&mut line)?;
    Ok((length > 0).then(|| line.trim().to_owned()))
}

fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis::new(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
