"""A sample agent on the Python SDK (a2a-sdk): the first word of a message chooses what happens.

  python agent.py PORT

Serves the same agent at four addresses of one port, each with a card of its own:
  /v1/    A2A 1.0, streaming          /v1-poll/   A2A 1.0, cannot stream
  /v03/   A2A 0.3, streaming          /v03-poll/  A2A 0.3, cannot stream
The cards of 0.3 lie at /.well-known/agent.json, where that version began.
"""
from __future__ import annotations

import asyncio
import base64
import sys
from collections import Counter
from typing import Any

import uvicorn
from a2a.helpers.proto_helpers import new_data_part, new_raw_part, new_task_from_user_message, new_text_part, new_url_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message, Part, Role
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


class Agent(AgentExecutor):
    def __init__(self) -> None:
        self.turns: Counter[str] = Counter()
        self.asked: dict[str, str] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        word = (text.split() or [""])[0]
        self.turns[context.context_id] += 1
        if word == "message":
            parts = [new_text_part("No task is needed for this."), new_data_part({"answer": 42})]
            message = Message(role=Role.ROLE_AGENT, message_id="direct", parts=parts, context_id=context.context_id)
            await event_queue.enqueue_event(message)
            return
        if not context.current_task:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        asked = self.asked.pop(context.task_id, None)
        if asked:
            await self.go_on(updater, asked, text)
        else:
            await getattr(self, f"do_{word}", self.do_stream)(updater, context)

    async def say(self, updater: TaskUpdater, text: str) -> None:
        await updater.start_work(updater.new_agent_message([new_text_part(text)]))

    async def do_stream(self, updater: TaskUpdater, context: RequestContext) -> None:
        await self.say(updater, "Looking it up.")
        for number, piece in enumerate(["Hello", ", ", "world"]):
            await updater.add_artifact([new_text_part(piece)], "answer", append=number > 0, last_chunk=number == 2)
        await updater.complete()

    async def do_recall(self, updater: TaskUpdater, context: RequestContext) -> None:
        await updater.complete(updater.new_agent_message([new_text_part(f"turn {self.turns[context.context_id]}")]))

    async def do_artifacts(self, updater: TaskUpdater, context: RequestContext) -> None:
        await updater.start_work()
        for append, left, right in [(False, "left 1", "right 1"), (True, ", left 2", ", right 2")]:
            await updater.add_artifact([new_text_part(left)], "left", append=append)
            await updater.add_artifact([new_text_part(right)], "right", append=append)
        await updater.add_artifact([new_data_part({"rows": [1, 2], "exact": True})], "table", name="Table")
        await updater.add_artifact([new_raw_part(PNG, "image/png", "dot.png")], "picture", name="Picture")
        await updater.add_artifact([new_url_part("https://files.example/report.pdf", "application/pdf")], "report")
        await updater.complete()

    async def do_ask(self, updater: TaskUpdater, context: RequestContext) -> None:
        self.asked[context.task_id] = "ask"
        await self.say(updater, "I need to know one thing.")
        await updater.requires_input(updater.new_agent_message([new_text_part("Which city?")]))

    async def do_auth(self, updater: TaskUpdater, context: RequestContext) -> None:
        self.asked[context.task_id] = "auth"
        parts = [new_text_part("Please sign in."), new_data_part({"url": "https://login.example/device", "code": "WXYZ"})]
        await updater.requires_auth(updater.new_agent_message(parts))

    async def go_on(self, updater: TaskUpdater, asked: str, text: str) -> None:
        if asked == "auth":
            await updater.complete(updater.new_agent_message([new_text_part("You are signed in.")]))
        elif text == "unsure":
            self.asked[updater.task_id] = "ask"
            await updater.requires_input(updater.new_agent_message([new_text_part("Which city, please?")]))
        else:
            await self.say(updater, f"Looking at {text}.")
            await updater.add_artifact([new_text_part(f"Sunny in {text}")], "weather", last_chunk=True)
            await updater.complete()

    async def do_fail(self, updater: TaskUpdater, context: RequestContext) -> None:
        await updater.failed(updater.new_agent_message([new_text_part("The archive is closed.")]))

    async def do_reject(self, updater: TaskUpdater, context: RequestContext) -> None:
        await updater.reject(updater.new_agent_message([new_text_part("I do not do that.")]))

    async def do_slow(self, updater: TaskUpdater, context: RequestContext) -> None:
        await self.say(updater, "This takes long.")
        await asyncio.sleep(60)
        await updater.complete()

    async def do_steps(self, updater: TaskUpdater, context: RequestContext) -> None:
        """Long enough that an agent that is looked at is seen in between."""
        for number in range(3):
            await updater.add_artifact([new_text_part(f"{number} ")], "steps", append=number > 0)
            await self.say(updater, f"step {number}")
            await asyncio.sleep(0.4)
        await updater.complete()

    async def do_pause(self, updater: TaskUpdater, context: RequestContext) -> None:
        """Silent in the middle for longer than a client waits that is in a hurry."""
        await updater.add_artifact([new_text_part("before ")], "answer")
        await asyncio.sleep(1.5)
        await updater.add_artifact([new_text_part("and after")], "answer", append=True, last_chunk=True)
        await updater.complete()

    async def do_files(self, updater: TaskUpdater, context: RequestContext) -> None:
        await updater.complete(updater.new_agent_message([new_text_part(" ".join(map(described, context.message.parts)))]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.cancel(updater.new_agent_message([new_text_part("Task canceled.")]))


def described(part: Part) -> str:
    kind = part.WhichOneof("content")
    what = len(part.raw) if kind == "raw" else part.url if kind == "url" else "-"
    return f"[{kind} {part.media_type or '-'} {part.filename or '-'} {what}]"


SKILL = {"id": "sample", "name": "Sample", "description": "Does what the first word says", "tags": ["sample"]}


def mount(port: int, path: str, version: str, streaming: bool) -> Mount:
    url = f"http://localhost:{port}{path}/"
    card = AgentCard(
        name="Sample agent", description="For tests", version="1", default_input_modes=["text/plain"],
        default_output_modes=["text/plain"], capabilities=AgentCapabilities(streaming=streaming),
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)],
        skills=[AgentSkill(**SKILL)],
    )
    handler = DefaultRequestHandler(agent_executor=Agent(), task_store=InMemoryTaskStore(), agent_card=card)
    rpc = create_jsonrpc_routes(handler, "/", enable_v0_3_compat=version == "0.3")
    cards: list[Any] = create_agent_card_routes(card)
    if version == "0.3":
        old = {
            "name": card.name, "description": card.description, "version": card.version, "protocolVersion": "0.3.0",
            "url": url, "preferredTransport": "JSONRPC", "capabilities": {"streaming": streaming},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [SKILL],
        }
        cards = [Route("/.well-known/agent.json", lambda request: JSONResponse(old))]
    return Mount(path, routes=[*cards, *rpc])


def main() -> None:
    port = int(sys.argv[1])
    kinds = [("/v1", "1.0", True), ("/v1-poll", "1.0", False), ("/v03", "0.3", True), ("/v03-poll", "0.3", False)]
    app = Starlette(routes=[mount(port, *kind) for kind in kinds])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main()
