"""Programs that people call an agent on AgentCore with, against the shim.

    python clients.py [--only PREFIX]

boto3 is the real one: its requests are sent to the shim's path instead of the platform's, the way the platform hands
them on. `websockets` is the client of this process; npm `ws` and `@ag-ui/client` are in peers/node.
The checks named `kit_` are what the public tests of the official AG-UI app ask of an app, in our words.
"""
from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from websockets.exceptions import ConnectionClosed

import harness
from harness import SESSION, Frames, check, invoke, is_terminal, receive, request, run_input, run_over, running, ws

NODE = harness.HERE.parent / "node" / "agentcore"
ARN = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-AbCdEf1234"
OURS: Any = None
DEMO: Any = None


def expect(found: Any, wanted: Any, what: str = "") -> None:
    assert found == wanted, f"{what}: {found!r}, expected {wanted!r}"


# boto3


def client(port: int, **config: Any) -> Any:
    made = boto3.client(
        "bedrock-agentcore",
        region_name="us-west-2",
        endpoint_url=f"http://127.0.0.1:{port}",
        aws_access_key_id="AKIDEXAMPLE",
        aws_secret_access_key="example",
        config=Config(**config),
    )

    def to_container(request: Any, **_: Any) -> None:
        request.url = f"http://127.0.0.1:{port}/invocations"

    made.meta.events.register("before-send.bedrock-agentcore.*", to_container)
    return made


def call(made: Any, body: dict[str, Any], **more: Any) -> Any:
    return made.invoke_agent_runtime(agentRuntimeArn=ARN, payload=json.dumps(body).encode(), **more)


@check
def boto3_posts_octet_streams_and_reads_the_stream() -> None:
    session = f"session-{uuid.uuid4()}"
    for more in ({}, {"contentType": "application/json", "accept": "text/event-stream"}):
        answer = call(client(OURS.port), run_input("echo hi"), runtimeSessionId=session, **more)
        events = harness.events_in(answer["response"].read().decode())
        expect(events[-1]["type"], "RUN_FINISHED", str(more))
        expect(answer["contentType"], "text/event-stream")
        expect(answer["runtimeSessionId"], session)
        expect(OURS.counts()["session"], session)


@check
def boto3_tries_five_times_and_the_run_runs_once() -> None:
    # The answer's head comes at once, so the client runs into its timeout while it reads; so it is the caller who
    # sends the same request again, as the samples do. A run that has begun is joined from its first event, within
    # its session: a call that names none goes to a machine of its own.
    body = run_input("ticks 40")
    session = f"session-{uuid.uuid4()}"
    texts, tries = [], 0
    for _ in range(5):
        tries += 1
        made = client(OURS.port, read_timeout=1, retries={"total_max_attempts": 5})
        answer = call(made, body, runtimeSessionId=session)
        seen = bytearray()
        begun = time.monotonic()
        for chunk in answer["response"].iter_chunks(64):
            seen += chunk
            if time.monotonic() - begun > 0.5 and tries < 5:
                break
        answer["response"].close()
        texts.append(bytes(seen))
    expect(OURS.counts()["runs"][body["runId"]], 1, "runs")
    assert all(text.startswith(texts[0][:40]) for text in texts), "not from the first event"
    events = harness.events_in(texts[-1].decode())
    deltas = [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]
    expect(deltas, [f"{tick} " for tick in range(40)], "the whole text")


@check
def boto3_retries_on_its_own_and_the_run_runs_once() -> None:
    # An agent that takes its time before the first byte: with the official app each of the tries starts a run.
    with running(harness.start_ours, "--on-disconnect", "grace:30") as slow:
        proxy = Stalling(slow.port, hold_s=1.5)
        body = run_input("ticks 60")
        made = client(proxy.port, read_timeout=1, retries={"total_max_attempts": 5, "mode": "legacy"})
        answer = call(made, body)
        events = harness.events_in(answer["response"].read().decode())
        expect(events[-1]["type"], "RUN_FINISHED")
        assert proxy.connections >= 2, f"{proxy.connections} tries"
        expect(slow.counts()["runs"][body["runId"]], 1, f"runs of {proxy.connections} tries")


