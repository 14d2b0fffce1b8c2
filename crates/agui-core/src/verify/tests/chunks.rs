//! The shorthand events.

use super::*;

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn chunks_stand_for_whole_events() {
    let role = |role| Event::from(text_chunk(Some("m")).with_role(role));
    let thought = |id: Option<&str>| {
        let chunk = ReasoningMessageChunk::new().with_delta("x");
        Event::from(match id {
            Some(id) => chunk.with_message_id(id),
            None => chunk,
        })
    };
    let first = || Event::from(text_chunk(Some("m")));
    let more = || Event::from(text_chunk(None));
    let raw = || Event::from(Raw::new(Json::null()));
    assert_cases(vec![
        ("a message", in_run([first(), more()]), None),
        ("two messages", in_run([first(), text_chunk(Some("n")).into(), first()]), None),
        ("three kinds", in_run([first(), call_chunk("c", "f"), thought(Some("z")), thought(None)]), None),
        ("no id", in_run([more()]), Some((1, Rule::ChunkIncomplete))),
        ("no id of this kind", in_run([first(), thought(None)]), Some((2, Rule::ChunkIncomplete))),
        (
            "a call without a name",
            in_run([ToolCallChunk::new().with_tool_call_id("c").into()]),
            Some((1, Rule::ChunkIncomplete)),
        ),
        (
            "a call without an id",
            in_run([ToolCallChunk::new().with_tool_call_name("f").into()]),
            Some((1, Rule::ChunkIncomplete)),
        ),
        ("the name again", in_run([call_chunk("c", "f"), call_chunk("c", "f")]), None),
        (
            "another name",
            in_run([call_chunk("c", "f"), call_chunk("c", "g")]),
            Some((2, Rule::ChunkConflict)),
        ),
        ("the role again", in_run([role(TextRole::User), role(TextRole::User)]), None),
        (
            "another role",
            in_run([role(TextRole::User), role(TextRole::Assistant)]),
            Some((2, Rule::ChunkConflict)),
        ),
        ("the role that was meant", in_run([first(), role(TextRole::Assistant)]), None),
        (
            "not the role that was meant",
            in_run([first(), role(TextRole::User)]),
            Some((2, Rule::ChunkConflict)),
        ),
        ("another event closes it", in_run([first(), custom(), more()]), Some((3, Rule::ChunkIncomplete))),
        ("a raw event does not", in_run([first(), raw(), more()]), None),
        ("an explicit end", in_run([first(), text_end("m")]), Some((2, Rule::NotOpen))),
        ("explicit content", in_run([first(), text("m")]), Some((2, Rule::NotOpen))),
        ("a chunk for an open message", in_run([text_start("m"), first()]), Some((2, Rule::AlreadyOpen))),
        ("a cut", vec![started(), first()], Some((2, Rule::Unterminated))),
        (
            "a lane for each owner",
            in_run([by("a", first()), by("b", text_chunk(Some("n"))), by("a", more()), by("b", more())]),
            None,
        ),
        (
            "no telling which",
            in_run([by("a", first()), by("b", text_chunk(Some("n"))), more()]),
            Some((3, Rule::ChunkAmbiguous)),
        ),
        ("the only one", in_run([by("a", first()), more()]), None),
        ("another owner", in_run([by("a", first()), by("b", first())]), Some((2, Rule::ChunkConflict))),
        (
            "the end of the subagent closes it",
            in_run([sub_start("s"), by("s", first()), sub_end("s"), by("s", more())]),
            Some((4, Rule::ChunkIncomplete)),
        ),
        (
            "its start does not",
            in_run([by("s", first()), sub_start("s"), by("s", more()), sub_end("s")]),
            None,
        ),
    ]);
}
