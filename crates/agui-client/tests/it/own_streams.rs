//! Streams of our own, in the format of the public corpus.

pub(crate) const OWN_STREAMS: &[&str] = &[
    r#"{"name": "text, reasoning, a tool and its result", "stream": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "protocolVersion": "1.0"},
        {"type": "REASONING_START", "messageId": "x"},
        {"type": "REASONING_MESSAGE_START", "messageId": "x", "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": "x", "delta": "hm"},
        {"type": "REASONING_MESSAGE_END", "messageId": "x"},
        {"type": "REASONING_END", "messageId": "x"},
        {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "x", "encryptedValue": "sealed"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m", "metadata": {"a": 1, "b": 1}},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "Gr\u00fc"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "\u00dfe \ud83d\ude00"},
        {"type": "TEXT_MESSAGE_END", "messageId": "m", "metadata": {"b": 2}},
        {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "add", "parentMessageId": "m"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "[1,"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "2]"},
        {"type": "TOOL_CALL_END", "toolCallId": "c", "metadata": {"k": null}},
        {"type": "TEXT_MESSAGE_START", "messageId": "n"},
        {"type": "TEXT_MESSAGE_END", "messageId": "n"},
        {"type": "TOOL_CALL_RESULT", "messageId": "o", "toolCallId": "c", "content": "3"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}],
      "expect": {"outcome": "completed", "noWarnings": true, "messages": [
        {"id": "x", "role": "reasoning", "content": "hm", "encryptedValue": "sealed"},
        {"id": "m", "role": "assistant", "content": "Grüße 😀", "metadata": {"a": 1, "b": 2}, "toolCalls": [
          {"id": "c", "type": "function", "function": {"name": "add", "arguments": "[1,2]"}, "metadata": {"k": null}}]},
        {"id": "o", "role": "tool", "toolCallId": "c", "content": "3"},
        {"id": "n", "role": "assistant", "content": ""}]}}"#,
    r#"{"name": "calls without a usable parent make their own message", "input": {"messages": [
        {"id": "u", "role": "user", "content": "hi"}]}, "stream": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "a"},
        {"type": "TOOL_CALL_START", "toolCallId": "c2", "toolCallName": "b", "parentMessageId": "p"},
        {"type": "TOOL_CALL_START", "toolCallId": "c3", "toolCallName": "c", "parentMessageId": "u"},
        {"type": "TOOL_CALL_END", "toolCallId": "c1"},
        {"type": "TOOL_CALL_END", "toolCallId": "c2"},
        {"type": "TOOL_CALL_END", "toolCallId": "c3"},
        {"type": "TEXT_MESSAGE_START", "messageId": "p"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "p", "delta": "text"},
        {"type": "TEXT_MESSAGE_END", "messageId": "p"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}],
      "expect": {"outcome": "completed", "messages": [
        {"id": "u", "role": "user"},
        {"id": "c1", "role": "assistant", "toolCalls": [{"id": "c1"}]},
        {"id": "p", "role": "assistant", "content": "text", "toolCalls": [{"id": "c2"}]},
        {"id": "c3", "role": "assistant", "toolCalls": [{"id": "c3"}]}]}}"#,
    r#"{"name": "state and activities", "stream": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a", "value": {"n": 1}}]},
        {"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/a/n", "value": 2}, {"op": "remove", "path": "/none"}]},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "plan", "content": {"steps": []}, "metadata": {"a": 1}},
        {"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "plan2", "patch": [{"op": "add", "path": "/steps/-", "value": "x"}]},
        {"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "plan3", "patch": [{"op": "replace", "path": "", "value": []}]},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "no", "content": {}, "replace": false},
        {"type": "TEXT_MESSAGE_START", "messageId": "v"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "v", "delta": "lost"},
        {"type": "TEXT_MESSAGE_END", "messageId": "v"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}],
      "expect": {"outcome": "completed", "state": {"a": {"n": 1}}, "messages": [
        {"id": "v", "role": "activity", "activityType": "plan2", "content": {"steps": ["x"]}, "metadata": {"a": 1}}]}}"#,
    r#"{"name": "a snapshot keeps activities and reasoning it does not speak of", "input": {"messages": [
        {"id": "u", "role": "user", "content": "hi"}]}, "stream": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "plan", "content": {}},
        {"type": "REASONING_MESSAGE_START", "messageId": "x", "role": "reasoning"},
        {"type": "REASONING_MESSAGE_END", "messageId": "x"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m"},
        {"type": "MESSAGES_SNAPSHOT", "messages": [
          {"id": "s", "role": "system", "content": "new"}, {"id": "u", "role": "user", "content": "edited"}]},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "lost"},
        {"type": "TEXT_MESSAGE_END", "messageId": "m"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}],
      "expect": {"outcome": "completed", "messages": [
        {"id": "u", "content": "edited"}, {"id": "v"}, {"id": "x"}, {"id": "s"}]}}"#,
    r#"{"name": "chunks", "stream": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "a"},
        {"type": "TEXT_MESSAGE_CHUNK", "delta": "b"},
        {"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "f", "parentMessageId": "m", "delta": "{}"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}],
      "expect": {"outcome": "completed", "messages": [{"id": "m", "content": "ab", "toolCalls": [{"function": {"arguments": "{}"}}]}],
        "eventTypes": ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
          "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "RUN_FINISHED"]}}"#,
    r#"{"name": "unknown pieces are left out", "stream": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "surprise": 1},
        {"type": "FROM_THE_FUTURE"},
        {"type": "STATE_DELTA", "delta": [{"op": "increment", "path": "/n"}]},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "postponed"}}],
      "expect": {"outcome": "completed", "warnings": ["/delta/0", "/outcome"], "eventAbsentPaths": ["2.outcome"],
        "eventTypes": ["RUN_STARTED", "STATE_DELTA", "RUN_FINISHED"]}}"#,
    r#"{"name": "a failed run", "stream": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m"},
        {"type": "RUN_ERROR", "message": "the model is gone"}],
      "expect": {"outcome": "completed", "runError": "model is gone", "messageCount": 1}}"#,
    r#"{"name": "a cut stream", "stream": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "STATE_SNAPSHOT", "snapshot": null}],
      "expect": {"outcome": "failed", "state": null}}"#,
    r#"{"name": "text before its start", "stream": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "a"}],
      "expect": {"outcome": "failed", "messageCount": 0, "eventTypes": ["RUN_STARTED"]}}"#,
];
