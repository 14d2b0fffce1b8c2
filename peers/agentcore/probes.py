"""How weaknesses are looked for: rows, each with a function that looks at one server."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import harness
from harness import Server, running

# What was seen, and whether it is as it should be.
Seen = tuple[str, bool]


@dataclass
class Row:
    number: int
    what: str
    probe: Callable[[Any], Seen]
    # Takes long or needs servers of its own, so it runs beside the others.
    aside: bool


ROWS: list[Row] = []


def row(number: int, what: str, aside: bool = False) -> Callable[[Callable[[Any], Seen]], Callable[[Any], Seen]]:
    def register(probe: Callable[[Any], Seen]) -> Callable[[Any], Seen]:
        ROWS.append(Row(number, what, probe, aside))
        return probe

    return register


def sdk(*flags: str) -> Any:
    return running(lambda directory: harness.start_sdk(directory, "sdk", *flags))


def fresh(server: Server, *flags: str) -> Any:
    """Another server of the same kind."""
    return sdk() if server.name == "sdk" else running(harness.start_ours, *flags)


def stream_fault(body: dict[str, Any], events: list[dict[str, Any]]) -> str | None:
    """The first rule that a stream breaks, of those that every client checks."""
    spans = {"TEXT_MESSAGE_START": "TEXT_MESSAGE_END", "TOOL_CALL_START": "TOOL_CALL_END"}
    within = {"TEXT_MESSAGE_CONTENT": "TEXT_MESSAGE_END", "TEXT_MESSAGE_END": "TEXT_MESSAGE_END",
              "TOOL_CALL_ARGS": "TOOL_CALL_END", "TOOL_CALL_END": "TOOL_CALL_END"}
    open_spans: list[tuple[str, Any]] = []
    for index, event in enumerate(events):
        kind, last = event["type"], index == len(events) - 1
        key = event.get("toolCallId") if "TOOL_CALL" in kind else event.get("messageId")
        if (kind == "RUN_STARTED") != (index == 0) and kind != "RUN_ERROR":
            return f"{kind} at position {index + 1}"
        if kind in harness.TERMINAL and (not last or open_spans):
            return f"{kind} before the end" if not last else f"open at the end: {open_spans}"
        if kind in ("RUN_STARTED", "RUN_FINISHED") and (event["threadId"], event["runId"]) != (
            body["threadId"], body["runId"]):
            return f"{kind} with other ids"
        if kind in spans:
            open_spans.append((spans[kind], key))
        elif kind in within and (within[kind], key) not in open_spans:
            return f"{kind} of nothing open"
        if kind in spans.values():
            open_spans.remove((kind, key))
    return None if events and events[-1]["type"] in harness.TERMINAL else "no terminal event"