class Stalling:
    """Passes connections on; the answer of each of the first ones is held back until the client gave up."""

    def __init__(self, port: int, hold_s: float) -> None:
        import socket
        import threading

        self.upstream, self.hold_s, self.connections = port, hold_s, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        import threading

        while True:
            accepted, _ = self.listener.accept()
            self.connections += 1
            threading.Thread(target=self._pass, args=(accepted, self.connections <= 2), daemon=True).start()

    def _pass(self, accepted: Any, hold: bool) -> None:
        import socket
        import threading

        with accepted, socket.create_connection(("127.0.0.1", self.upstream)) as there:
            def back() -> None:
                if hold:
                    time.sleep(self.hold_s)
                try:
                    while data := there.recv(65536):
                        accepted.sendall(data)
                    accepted.shutdown(socket.SHUT_WR)
                except OSError:
                    pass

            answering = threading.Thread(target=back, daemon=True)
            answering.start()
            try:
                while data := accepted.recv(65536):
                    there.sendall(data)
            except OSError:
                pass
            answering.join(self.hold_s + 1 if hold else None)


@check
def bodies_of_any_type_that_may_be_json_are_read() -> None:
    for kind in (None, "application/octet-stream", "text/plain", "application/json; charset=utf-8", "application/x+json"):
        headers = {"Content-Type": kind} if kind else {}
        answer = request(OURS.port, "POST", "/invocations", json.dumps(run_input()).encode(), headers)
        expect((answer.status, answer.types()[-1]), (200, "RUN_FINISHED"), str(kind))
    for kind in ("multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/xml"):
        answer = request(OURS.port, "POST", "/invocations", json.dumps(run_input()).encode(), {"Content-Type": kind})
        expect(answer.status, 415, kind)
    slash = request(OURS.port, "POST", "/invocations/", json.dumps(run_input()).encode())
    expect((slash.status, slash.types()[-1]), (200, "RUN_FINISHED"), "trailing slash")


# websockets


@check
async def websockets_talks_through_several_turns() -> None:
    async with ws(OURS.port, additional_headers={SESSION: "ws-session-0123456789-0123456789-0"}) as connection:
        for turn in range(3):
            body = run_input(f"echo {turn}")
            frames = await run_over(connection, json.dumps(body).encode() if turn == 1 else body)
            types = ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]
            expect(frames.types(), types, f"turn {turn}")
            expect(frames.text(), f"echo: echo {turn}")
            expect(frames.events()[0]["runId"], body["runId"])
        expect(OURS.counts()["session"], "ws-session-0123456789-0123456789-0")


@check
async def websockets_second_input_during_a_run_is_refused_and_the_run_goes_on() -> None:
    async with ws(OURS.port) as connection:
        await connection.send(json.dumps(run_input("ticks 10")))
        await receive(connection, Frames(), lambda event: event["type"] == "TEXT_MESSAGE_CONTENT")
        await connection.send(json.dumps(run_input()))
        rest = await receive(connection, Frames(), lambda event: event["type"] == "RUN_FINISHED")
        expect(rest.codes(), ["SESSION_BUSY"])
        after = await run_over(connection, run_input())
        expect(after.types()[-1], "RUN_FINISHED")


@check
async def websockets_cancel_ends_the_run_and_the_socket_stays() -> None:
    async with ws(OURS.port) as connection:
        body = run_input("silent 20")
        await connection.send(json.dumps(body))
        await receive(connection, Frames(), lambda event: event["type"] == "RUN_STARTED")
        begun = time.monotonic()
        await connection.send(json.dumps({"type": "cancel", "runId": body["runId"]}))
        rest = await receive(connection, Frames(), is_terminal)
        assert time.monotonic() - begun < 2, "late"
        expect(rest.events()[-1].get("outcome"), {"type": "cancelled"})
        expect((await run_over(connection, run_input())).types()[-1], "RUN_FINISHED")


