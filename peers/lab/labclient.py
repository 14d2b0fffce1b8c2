"""AG-UI client of the lab: sends runs, records raw records and parsed events, checks what came.

With LAB_PROTOCOL_VERSION in the environment it names that version in its requests.
"""
from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from typing import Any, Callable

import minihttp
from stack import HOST, Stack


class Run:
    """One POST / to the adapter, read in the background."""

    def __init__(self, lab: "Lab", n: int) -> None:
        self.lab, self.n = lab, n
        self.status = 0
        self.events: list[dict[str, Any]] = []
        self.error_body: Any = None
        self.closed = "open"          # complete | truncated | aborted | no_response
        self.changed = asyncio.Condition()
        self.task: asyncio.Task[None] | None = None
        self._response: minihttp.ClientResponse | None = None

    async def _read(self, body: dict[str, Any], headers: dict[str, str]) -> None:
        lab = self.lab
        lab.log({"kind": "request", "n": self.n, "method": "POST", "path": "/", "headers": headers, "body": body})
        try:
            self._response = resp = await minihttp.request(
                "POST", lab.url, headers={"content-type": "application/json", "accept": "text/event-stream", **headers},
                body=json.dumps(body, ensure_ascii=False).encode())
        except (OSError, minihttp.PeerClosed):
            self.closed = "no_response"
            lab.log({"kind": "end", "n": self.n, "end": self.closed})
            return await self._notify()
        self.status = resp.status
        lab.log({"kind": "response", "n": self.n, "status": resp.status,
                 "headers": [[k, v] for k, v in resp.headers if k.lower() not in {"date"}]})
        buffer = b""
        try:
            if "text/event-stream" not in resp.header("content-type"):
                data = b"".join([piece async for piece in resp.chunks()])
                try:
                    self.error_body = json.loads(data)
                except ValueError:
                    self.error_body = data.decode("utf-8", "replace")
                lab.log({"kind": "body", "n": self.n, "body": self.error_body})
            else:
                async for piece in resp.chunks():
                    buffer += piece
                    while b"\n\n" in buffer:
                        frame, buffer = buffer.split(b"\n\n", 1)
                        self._frame(frame.decode("utf-8") + "\n\n")
                    await self._notify()
            self.closed = "complete"
        except minihttp.PeerClosed:
            self.closed = "truncated" if self.closed == "open" else self.closed
        except asyncio.CancelledError:
            self.closed = "aborted"
        if buffer:
            lab.log({"kind": "partial", "n": self.n, "raw": buffer.decode("utf-8", "replace")})
        lab.log({"kind": "end", "n": self.n, "end": self.closed})
        resp.close()
        await self._notify()

    def _frame(self, raw: str) -> None:
        if raw.startswith(":"):
            self.lab.log({"kind": "comment", "n": self.n, "raw": raw})
            return
        data = "\n".join(line[5:].lstrip() for line in raw.split("\n") if line.startswith("data:"))
        event = json.loads(data)
        self.events.append(event)
        self.lab.log({"kind": "event", "n": self.n, "raw": raw, "event": event})

    async def _notify(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def wait(self, timeout: float = 120) -> "Run":
        assert self.task is not None
        await asyncio.wait_for(asyncio.shield(self.task), timeout)
        return self

    async def wait_for(self, predicate: Callable[[dict[str, Any]], bool], timeout: float = 60) -> dict[str, Any]:
        async with self.changed:
            async def hit() -> dict[str, Any] | None:
                return next((e for e in self.events if predicate(e)), None)
            deadline = time.monotonic() + timeout
            while True:
                found = await hit()
                if found is not None:
                    return found
                if self.closed != "open" or time.monotonic() > deadline:
                    raise RuntimeError(f"event not seen; stream {self.closed}, status {self.status}, last {self.events[-1:]}, {self.error_body}")
                try:
                    await asyncio.wait_for(self.changed.wait(), 1)
                except asyncio.TimeoutError:
                    pass

    async def abort(self) -> None:
        self.closed = "aborted"
        if self._response is not None:
            self._response.abort()
        if self.task is not None:
            await asyncio.wait({self.task}, timeout=5)

    # -- views ---------------------------------------------------------------
    @property
    def types(self) -> list[str]:
        return [e["type"] for e in self.events]

    @property
    def last(self) -> dict[str, Any]:
        return self.events[-1] if self.events else {}

    @property
    def interrupts(self) -> list[dict[str, Any]]:
        outcome = self.last.get("outcome") or {}
        return outcome.get("interrupts") or []

    @property
    def session(self) -> dict[str, Any]:
        for event in self.events:
            if event.get("type") == "CUSTOM" and event.get("name") == "iac-code.session.v1":
                return event["value"]
        return {}

    @property
    def texts(self) -> list[str]:
        """The messages in the order of their start."""
        return self._joined("TEXT_MESSAGE_CONTENT")

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def reasonings(self) -> list[str]:
        return self._joined("REASONING_MESSAGE_CONTENT")

    def _joined(self, kind: str) -> list[str]:
        texts: dict[str, str] = {}
        for event in self.events:
            if event["type"] == kind:
                texts[event["messageId"]] = texts.get(event["messageId"], "") + event["delta"]
        return list(texts.values())

    @property
    def outcome(self) -> str:
        """success, interrupt, cancelled, the code of RUN_ERROR, or the HTTP status and code of a refusal."""
        if not self.events:
            code = self.error_body.get("error", {}).get("code") if isinstance(self.error_body, dict) else None
            return f"HTTP {self.status} {code}"
        if self.last["type"] == "RUN_ERROR":
            return str(self.last.get("code"))
        return (self.last.get("outcome") or {}).get("type", "no end") if self.last["type"] == "RUN_FINISHED" else "no end"

    @property
    def results(self) -> dict[str, Any]:
        """Content of TOOL_CALL_RESULT by name of the tool."""
        names = {e["toolCallId"]: e["toolCallName"] for e in self.events if e["type"] == "TOOL_CALL_START"}
        return {names.get(e["toolCallId"], "?"): e["content"] for e in self.events if e["type"] == "TOOL_CALL_RESULT"}

    def summary(self) -> str:
        if not self.events:
            return f"run {self.n}: HTTP {self.status} {json.dumps(self.error_body, ensure_ascii=False)} [{self.closed}]"
        out: list[str] = []
        for kind in self.types:
            if out and out[-1].split("*")[0] == kind:
                base, _, count = out[-1].partition("*")
                out[-1] = f"{base}*{int(count or 1) + 1}"
            else:
                out.append(kind)
        tail = self.last
        extra = ""
        if tail.get("type") == "RUN_ERROR":
            extra = f" code={tail.get('code')}"
        elif self.interrupts:
            extra = f" interrupts={[(i['id'][:24], i['reason']) for i in self.interrupts]}"
        return f"run {self.n}: {' '.join(out)}{extra} [{self.closed}]"


class Lab:
    def __init__(self, stack: Stack, live: bool) -> None:
        self.stack, self.live = stack, live
        self.records: list[dict[str, Any]] = []
        self.runs: list[Run] = []
        self.t0 = time.monotonic()
        self.notes: list[str] = []
        self.problems: list[str] = []

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.stack.agui_port}/"

    def log(self, record: dict[str, Any]) -> None:
        self.records.append({"t": round((time.monotonic() - self.t0) * 1000, 3), **record})

    def note(self, text: str) -> None:
        self.notes.append(text)
        self.log({"kind": "note", "text": text})

    def expect(self, what: str, value: Any, wanted: Any) -> None:
        """Notes a problem when `value` is not `wanted`; a function asks whether the value is good."""
        good = wanted(value) if callable(wanted) else value == wanted
        if not good:
            shown = "" if callable(wanted) else f", expected {wanted!r}"
            self.problems.append(f"{what}: {value!r}{shown}")

    def expect_run(self, run: Run, outcome: Any, **views: Any) -> None:
        """Checks the outcome of a run, and its views by name (texts=..., types=...)."""
        for name, wanted in {"outcome": outcome, **views}.items():
            self.expect(f"run {run.n} {name}", getattr(run, name), wanted)

    # -- LLM / marks -----------------------------------------------------------
    async def script(self, script: dict[str, Any]) -> None:
        if self.live:
            await minihttp.request_json("POST", f"http://{HOST}:{self.stack.llm_port}/_lab/scenario", script)

    async def mark(self, name: str) -> None:
        self.log({"kind": "mark", "name": name})
        try:
            await minihttp.request_json("POST", f"http://{HOST}:{self.stack.rec_port}/__lab/mark/{name}", {})
        except (OSError, minihttp.PeerClosed):
            pass

    async def model_log(self) -> list[dict[str, Any]]:
        """The requests that the model server saw."""
        return (await minihttp.request_json("GET", f"http://{HOST}:{self.stack.llm_port}/_lab/log"))[1]

    async def release(self, hold: str) -> None:
        await self.mark(f"release-{hold}")
        if self.live:
            await minihttp.request_json("POST", f"http://{HOST}:{self.stack.llm_port}/_lab/release/{hold}", {})

    async def settle(self) -> None:
        """Wait until no A2A exchange is open."""
        try:
            await minihttp.request_json("GET", f"http://{HOST}:{self.stack.rec_port}/__lab/quiet")
        except (OSError, minihttp.PeerClosed):
            pass

    # -- AG-UI -------------------------------------------------------------------
    def body(self, thread: str, run_id: str, text: str | None = None, *, messages: list[Any] | None = None,
             resume: list[Any] | None = None, props: dict[str, Any] | None = None, parent: str | None = None,
             **over: Any) -> dict[str, Any]:
        iac: dict[str, Any] = {"schemaVersion": 1, "rosInvocationId": f"inv-{thread}", "cwd": str(self.stack.ws)}
        iac.update(props or {})
        value: dict[str, Any] = {
            "threadId": thread, "runId": run_id, "state": {}, "tools": [], "context": [],
            "messages": messages if messages is not None else ([{"id": f"m-{run_id}", "role": "user", "content": text}] if text else []),
            "forwardedProps": {"iacCode": {k: v for k, v in iac.items() if v is not None}},
        }
        if version := os.environ.get("LAB_PROTOCOL_VERSION"):
            value["protocolVersion"] = version
        if resume is not None:
            value["resume"] = resume
        if parent:
            value["parentRunId"] = parent
        value.update(over)
        return value

    def start_body(self, body: dict[str, Any], headers: dict[str, str] | None = None) -> Run:
        run = Run(self, len(self.runs) + 1)
        self.runs.append(run)
        run.task = asyncio.create_task(run._read(body, headers or {}))
        return run

    def start(self, thread: str, run_id: str, text: str | None = None, *, headers: dict[str, str] | None = None, **kwargs: Any) -> Run:
        return self.start_body(self.body(thread, run_id, text, **kwargs), headers)

    async def run(self, thread: str, run_id: str, text: str | None = None, *, timeout: float = 120, **kwargs: Any) -> Run:
        run = self.start(thread, run_id, text, **kwargs)
        await run.wait(timeout)
        return run

    async def resume(self, thread: str, run_id: str, interrupt_id: str, payload: Any = None, status: str = "resolved", **kwargs: Any) -> Run:
        return await self.run(thread, run_id, resume=[entry(interrupt_id, payload, status)], **kwargs)

    async def cancel(self, execution_id: str, thread: str, ros: str | None = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        path = f"extensions/iac-code/v1/executions/{execution_id}/cancel"
        body = {"threadId": thread, "rosInvocationId": ros or f"inv-{thread}"}
        self.log({"kind": "request", "n": "cancel", "method": "POST", "path": "/" + path, "body": body})
        status, value = await minihttp.request_json("POST", self.url + path, body, headers=headers)
        self.log({"kind": "response", "n": "cancel", "status": status, "body": value})
        return status, value

    async def raw(self, method: str, path: str, *, headers: dict[str, str] | None = None, body: bytes | None = None) -> tuple[int, bytes]:
        self.log({"kind": "request", "n": "raw", "method": method, "path": path, "headers": headers or {},
                  "body_text": None if body is None else (body[:400].decode("utf-8", "replace"))})
        response = await minihttp.request(method, self.url.rstrip("/") + path, headers=headers, body=body)
        data = await response.read()
        self.log({"kind": "response", "n": "raw", "status": response.status,
                  "headers": [[k, v] for k, v in response.headers if k.lower() != "date"], "body_text": data.decode("utf-8", "replace")})
        return response.status, data

    # -- stack control -------------------------------------------------------------
    async def restart_agui(self, *, kill: bool = False) -> None:
        self.log({"kind": "note", "text": "restart agui" + (" (SIGKILL)" if kill else "")})
        await self.stack.stopped("agui", kill=kill)
        await self.stack.start_agui()

    async def restart_a2a(self, *, kill: bool = False) -> None:
        self.log({"kind": "note", "text": "restart a2a" + (" (SIGKILL)" if kill else "")})
        await self.mark("restart-a2a")
        if self.live:
            await self.stack.stopped("a2a", kill=kill)
            await self.stack.start_a2a()

    async def wipe_a2a(self) -> None:
        """Restart the A2A server with an empty configuration directory."""
        self.log({"kind": "note", "text": "wipe a2a"})
        await self.mark("wipe-a2a")
        if self.live:
            await self.stack.stopped("a2a")
            shutil.rmtree(self.stack.config)
            self.stack.config.mkdir(mode=0o700)
            await self.stack.start_a2a()

    async def stop_a2a(self, *, kill: bool = True) -> None:
        self.log({"kind": "note", "text": "stop a2a"})
        await self.mark("stop-a2a")
        if self.live:
            await self.stack.stopped("a2a", kill=kill)


def entry(interrupt_id: str, payload: Any = None, status: str = "resolved") -> dict[str, Any]:
    value: dict[str, Any] = {"interruptId": interrupt_id, "status": status}
    if payload is not None:
        value["payload"] = payload
    return value
