"""Rows about `/invocations`, `/ping` and the process."""
from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import harness
from harness import Frames, Server, invoke, receive, request, run_input, ws
from probes import Seen, fresh, row, sdk, stream_fault

IDENTITY_TOKEN = "X-Amz-Bedrock-AgentCore-Identity-WAT"


@row(1, "`/ping` during a run")
def ping_during_a_run(server: Server) -> Seen:
    def status() -> dict[str, Any]:
        return json.loads(request(server.port, "GET", "/ping").body)

    harness.wait_for(lambda: status()["status"] == "Healthy")
    connection, seen = harness.open_invocation(server.port, run_input("ticks 400"))
    harness.read_until(connection, seen, b"TEXT_MESSAGE_CONTENT")
    time.sleep(1.1)
    during = [status()]
    time.sleep(1.1)
    during.append(status())
    connection.close()
    words = " and ".join(sorted({str(ping["status"]) for ping in during}))
    times = {ping.get("time_of_last_update") for ping in during}
    if times == {None}:
        return f"`{words}`, no time", False
    frozen = len(times) == 1 and all(isinstance(t, int) for t in times)
    return f"`{words}`, time {'frozen' if frozen else 'moves'}", words == "HealthyBusy" and frozen


@row(2, "an agent that never awaits: the slowest `/ping`")
def ping_beside_a_busy_agent(server: Server) -> Seen:
    with harness.Pings(server.port) as pings:
        time.sleep(0.1)
        answer = invoke(server.port, run_input("burst 40000"))
    assert len(answer.events()) == 40_004, len(answer.events())
    with harness.Pings(server.port) as blocked:
        time.sleep(0.1)
        invoke(server.port, run_input("block 2"))
    worst = max(pings.worst_ms(), blocked.worst_ms())
    return f"{worst:.0f} ms ({pings.worst_ms():.0f} beside 40,000 deltas, {blocked.worst_ms():.0f} beside a " \
        f"blocked thread)", worst < 500


@row(3, "a ping handler of the wrong shape", aside=True)
def ping_handlers(server: Server) -> Seen:
    if server.name != "sdk":
        answer = request(server.port, "GET", "/ping")
        return f"{answer.status}; there is no handler: the status is a type", answer.status == 200
    found = []
    for shape in ("text", "async"):
        # It never answers /ping with 200, so nothing can wait for it.
        port = harness.free_port()
        command = [sys.executable, str(harness.HERE / "sdk_agent.py"), "--port", str(port), "--ping", shape]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                harness.wait_for(lambda: listens(port), 20)
                answer = request(port, "GET", "/ping")
                found.append(f"{shape}: {answer.status} {answer.headers['content-type'].split(';')[0]}")
            finally:
                process.kill()
    return "; ".join(found), False


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@row(12, "an exception that says `secret=/etc/passwd`")
def exception_text(server: Server) -> Seen:
    answer = invoke(server.port, run_input("raise"))
    error = answer.events()[-1]
    hidden = b"secret" not in answer.body
    logged = server.name == "sdk" or "secret=/etc/passwd" in server.text()
    told = f"code {error['code']}, message `{error['message']}`" if not hidden else \
        f"code {error['code']}, a fixed text and an error id; the log has the rest"
    return told, hidden and logged and error["code"] == "AGENT_ERROR"


@row(13, "the body of a 400")
def bad_request(server: Server) -> Seen:
    value = "secret-value"
    bodies = [f'{{"threadId":"{value}"}}', f'{{"threadId":"t","runId":"r","messages":[{{"role":"{value}"}}]}}', "{"]
    answers = [invoke(server.port, body.encode()) for body in bodies]
    kind = answers[0].headers["content-type"].split(";")[0]
    leaks = [word for word in (value, "https://", "ag_ui") if any(word in a.body.decode() for a in answers)]
    names = [code for a in answers for code in (a.codes() if kind == "text/event-stream" else [])]
    if kind != "text/event-stream":
        return f"{kind}; {'repeats the input, links to a library' if len(leaks) > 1 else leaks}", False
    return f"{kind}, {', '.join(sorted(set(map(str, names))))}; names the field, repeats nothing", not leaks