@check
async def websockets_bad_messages_are_answered_and_the_socket_stays_for_a_while() -> None:
    async with ws(OURS.port) as connection:
        for bad in ("not json", '{"threadId":"t-1"}', "[]", b"\xff\xfe"):
            frames = await run_over(connection, bad)
            expect(len(frames.codes()), 1, f"{bad!r}")
        expect((await run_over(connection, run_input())).types()[-1], "RUN_FINISHED")


@check
async def websockets_old_clients_get_events_as_server_sent_events() -> None:
    with running(harness.start_ours, "--ws-frames", "sse") as other:
        async with ws(other.port) as connection:
            frames = await run_over(connection, run_input())
            assert all(text.startswith("data: {") and text.endswith("}\n\n") for text in frames.messages)
            expect(frames.types()[-1], "RUN_FINISHED")


@check
async def websockets_finds_nothing_too_large_or_too_fast() -> None:
    async with ws(OURS.port) as connection:
        for word in ("snapshot 300000", "burst 20000"):
            frames = await run_over(connection, run_input(word))
            expect(frames.types()[-1], "RUN_FINISHED")
            assert max(max(sizes) for sizes in frames.sizes) <= 32_000, word
            sent = [at for at, sizes in zip(frames.times, frames.sizes) for _ in sizes]
            assert max(sum(begin <= at < begin + 1 for at in sent) for begin in sent) <= 250, word
        expect(frames.text(), "0123456" * 20_000)


# Node


