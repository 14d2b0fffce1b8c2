"""Drives agui-server with --profile generic in front of the sample agents and checks what a client sees.

  python drive.py --server COMMAND --out DIRECTORY [--only PREFIXES]

`{port}` in COMMAND is replaced. Starts agent.py and agent.mjs, and the server once for each of their addresses.
Every stream is written to DIRECTORY for the judges; those of a client that names no protocol version have
`.v0` before the ending. Prints a line a scenario that fails and a closing line; exit status 0 when all are good.
"""
from __future__ import annotations

import argparse
import base64
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
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Iterator

import httpx

HERE = Path(__file__).resolve().parent
AGENTS = {"python": [sys.executable, str(HERE / "agent.py")], "javascript": ["node", str(HERE / "agent.mjs")]}
KINDS = ["v1", "v1-poll", "v03", "v03-poll"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
PATIENCE_S = 20
# Without what configures the server of whoever runs this.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("IAC", "AGUI"))}


class Wrong(Exception):
    pass


def check(actual: Any, expected: Any, what: str) -> None:
    if actual != expected:
        raise Wrong(f"{what}: {actual!r} is not {expected!r}")


class Run:
    """One run: its events, and what a client makes of them."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.events = events
        self.last = events[-1]
        texts: dict[str, str] = defaultdict(str)
        for event in events:
            if event["type"] == "TEXT_MESSAGE_CONTENT":
                texts[event["messageId"]] += event["delta"]
        self.texts = list(texts.values())

    def customs(self, name: str) -> list[dict[str, Any]]:
        return [event["value"] for event in self.events if event["type"] == "CUSTOM" and event["name"] == name]

    def succeeded(self) -> "Run":
        check((self.last["type"], self.last.get("outcome")), ("RUN_FINISHED", {"type": "success"}), "the end")
        return self

    def failed(self, code: str) -> "Run":
        check((self.last["type"], self.last.get("code")), ("RUN_ERROR", code), "the end")
        return self

    def interrupt(self) -> dict[str, Any]:
        check((self.last["type"], self.last.get("outcome", {}).get("type")), ("RUN_FINISHED", "interrupt"), "the end")
        (interrupt,) = self.last["outcome"]["interrupts"]
        return interrupt


class Client:
    """An AG-UI client of one server, of 1.0 or of before."""

    def __init__(self, url: str, kind: str, protocol_version: str | None, out: Path) -> None:
        self.url, self.kind, self.protocol_version, self.out = url, kind, protocol_version, out
        self.http = httpx.Client(timeout=PATIENCE_S)
        self.count = 0

    @property
    def streams(self) -> bool:
        return not self.kind.endswith("-poll")

    def body(self, thread: str, content: Any = None, resume: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        self.count += 1
        version = "1" if self.protocol_version else "0"
        body: dict[str, Any] = {
            "threadId": f"{thread}-{version}", "runId": f"r{version}-{self.count}", "state": {}, "messages": [], "context": [],
            "tools": [{"name": "of_the_client", "description": "never called", "parameters": {}}], "forwardedProps": {},
        }
        if content is not None:
            body["messages"] = [{"id": f"u-{thread}-{self.count}", "role": "user", "content": content}]
        if resume is not None:
            body["resume"] = resume
        if self.protocol_version:
            body["protocolVersion"] = self.protocol_version
        return body

    def run(self, thread: str, content: Any = None, resume: list[dict[str, Any]] | None = None,
            each: Callable[[dict[str, Any]], None] = lambda event: None) -> Run:
        body = self.body(thread, content, resume)
        events, raw = [], ""
        with self.http.stream("POST", self.url, json=body) as response:
            if response.status_code != 200:
                raise Wrong(f"HTTP {response.status_code}: {response.read()!r}")
            for line in response.iter_lines():
                raw += line + "\n"
                if line.startswith("data: "):
                    events.append(json.loads(line[6:]))
                    each(events[-1])
        old = "" if self.protocol_version else ".v0"
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / f"{body['threadId']}-{body['runId']}{old}.sse").write_text(raw)
        return Run(events)

    def answer(self, thread: str, interrupt: dict[str, Any], payload: Any) -> Run:
        return self.run(thread, resume=[{"interruptId": interrupt["id"], "status": "resolved", "payload": payload}])

    def give_up(self, thread: str, interrupt: dict[str, Any]) -> Run:
        return self.run(thread, resume=[{"interruptId": interrupt["id"], "status": "cancelled"}])

    def cancel(self, event: dict[str, Any]) -> tuple[int, Any]:
        ids = event["value"]
        path = f"extensions/iac-code/v1/executions/{ids['executionId']}/cancel"
        response = httpx.post(self.url + path, json={"threadId": ids["threadId"]}, timeout=PATIENCE_S)
        return response.status_code, response.json()


def text(client: Client) -> None:
    run = client.run("text", "stream").succeeded()
    check(run.texts, ["Looking it up.", "Hello, world"] if client.streams else run.texts, "the texts")
    check(run.texts[-1] if client.streams else "Hello, world" in run.texts, "Hello, world" if client.streams else True, "the answer")
    (ids,) = run.customs("a2a.task.v1")
    check(sorted(ids), ["contextId", "executionId", "runId", "schemaVersion", "taskId", "threadId"], "the ids")


def artifacts(client: Client) -> None:
    run = client.run("artifacts", "artifacts").succeeded()
    check(run.texts, ["left 1, left 2", "right 1, right 2"], "the texts")
    values = {value["artifactId"]: value["artifact"] for value in run.customs("a2a.artifact.v1")}
    check(sorted(values), ["picture", "report", "table"], "the artifacts")
    (table,), (picture,), (report,) = (values[name]["parts"] for name in ("table", "picture", "report"))
    check(table["data"], {"rows": [1, 2], "exact": True}, "the data")
    old = client.kind.startswith("v03")
    check(picture["file"]["bytes"] if old else picture["raw"], PNG, "the bytes")
    check(report["file"]["uri"] if old else report["url"], "https://files.example/report.pdf", "the address")


def ask(client: Client) -> None:
    interrupt = client.run("ask", "ask").interrupt()
    check((interrupt["reason"], interrupt["message"]), ("input_required", "Which city?"), "the question")
    check(interrupt["responseSchema"], {"type": "string", "minLength": 1}, "the schema")
    again = client.answer("ask", interrupt, "unsure").interrupt()
    check(again["message"], "Which city, please?", "the second question")
    if again["id"] == interrupt["id"]:
        raise Wrong("two questions with one id")
    wrong = client.answer("ask", again, {"freeText": "Oslo"})
    wrong.failed("RESUME_PAYLOAD_INVALID")
    run = client.answer("ask", again, "Oslo").succeeded()
    check(run.texts[-1], "Sunny in Oslo", "the answer")
    check([part for part in run.texts if part.startswith("Which")], [], "questions in the answer")


def auth(client: Client) -> None:
    interrupt = client.run("auth", "auth").interrupt()
    check((interrupt["reason"], interrupt["message"]), ("a2a:auth_required", "Please sign in."), "the question")
    check(interrupt["metadata"]["parts"], [{"data": {"url": "https://login.example/device", "code": "WXYZ"}}], "where to sign in")
    run = client.answer("auth", interrupt, "done").succeeded()
    check(run.texts, ["You are signed in."], "the answer")


def given_up(client: Client) -> None:
    interrupt = client.run("given-up", "ask").interrupt()
    run = client.give_up("given-up", interrupt)
    if client.protocol_version:
        check(run.last.get("outcome"), {"type": "cancelled"}, "the end")
    else:
        run.failed("CANCELLED")
    client.run("given-up", "stream").succeeded()


def failure(client: Client) -> None:
    run = client.run("failure", "fail").failed("A2A_EXECUTION_FAILED")
    check(run.texts, ["The archive is closed."], "the reason")
    if "archive" in run.last["message"]:
        raise Wrong("words of the agent in the error")


def rejection(client: Client) -> None:
    run = client.run("rejection", "reject").failed("A2A_EXECUTION_FAILED")
    check(run.texts, ["I do not do that."], "the reason")


def message(client: Client) -> None:
    for _ in range(2):
        run = client.run("message", "message").succeeded()
        check(run.texts, ["No task is needed for this."], "the answer")
        (value,) = run.customs("a2a.message.v1")
        check(value["parts"], [{"data": {"answer": 42}}], "the data")


def turns(client: Client) -> None:
    for number in (1, 2, 3):
        check(client.run("turns", "recall").succeeded().texts, [f"turn {number}"], "the turn of the context")


def steps(client: Client) -> None:
    run = client.run("steps", "steps").succeeded()
    check("".join(part for part in run.texts if not part.startswith("step")), "0 1 2 ", "the artifact")
    seen = [part for part in run.texts if part.startswith("step")]
    check(seen, ["step 0", "step 1", "step 2"] if client.streams else sorted(seen), "the steps")


def files(client: Client) -> None:
    parts = [
        {"type": "text", "text": "files"},
        {"type": "image", "source": {"type": "data", "value": PNG, "mimeType": "image/png"}, "metadata": {"filename": "dot.png"}},
        {"type": "document", "source": {"type": "data", "value": base64.b64encode(b"a,b").decode(), "mimeType": "text/csv"}},
        {"type": "video", "source": {"type": "url", "value": "https://files.example/v.mp4", "mimeType": "video/mp4"}},
    ]
    run = client.run("files", parts).succeeded()
    size = len(base64.b64decode(PNG))
    expected = f"[text - - -] [raw image/png dot.png {size}] [raw text/csv - 3] [url video/mp4 - https://files.example/v.mp4]"
    check(run.texts, [expected], "what the agent got")


def cancel(client: Client) -> None:
    replies = []

    def each(event: dict[str, Any]) -> None:
        if event["type"] == "CUSTOM" and event["name"] == "a2a.task.v1":
            thread = threading.Thread(target=lambda: replies.append(client.cancel(event)))
            thread.start()
            threads.append(thread)

    threads: list[threading.Thread] = []
    client.run("cancel", "slow", each=each).failed("CANCELLED")
    for thread in threads:
        thread.join()
    ((status, reply),) = replies
    check((status, reply["status"]), (200, "cancelled"), "the reply to the cancel")
    client.run("cancel", "stream").succeeded()


def disconnect(client: Client) -> None:
    """A client that goes away cancels the task; the thread is free again."""
    body = client.body("disconnect", "slow")
    with httpx.stream("POST", client.url, json=body, timeout=PATIENCE_S) as response:
        next(response.iter_lines())
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        body = client.body("disconnect", "recall")
        response = httpx.post(client.url, json=body, timeout=PATIENCE_S)
        if response.status_code == 200:
            return
        check(response.json()["error"]["code"], "THREAD_BUSY", "the refusal")
        time.sleep(0.1)
    raise Wrong("the thread stays busy")


def reconnect(client: Client) -> None:
    """The server loses patience with the stream, looks at the task and subscribes to it."""
    check(client.run("reconnect", "pause").succeeded().texts, ["before and after"], "the answer")


SCENARIOS = [text, artifacts, ask, auth, given_up, failure, rejection, message, turns, steps, files, cancel, disconnect]
# In front of a server that waits for a stream no longer than this.
HURRY = ["--a2a-idle-timeout", "1"]
IN_A_HURRY = [reconnect]


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Wrong(f"a process ended with {process.returncode}")
        try:
            httpx.get(url, timeout=2)
            return
        except httpx.HTTPError:
            time.sleep(0.05)
    raise Wrong(f"nothing answers at {url}")


Scenario = Callable[[Client], None]


def drive(url: str, kind: str, out: Path, scenarios: list[Scenario], only: list[str]) -> Iterator[tuple[str, str]]:
    """Name of each scenario and what is wrong with it."""
    jobs = [(scenario, version) for version in ("1.0", None) for scenario in scenarios]

    def one(job: tuple[Scenario, str | None]) -> tuple[str, str]:
        scenario, version = job
        try:
            scenario(Client(url, kind, version, out))
            return scenario.__name__, ""
        except (Wrong, httpx.HTTPError, ValueError, KeyError, AssertionError) as wrong:
            return f"{scenario.__name__} ({version or 'older'} client)", f"{type(wrong).__name__}: {wrong}"

    wanted = [job for job in jobs if not only or any(job[0].__name__.startswith(prefix) for prefix in only)]
    with ThreadPoolExecutor(len(wanted) or 1) as pool:
        yield from pool.map(one, wanted)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    only = [prefix for prefix in options.only.split(",") if prefix]
    processes: list[subprocess.Popen[bytes]] = []
    passed = failed = 0
    # Whoever ends this program ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    def start(command: list[str], **more: Any) -> subprocess.Popen[bytes]:
        processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, **more))
        return processes[-1]

    with tempfile.TemporaryDirectory(prefix="agui-generic-") as scratch:
        try:
            for name, agent in AGENTS.items():
                port = free_port()
                wait_for(f"http://127.0.0.1:{port}/", start([*agent, str(port)]))
                places = [(kind, [], SCENARIOS) for kind in KINDS]
                places += [(kind, HURRY, IN_A_HURRY) for kind in KINDS if not kind.endswith("-poll")]
                for kind, more, scenarios in places:
                    served = free_port()
                    words = shlex.split(options.server.replace("{host}", "127.0.0.1").replace("{port}", str(served)))
                    state = Path(scratch) / name / kind
                    flags = ["--profile", "generic", "--a2a-url", f"http://127.0.0.1:{port}/{kind}/", "--state-dir", str(state), *more]
                    with open(f"{scratch}/{name}-{kind}.log", "ab") as log:
                        server = start([*words, *flags], stderr=log, env=ENVIRONMENT)
                    url = f"http://127.0.0.1:{served}/"
                    wait_for(url + "health", server)
                    for scenario, wrong in drive(url, kind, options.out / name / kind, scenarios, only):
                        passed, failed = passed + (not wrong), failed + bool(wrong)
                        if wrong:
                            print(f"{name} {kind} {scenario}: {wrong}")
                    server.terminate()
                    if failed:
                        print(Path(f"{scratch}/{name}-{kind}.log").read_text()[-2000:])
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()
    print(f"generic: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    raise SystemExit(main())