@row(14, "an agent that ends early, goes on after the end, has other ids or begins with text")
def broken_streams(server: Server) -> Seen:
    faults = []
    for word in ("nothing", "after", "ids", "before", "sample"):
        body = run_input(word)
        fault = stream_fault(body, invoke(server.port, body).events())
        if fault:
            faults.append(f"{word}: {fault}")
    return ("passed through: " + "; ".join(faults)) if faults else "repaired, the contract's own sample too", not faults


@row(15, "the agent's task is cancelled")
def cancelled_agent(server: Server) -> Seen:
    answer = invoke(server.port, run_input("cancelled"))
    told = ", ".join(answer.types())
    return f"{told}; body {'whole' if answer.whole else 'cut'}", answer.whole and answer.types()[-1] == "RUN_ERROR"


@row(16, "the same request again, during the run and after it")
def same_request(server: Server) -> Seen:
    body = run_input("ticks 20")
    with ThreadPoolExecutor() as pool:
        first = pool.submit(invoke, server.port, body)
        time.sleep(0.3)
        second = pool.submit(invoke, server.port, body)
        answers = [first.result(), second.result()]
    answers.append(invoke(server.port, body))
    runs = server.counts()["runs"][body["runId"]]
    same = len({answer.body for answer in answers}) == 1
    return f"run {runs} time(s); {'the same answer' if same else 'other answers'}", runs == 1 and same


@row(17, "an agent that is silent for 17 s", aside=True)
def heartbeat(server: Server) -> Seen:
    with fresh(server) as other:
        connection, seen = harness.open_invocation(other.port, run_input("silent 17"))
        begun = time.monotonic()
        harness.read_until(connection, seen, b"RUN_STARTED")
        before = len(seen)
        try:
            harness.read_until(connection, seen, b"\n: ")
        except RuntimeError:
            return "no byte", False
        except OSError:
            return "no byte", False
        finally:
            connection.close()
        if b"RUN_FINISHED" in seen[before:]:
            return "no byte", False
        return f"a comment after {time.monotonic() - begun:.0f} s", True


@row(18, "SIGTERM during a run by SSE, and one by ws", aside=True)
def sigterm(server: Server) -> Seen:
    with fresh(server) as other:
        connection, seen = harness.open_invocation(other.port, run_input("silent 30"))
        harness.read_until(connection, seen, b"RUN_STARTED")

        async def hold() -> Frames:
            async with ws(other.port) as held:
                await held.send(json.dumps(run_input("silent 30")))
                ready.set()
                return await receive(held, Frames(), None)

        ready = threading.Event()
        with ThreadPoolExecutor() as pool:
            frames = pool.submit(lambda: asyncio.run(hold()))
            ready.wait()
            time.sleep(0.3)
            took, code = harness.terminate(other, 13)
            other.process.kill()
            try:
                harness.read_until(connection, seen, b"RUN_ERROR")
                told = "RUN_ERROR"
            except (RuntimeError, OSError):
                told = "nothing"
            kept = frames.result()
        last = kept.types()[-1] if kept.messages else "nothing"
        ending = f"exit {code} after {took:.1f} s" if code is not None else "goes on for more than 13 s"
        good = code == 0 and took < 12 and told == "RUN_ERROR" and last == "RUN_ERROR" and kept.close == 1001
        return f"SSE: {told}; ws: {last}, {kept.close}; {ending}", good


@row(19, "a body of 100 MB; JSON 100,000 deep", aside=True)
def large_bodies(server: Server) -> Seen:
    with fresh(server) as other:
        deep = run_input()
        text = json.dumps(deep).replace('"state": {}', f'"state": {"[" * 100_000}{"]" * 100_000}')
        nested = invoke(other.port, text.encode())
        large = json.dumps(run_input(state={"text": "x" * 100_000_000})).encode()
        try:
            status = str(invoke(other.port, large).status)
        except OSError:
            # The answer came before the body was sent; clients that read it first see it.
            status = status_while_sending(other.port, large)
        peak = int(next(line.split()[1] for line in Path(f"/proc/{other.process.pid}/status").read_text().splitlines()
                        if line.startswith("VmHWM")))
        again = invoke(other.port, run_input()).types()[-1]
        told = nested.codes()[0] if nested.headers["content-type"].startswith("text/event") else "recursion error"
        return f"{status}, peak {peak // 1024} MiB; {nested.status} {told}", again == "RUN_FINISHED" \
            and nested.status == 400 and status == "413" and peak < 100 * 1024