def node(script: str, *arguments: str) -> None:
    finished = subprocess.run(
        ["node", str(NODE / script), *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert finished.returncode == 0, (finished.stdout + finished.stderr)[-2_000:]


@check
def npm_ws_talks_through_several_turns_with_a_token() -> None:
    node("ws.mjs", f"ws://127.0.0.1:{OURS.port}/ws")


@check
def ag_ui_client_takes_every_stream_by_http_and_by_websocket() -> None:
    node("ag-ui-client.mjs", f"127.0.0.1:{OURS.port}", "status")
    node("ag-ui-client.mjs", f"127.0.0.1:{DEMO.port}", "status", "hello")


@check
def ag_ui_client_sees_the_reason_of_a_refusal_in_both_modes() -> None:
    with running(harness.start_ours, "--error-mode", "stream") as other:
        node("ag-ui-client.mjs", f"127.0.0.1:{other.port}", "stream")


# What the public tests of the official app ask for.


@check
def kit_the_three_routes_are_there() -> None:
    expect(request(OURS.port, "GET", "/ping").status, 200)
    expect(invoke(OURS.port, run_input()).status, 200)
    asyncio.run(opens_and_closes())


async def opens_and_closes() -> None:
    async with ws(OURS.port):
        pass


@check
def kit_ping_is_healthy_with_whole_seconds() -> None:
    harness.wait_for(lambda: json.loads(request(OURS.port, "GET", "/ping").body)["status"] == "Healthy")
    answer = request(OURS.port, "GET", "/ping")
    body = json.loads(answer.body)
    expect(answer.headers["content-type"], "application/json")
    assert type(body["time_of_last_update"]) is int and 0 < body["time_of_last_update"] <= time.time(), body


@check
def kit_events_come_as_the_agent_yields_them() -> None:
    answer = invoke(OURS.port, run_input("custom"))
    expect(answer.types(), ["RUN_STARTED", "CUSTOM", "RUN_FINISHED"])
    expect(answer.headers["content-type"], "text/event-stream")


@check
async def kit_a_socket_streams_the_same_events_as_http() -> None:
    by_http = invoke(OURS.port, run_input("sample")).types()
    async with ws(OURS.port) as connection:
        expect((await run_over(connection, run_input("sample"))).types(), by_http)


@check
async def kit_an_agent_that_raises_ends_its_run_with_an_error_on_a_socket_too() -> None:
    async with ws(OURS.port) as connection:
        frames = await run_over(connection, run_input("raise"))
        expect(frames.types(), ["RUN_STARTED", "RUN_ERROR"])


@check
async def kit_an_input_that_lacks_fields_is_refused_on_a_socket() -> None:
    # The official app closes the socket; here it stays, and the refusal says which field it is.
    async with ws(OURS.port) as connection:
        frames = await run_over(connection, '{"threadId":"t-1"}')
        expect(frames.codes(), ["VALIDATION_ERROR"])
        assert "/runId" in frames.events()[0]["message"], frames.messages


@check
def kit_the_agent_sees_the_platforms_headers() -> None:
    names = ["WorkloadAccessToken", "OAuth2CallbackUrl"]
    flags = [flag for name in names for flag in ("--forward-header", name)]
    given = {
        SESSION: "session-0123456789-0123456789-0123456789",
        "X-Amzn-Bedrock-AgentCore-Runtime-Request-Id": "req-456",
        "WorkloadAccessToken": "tok-xyz",
        "OAuth2CallbackUrl": "https://callback.example.com",
        "X-Amzn-Bedrock-AgentCore-Runtime-Custom-Foo": "bar",
        "Authorization": "Bearer test-token",
    }
    for asked in ([], flags):
        with running(harness.start_ours, *asked) as other:
            invoke(other.port, run_input(), given)
            seen = other.counts()
        expect((seen["session"], seen["request"]), (given[SESSION], "req-456"))
        expect(seen["headers"].get("x-amzn-bedrock-agentcore-runtime-custom-foo"), "bar")
        # What proves who calls goes on only where that is asked for.
        expect(seen["token"], "tok-xyz" if asked else None)
        for name in names:
            expect(seen["headers"].get(name.lower()), given[name] if asked else None, name)
        # The token that was meant for the shim stays there, unless it is asked for by its name.
        expect(seen["headers"].get("authorization"), None)
    with running(harness.start_ours, "--forward-header", "authorization") as other:
        invoke(other.port, run_input(), given)
        expect(other.counts()["headers"].get("authorization"), given["Authorization"])


@check
def kit_the_shim_starts_an_agent_of_the_kit_itself() -> None:
    agent = ["--upstream-path", "/invocations", "--", sys.executable, str(harness.HERE / "sdk_agent.py"), "--port", "{port}"]
    with running(harness.start_shim, "started", *agent) as other:
        expect(request(other.port, "POST", "/warmup").status, 200, "warm")
        expect(invoke(other.port, run_input("echo hi")).types()[-1], "RUN_FINISHED")
        took, code = harness.terminate(other)
        assert code == 0 and took < 12, (took, code)


@check
def kit_a_request_without_an_id_gets_one() -> None:
    found = invoke(OURS.port, run_input()).headers["x-amzn-requestid"]
    uuid.UUID(found)


@check
def kit_it_listens_where_it_is_told_and_everywhere_by_default() -> None:
    port = harness.free_port()
    with tempfile.TemporaryDirectory() as directory:
        environment = {**os.environ, "PORT": str(port)}
        command = [*harness.shim_command(), "--upstream", "http://127.0.0.1:9/"]
        with subprocess.Popen(command, env=environment, cwd=directory, stderr=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL) as process:
            try:
                harness.wait_for(lambda: listening_on(process.pid) == [("0.0.0.0", port)])
            finally:
                process.kill()


def listening_on(pid: int) -> list[tuple[str, int]]:
    """The IPv4 addresses that a process listens on."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(os.readlink(link))
        except OSError:
            continue
    found = []
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
            address, port = fields[1].split(":")
            found.append((".".join(str(byte) for byte in bytes.fromhex(address)[::-1]), int(port, 16)))
    return found


def main() -> int:
    global OURS, DEMO
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    demo = lambda directory: harness.start_shim(directory, "demo", "--demo")  # noqa: E731
    # The tries of one caller come seconds apart.
    with running(harness.start_ours, "--on-disconnect", "grace:30") as OURS, running(demo) as DEMO:
        return harness.run_checks("clients", options.only)


if __name__ == "__main__":
    raise SystemExit(main())
