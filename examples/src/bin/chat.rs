//! Talks to any AG-UI agent: `cargo run -p agui-examples --bin chat -- http://127.0.0.1:8000/`.
//!
//! Reads a line, shows what the agent says, thinks, calls and changes, and asks when the agent asks.
#![expect(clippy::print_stdout, reason = "it talks to a person")]

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::SystemTime;

use agui_client::{AgentConfig, Conversation, HttpAgent, RunEnd, Seen};
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
            let turn = agent.converse(&mut thread, format!("run-{runs}"), now(), |seen, _| show(seen));
            match turn.await? {
                RunEnd::Interrupted { interrupts } => {
                    for interrupt in &interrupts {
                        answer(&mut thread, interrupt)?;
                    }
                }
                RunEnd::Failed(error) => {
                    println!("\n[failed: {}]", harmless(&error.message));
                    break;
                }
                _ => break,
            }
        }
    }
    Ok(())
}

fn show(seen: Seen<'_>) {
    match seen {
        Seen::Event(event) => show_event(event),
        Seen::Warning(warning) => println!("\n[warning: {}]", harmless(&warning.to_string())),
        Seen::Note(note) => println!("\n[note: {}]", harmless(&note.to_string())),
        _ => {}
    }
    // A terminal that is gone is noticed when the next line is read.
    let _ = io::stdout().flush();
}

fn show_event(event: &Event) {
    match event {
        Event::TextMessageContent(content) => print!("{}", harmless(&content.delta)),
        Event::ReasoningMessageContent(content) => print!("\x1b[2m{}\x1b[0m", harmless(&content.delta)),
        Event::ToolCallStart(start) => print!("\n[{} ", harmless(&start.tool_call_name)),
        Event::ToolCallArgs(args) => print!("{}", harmless(&args.delta)),
        Event::ToolCallEnd(_) => println!("]"),
        Event::ToolCallResult(result) => println!("[= {}]", harmless(&result.content.to_text())),
        Event::StateSnapshot(snapshot) => println!("[state {}]", harmless(snapshot.snapshot.get())),
        Event::StateDelta(delta) => println!("[state, {} change(s)]", delta.delta.len()),
        _ => {}
    }
}

/// Text of an agent without what a terminal obeys: escape sequences colour, move the cursor, write to the
/// clipboard, or answer in the user's name; other marks turn the direction of writing.
fn harmless(text: &str) -> String {
    let obeyed = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if obeyed(c) { '\u{fffd}' } else { c }).collect()
}

fn answer(thread: &mut Conversation, interrupt: &Interrupt) -> Result<(), Box<dyn Error>> {
    let question = interrupt.message.as_deref().unwrap_or(&interrupt.reason);
    let question = harmless(question);
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
    SystemTime::now().into()
}
