"""Servers under test and clients that hide nothing: status, headers, every frame and when it came."""
from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Awaitable, Callable, Iterator

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

HERE = Path(__file__).resolve().parent
SESSION = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
START_TIMEOUT_S = 30


@dataclass
class Server:
    name: str
    port: int
    process: subprocess.Popen[bytes]
    log: Path
    # Where the agent on the official kit tells what it has seen.
    counts_port: int
    parts: list["Server"] = field(default_factory=list)

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def counts(self) -> dict[str, Any]:
        return json.loads(request(self.counts_port, "GET", "/counts").body)

    def stop(self) -> None:
        for server in [self, *self.parts]:
            if server.process.poll() is None:
                server.process.kill()
            server.process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(name: str, command: list[str], port: int, directory: Path, **more: Any) -> Server:
    log = directory / f"{name}.log"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "AGENTCORE_"))}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, cwd=directory
        )
    server = Server(name, port, process, log, **{"counts_port": port, **more})
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if request(port, "GET", "/ping").status == 200:
                return server
        if process.poll() is not None:
            break
        time.sleep(0.01)
    server.stop()
    raise RuntimeError(f"{name} does not answer /ping:\n{server.text()}")


def start_sdk(directory: Path, name: str = "sdk", *flags: str) -> Server:
    port = free_port()
    return start(name, [sys.executable, str(HERE / "sdk_agent.py"), "--port", str(port), *flags], port, directory)


def shim_command() -> list[str]:
    return shlex.split(os.environ["AGENTCORE_SHIM"])


def start_shim(directory: Path, name: str, *flags: str, **more: Any) -> Server:
    port = free_port()
    command = [*shim_command(), "--host", "127.0.0.1", "--port", str(port), *flags]
    return start(name, command, port, directory, **more)


def start_ours(directory: Path, *flags: str, name: str = "ours") -> Server:
    """The shim in front of the same agent on the official kit."""
    agent = start_sdk(directory, f"{name}-agent")
    upstream = f"http://127.0.0.1:{agent.port}/invocations"
    try:
        return start_shim(directory, name, "--upstream", upstream, *flags, counts_port=agent.port, parts=[agent])
    except BaseException:
        agent.stop()
        raise


@contextlib.contextmanager
def running(begin: Callable[..., Server], *arguments: Any, **more: Any) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as directory:
        server = begin(Path(directory), *arguments, **more)
        try:
            yield server
        finally:
            server.stop()


# HTTP


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    # The body came to its own end.
    whole: bool = True

    def events(self) -> list[dict[str, Any]]:
        return events_in(self.body.decode())

    def types(self) -> list[str]:
        return [event["type"] for event in self.events()]

    def codes(self) -> list[str | None]:
        return [event.get("code") for event in self.events() if event["type"] == "RUN_ERROR"]


def events_in(text: str) -> list[dict[str, Any]]:
    records = [record for record in text.split("\n\n") if record.startswith("data: ")]
    return [json.loads(record.removeprefix("data: ")) for record in records]


def request(
    port: int,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
    timeout: float = 60,
) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        try:
            read, whole = answer.read(), True
        except http.client.IncompleteRead as cut:
            read, whole = cut.partial, False
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, read, whole)
    finally:
        connection.close()


def run_input(text: str = "echo", run_id: str | None = None, **more: Any) -> dict[str, Any]:
    """What a client sends that knows AG-UI 1.0."""
    return {
        "threadId": f"t-{uuid.uuid4()}",
        "runId": run_id or f"r-{uuid.uuid4()}",
        "messages": [{"id": "msg-1", "role": "user", "content": text}],
        "protocolVersion": "1.0",
        "state": {},
        "tools": [],
        "context": [],
        "forwardedProps": {},
        **more,
    }


