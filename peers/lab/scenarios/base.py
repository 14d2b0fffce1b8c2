"""A scenario is a script for the model server and the requests that drive the server under test.

A drive function only uses what an AG-UI client sees, and marks, so that the same function runs
live and against recorded kernel traffic. What must come of it is said with `lab.expect`.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable

from labclient import Lab
from stack import Stack


@dataclass
class Scenario:
    name: str
    about: str
    llm: dict[str, Any]
    drive: Callable[[Lab], Awaitable[None]]
    env: dict[str, str] = field(default_factory=dict)
    live_only: bool = False
    replay_only: bool = False
    prepare: Callable[[Stack], None] | None = None


SCENARIOS: list[Scenario] = []


def scenario(name: str, about: str, llm: dict[str, Any] | None = None, **options: Any) -> Callable[[Any], Any]:
    def add(function: Callable[[Lab], Awaitable[None]]) -> Any:
        SCENARIOS.append(Scenario(name, about, llm or {"turns": []}, function, **options))
        return function
    return add


def usage(prompt: int, completion: int, cached: int = 0) -> dict[str, Any]:
    return {"usage": {"prompt_tokens": prompt, "completion_tokens": completion, "cached_tokens": cached}}


def is_type(*names: str) -> Callable[[dict[str, Any]], bool]:
    return lambda event: event.get("type") in names


async def second_delta(run: Any) -> None:
    await run.wait_for(lambda event: event.get("type") == "TEXT_MESSAGE_CONTENT" and event.get("delta") == "text ")


WRITE = {"id": "call_write_1", "name": "write_file", "args": {"path": "notes.txt", "content": "hello from the lab\n"}, "chunk": 9}

# A turn that waits in the middle of its answer, one that answers at once, one that needs permission.
HELD = {"turns": [
    {"when": {"last_user": "hold"}, "times": 0, "steps": [{"texts": ["partial ", "text "]}, {"hold": "h1"}, {"text": "rest"}, usage(5, 3)]},
    {"when": {"last_user": "after"}, "times": 0, "steps": [{"texts": ["after ", "that"]}, usage(6, 2)]},
    {"when": {"last_role": "user", "last_user": "write"}, "times": 0, "steps": [{"tool": WRITE}, usage(20, 9)]},
]}


def tool_script(tool: dict[str, Any]) -> dict[str, Any]:
    return {"turns": [
        {"when": {"last_role": "user"}, "steps": [{"texts": ["I will ", "do it."]}, {"tool": tool}, usage(20, 9)]},
        {"when": {"last_role": "tool"}, "steps": [{"texts": ["After the ", "tool."]}, usage(40, 5)]},
    ]}
