"""An agent on the official kit for Bedrock AgentCore: what it does is the last message's first word.

    python sdk_agent.py --port PORT [--compress]

The official HTTP server, encoder and models are the peer; the agent is a few lines that misbehave on request.
`GET /counts` says how often each run was started, how many deltas were produced, and what headers came.
"""
from __future__ import annotations

import argparse
import asyncio
import time
from collections import Counter
from typing import Any, AsyncIterator

import uvicorn
from ag_ui.core import (
    CustomEvent,
    RunAgentInput,
    RunErrorEvent,
    RunFinishedEvent,
    RunStartedEvent,
    StateSnapshotEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from bedrock_agentcore.runtime.ag_ui import AGUIApp
from bedrock_agentcore.runtime.context import BedrockAgentCoreContext
from starlette.responses import JSONResponse
from starlette.routing import Route

app = AGUIApp()
started: Counter[str] = Counter()
state: dict[str, Any] = {"deltas": 0, "cancelled": 0, "headers": {}, "session": None, "request": None, "token": None}


def said(run: RunAgentInput) -> list[str]:
    content = run.messages[-1].content if run.messages else ""
    return content.split() if isinstance(content, str) and content else ["echo"]


def delta(text: str) -> TextMessageContentEvent:
    state["deltas"] += 1
    return TextMessageContentEvent(message_id="m-1", delta=text)


@app.entrypoint
async def agent(run: RunAgentInput, context: Any) -> AsyncIterator[Any]:
    started[run.run_id] += 1
    state["headers"] = dict(context.request.headers)
    state["session"] = context.session_id
    state["request"] = BedrockAgentCoreContext.get_request_id()
    state["token"] = BedrockAgentCoreContext.get_workload_access_token()
    word, *rest = said(run)
    number = float(rest[0]) if rest and rest[0].isdecimal() else 0.0
    begin = RunStartedEvent(thread_id=run.thread_id, run_id=run.run_id)
    end = RunFinishedEvent(thread_id=run.thread_id, run_id=run.run_id)
    opening = TextMessageStartEvent(message_id="m-1", role="assistant")
    closing = TextMessageEndEvent(message_id="m-1")
    try:
        if word == "before":  # content before the start of the run
            yield delta("early")
            yield begin
            yield end
            return
        if word == "ids":
            yield RunStartedEvent(thread_id="other", run_id="other")
            yield RunFinishedEvent(thread_id="other", run_id="other")
            return
        if word == "raise":
            yield begin
            raise RuntimeError("secret=/etc/passwd")
        yield begin
        if word == "cancelled":
            raise asyncio.CancelledError
        if word == "nothing":  # no terminal event
            yield opening
            return
        if word == "after":
            yield end
            yield RunErrorEvent(message="late", code="LATE")
            return
        if word == "sample":  # the sample stream of the contract
            yield opening
            yield delta("Processing your request")
            yield ToolCallStartEvent(tool_call_id="tool-001", tool_call_name="search", parent_message_id="m-1")
            yield ToolCallResultEvent(message_id="m-1", tool_call_id="tool-001", content="Search completed")
            yield closing
            yield end
            return
        if word == "snapshot":
            yield StateSnapshotEvent(snapshot={"text": "x" * int(number)})
            yield end
            return
        if word == "custom":
            yield CustomEvent(name="n", value=1)
            yield end
            return
        if word == "silent":
            await asyncio.sleep(number)
            yield end
            return
        if word == "block":
            time.sleep(number)
            yield end
            return
        yield opening
        if word == "deltas":  # gives the loop a turn after each
            for _ in range(int(number)):
                yield delta("0123456")
                await asyncio.sleep(0)
        elif word == "burst":  # never gives the loop a turn
            for _ in range(int(number)):
                yield delta("0123456")
        elif word == "ticks":  # one every 50 ms
            for tick in range(int(number)):
                yield delta(f"{tick} ")
                await asyncio.sleep(0.05)
        else:
            yield delta(f"echo: {' '.join([word, *rest])}")
        yield closing
        yield end
    except (asyncio.CancelledError, GeneratorExit):
        state["cancelled"] += 1
        raise


# Agents and ping handlers that a reader of the kit's documentation might write.


def sync_agent(run: RunAgentInput) -> Any:
    yield RunStartedEvent(thread_id=run.thread_id, run_id=run.run_id)
    yield RunFinishedEvent(thread_id=run.thread_id, run_id=run.run_id)


async def coroutine_agent(run: RunAgentInput) -> Any:
    return agent(run, None)


async def renamed_agent(run: RunAgentInput, request_context: Any) -> AsyncIterator[Any]:
    async for event in agent(run, request_context):
        yield event


async def later() -> Any:
    return "Healthy"


async def counts(_: Any) -> JSONResponse:
    return JSONResponse({"runs": dict(started), **state})


app.router.routes.append(Route("/counts", counts))

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--no-compression", action="store_true", help="no permessage-deflate on the WebSocket")
    parser.add_argument("--ping", choices=["text", "async"], help="a ping handler that answers text, or later")
    parser.add_argument("--shape", choices=["sync", "coroutine", "renamed"], help="an agent of another shape")
    options = parser.parse_args()
    if options.ping == "text":
        app.ping(lambda: "HealthyBusy")
    if options.ping == "async":
        app.ping(later)
    if options.shape:
        app.entrypoint({"sync": sync_agent, "coroutine": coroutine_agent, "renamed": renamed_agent}[options.shape])
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=options.port,
        log_level="info",
        ws_per_message_deflate=not options.no_compression,
    )