def status_while_sending(port: int, body: bytes) -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"POST /invocations HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode())
        return connection.recv(64).split(b" ")[1].decode()


@row(20, "an idle keep-alive connection", aside=True)
def keep_alive(server: Server) -> Seen:
    with fresh(server) as other, socket.create_connection(("127.0.0.1", other.port), timeout=8) as connection:
        connection.sendall(b"GET /ping HTTP/1.1\r\nHost: x\r\n\r\n")
        seen = bytearray()
        harness.read_until(connection, seen, b"}")
        begun = time.monotonic()
        try:
            connection.recv(1)
        except TimeoutError:
            return "open after 8 s (120 s are set)", True
        return f"closed after {time.monotonic() - begun:.1f} s", False


@row(21, "request id and identity token under their other names", aside=True)
def aliases(server: Server) -> Seen:
    with fresh(server, "--forward-header", IDENTITY_TOKEN) as other:
        answer = invoke(other.port, run_input(), {"x-amzn-requestid": "request-1", IDENTITY_TOKEN: "token-1"})
        seen = other.counts()
    if server.name == "sdk":
        known, token = seen["request"] == "request-1", seen["token"] == "token-1"
        return f"request id {'taken' if known else 'made up'}; token {'read' if token else 'not read'}", known and token
    echoed = answer.headers.get("x-amzn-requestid") == "request-1"
    passed = seen["headers"].get("x-amzn-requestid") == "request-1"
    token = seen["headers"].get(IDENTITY_TOKEN.lower()) == "token-1"
    return f"request id {'taken, echoed and passed on' if echoed and passed else 'lost'}; " \
        f"token {'passed on when that is asked for' if token else 'lost'}", echoed and passed and token


@row(22, "the log of ten pings and one run", aside=True)
def logs(server: Server) -> Seen:
    with fresh(server) as other:
        for _ in range(10):
            request(other.port, "GET", "/ping")
        session = "session-0123456789-0123456789-0123456789"
        invoke(other.port, run_input(), {harness.SESSION: session, "x-amzn-requestid": "request-7"})
        time.sleep(0.2)
        lines = other.text().splitlines()
    pings = sum("/ping" in line for line in lines)
    ids = sum("request-7" in line and session in line for line in lines)
    is_json = all(line.startswith("{") for line in lines if line)
    return f"{pings} lines of pings; {ids} with request and session id; {'JSON' if is_json else 'plain text'}", \
        pings == 0 and ids > 0 and is_json


@row(23, "an agent of another shape", aside=True)
def shapes(server: Server) -> Seen:
    if server.name != "sdk":
        return "does not compile: `Agent` is a trait", True
    found = []
    for shape in ("sync", "coroutine", "renamed"):
        with sdk("--shape", shape) as other:
            found.append(f"{shape}: {invoke(other.port, run_input()).types()[-1]}")
    return "at run time: " + ", ".join(found), False


@row(24, "a body with `threadId`, `runId` and `messages` only")
def minimal_body(server: Server) -> Seen:
    body = {"threadId": "t-min", "runId": f"r-{time.time_ns()}", "messages": [{"id": "m", "role": "user", "content": "hi"}]}
    answer = invoke(server.port, body)
    if server.name != "sdk":
        return f"{answer.status}", answer.status == 200 and answer.types()[-1] == "RUN_FINISHED"
    code = f"from ag_ui.core import RunAgentInput; RunAgentInput(**{body!r})"
    old = os.environ.get("AGENTCORE_OLD_PYTHON")
    if not old:
        return f"{answer.status} with 1.0.0 of the models", False
    refused = subprocess.run([old, "-c", code], capture_output=True, check=False).returncode != 0
    return f"{answer.status} with 1.0.0 of the models, {'refused' if refused else 'taken'} by their 0.1.20", False