def invoke(port: int, body: dict[str, Any] | bytes, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return request(port, "POST", "/invocations", data, {"Content-Type": "application/json", **(headers or {})}, **more)


def open_invocation(port: int, body: dict[str, Any]) -> tuple[socket.socket, bytearray]:
    """Sends a run request and leaves the answer on the socket."""
    data = json.dumps(body).encode()
    head = (
        f"POST /invocations HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: text/event-stream\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.sendall(head.encode() + data)
    return connection, bytearray()


def read_until(connection: socket.socket, seen: bytearray, marker: bytes) -> None:
    while marker not in seen:
        more = connection.recv(65536)
        if not more:
            raise RuntimeError(f"ended before {marker!r}: {bytes(seen)!r}")
        seen += more


class Pings:
    """Asks for /ping every 20 ms, in a thread, and keeps how long each took."""

    def __init__(self, port: int) -> None:
        self.port, self.times, self.bodies = port, [], []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while not self._stop.is_set():
            begun = time.monotonic()
            answer = request(self.port, "GET", "/ping")
            self.times.append(time.monotonic() - begun)
            self.bodies.append(json.loads(answer.body))
            self._stop.wait(0.02)

    def __enter__(self) -> "Pings":
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stop.set()
        self._thread.join()

    def worst_ms(self) -> float:
        return max(self.times) * 1000


# WebSocket


@dataclass
class Frames:
    """Messages of a socket, each with the sizes of its frames and the time it came."""

    messages: list[str] = field(default_factory=list)
    sizes: list[list[int]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    close: int | None = None
    reason: str = ""

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(text.removeprefix("data: ")) for text in self.messages]

    def types(self) -> list[str]:
        return [event["type"] for event in self.events()]

    def codes(self) -> list[str | None]:
        return [event.get("code") for event in self.events() if event["type"] == "RUN_ERROR"]

    def text(self) -> str:
        return "".join(e["delta"] for e in self.events() if e["type"] == "TEXT_MESSAGE_CONTENT")


TERMINAL = ("RUN_FINISHED", "RUN_ERROR")


def ws(port: int, **more: Any) -> connect:
    return connect(f"ws://127.0.0.1:{port}/ws", max_size=None, ping_interval=None, proxy=None, **more)


async def receive(
    socket: ClientConnection, into: Frames, until: Callable[[dict[str, Any]], bool] | None, timeout: float = 30
) -> Frames:
    """Reads frames up to a message for which `until` holds, or to the close."""
    try:
        async with asyncio.timeout(timeout):
            while True:
                parts: list[str] = []
                async for part in socket.recv_streaming():
                    parts.append(part if isinstance(part, str) else part.decode())
                into.messages.append("".join(parts))
                into.sizes.append([len(part.encode()) for part in parts if part])
                into.times.append(time.monotonic())
                if until is not None and until(into.events()[-1]):
                    return into
    except ConnectionClosed as closed:
        into.close = closed.rcvd.code if closed.rcvd else 1006
        into.reason = closed.rcvd.reason if closed.rcvd else ""
    return into


def is_terminal(event: dict[str, Any]) -> bool:
    return event["type"] in TERMINAL


async def run_over(socket: ClientConnection, body: dict[str, Any] | bytes | str, **more: Any) -> Frames:
    """One run on a socket that is open, up to its end or to the close."""
    with contextlib.suppress(ConnectionClosed):
        await socket.send(body if isinstance(body, (bytes, str)) else json.dumps(body))
    return await receive(socket, Frames(), is_terminal, **more)


def wait_for(what: Callable[[], bool], seconds: float = 10) -> float:
    """Waits until something is so; gives how long that took, or fails."""
    begun = time.monotonic()
    while not what():
        if time.monotonic() - begun > seconds:
            raise AssertionError(f"not so after {seconds} s")
        time.sleep(0.005)
    return time.monotonic() - begun


def terminate(server: Server, seconds: float = 20) -> tuple[float, int | None]:
    """Sends SIGTERM; gives how long the process went on, and its exit code."""
    begun = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    try:
        code = server.process.wait(seconds)
    except subprocess.TimeoutExpired:
        code = None
    return time.monotonic() - begun, code


# Checks


@dataclass
class Check:
    name: str
    body: Callable[[], Awaitable[None] | None]


CHECKS: list[Check] = []


def check(body: Callable[[], Awaitable[None] | None]) -> Callable[[], Awaitable[None] | None]:
    CHECKS.append(Check(body.__name__, body))
    return body


def run_checks(title: str, only: str = "") -> int:
    failed = 0
    chosen = [c for c in CHECKS if c.name.startswith(only)]
    for each in chosen:
        begun = time.monotonic()
        try:
            outcome = each.body()
            if asyncio.iscoroutine(outcome):
                asyncio.run(outcome)
            print(f"good {each.name} ({time.monotonic() - begun:.1f} s)", flush=True)
        except Exception as error:  # noqa: BLE001 - every failure of a check is a finding
            failed += 1
            print(f"BAD  {each.name}: {type(error).__name__}: {error}", flush=True)
    print(f"{title}: {len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0
