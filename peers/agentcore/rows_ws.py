"""Rows about `/ws`."""
from __future__ import annotations

import asyncio
import base64
import json
import socket
import time

import harness
from harness import Frames, Server, is_terminal, receive, run_input, run_over, ws
from probes import Seen, fresh, row


@row(4, 'ws: `{"threadId":"t-1"}`')
def ws_missing_fields(server: Server) -> Seen:
    async def probe() -> Seen:
        async with ws(server.port) as connection:
            bad = await run_over(connection, '{"threadId":"t-1"}')
            if bad.close is not None:
                return f"closed with {bad.close}", False
            good = await run_over(connection, run_input())
            return f"RUN_ERROR {bad.codes()[0]}, socket open", good.types()[-1] == "RUN_FINISHED"

    return asyncio.run(probe())


@row(5, "ws: a second run on the socket")
def ws_second_run(server: Server) -> Seen:
    async def probe() -> Seen:
        async with ws(server.port) as connection:
            await run_over(connection, run_input())
            second = await run_over(connection, run_input())
            if not second.messages:
                return f"lost; closed with {second.close}", False
            return "answered", second.types()[-1] == "RUN_FINISHED"

    return asyncio.run(probe())


@row(6, 'ws: `{"type":"cancel"}` during a run')
def ws_cancel(server: Server) -> Seen:
    async def probe() -> Seen:
        async with ws(server.port) as connection:
            await connection.send(json.dumps(run_input("ticks 60")))
            await receive(connection, Frames(), lambda event: event["type"] == "TEXT_MESSAGE_CONTENT")
            begun = time.monotonic()
            await connection.send('{"type":"cancel"}')
            rest = await receive(connection, Frames(), is_terminal, timeout=10)
            took = (rest.times[-1] - begun) * 1000
            deltas = rest.types().count("TEXT_MESSAGE_CONTENT")
            if deltas > 20:
                return f"ignored: {deltas} more deltas", False
            return f"ended after {took:.0f} ms", took < 1_000 and is_terminal(rest.events()[-1])

    return asyncio.run(probe())


@row(7, "ws: what a text frame holds")
def ws_frame(server: Server) -> Seen:
    async def probe() -> Seen:
        async with ws(server.port) as connection:
            frames = await run_over(connection, run_input())
            bare = all(text.startswith("{") for text in frames.messages)
            return "one bare JSON event" if bare else f"`{frames.messages[0][:14]}…` and two line breaks", bare

    return asyncio.run(probe())


@row(8, "ws: an event of 200,000 characters; 5,000 deltas at once")
def ws_limits(server: Server) -> Seen:
    async def probe() -> Seen:
        async with ws(server.port) as connection:
            large = await run_over(connection, run_input("snapshot 200000"))
        async with ws(server.port) as connection:
            many = await run_over(connection, run_input("burst 5000"))
        size = max(max(sizes) for sizes in large.sizes)
        sent = [at for at, sizes in zip(many.times, many.sizes) for _ in sizes]
        rate = max(sum(1 for at in sent if begin <= at < begin + 1) for begin in sent)
        whole = many.text() == "0123456" * 5_000 and len(large.events()[1]["snapshot"]["text"]) == 200_000
        return f"largest frame {size:,} bytes; {rate:,} frames in a second", whole and size <= 32_000 and rate <= 200

    return asyncio.run(probe())


@row(9, "ws: JSON in a binary frame; the bearer subprotocol")
def ws_binary_and_subprotocol(server: Server) -> Seen:
    async def probe() -> Seen:
        async with ws(server.port) as connection:
            binary = await run_over(connection, json.dumps(run_input()).encode())
        name = "base64UrlBearerAuthorization"
        token = base64.urlsafe_b64encode(b"token").decode().rstrip("=")
        async with ws(server.port, subprotocols=[name, f"{name}.{token}"]) as connection:
            chosen = connection.subprotocol
        ran = bool(binary.messages) and binary.types()[-1] == "RUN_FINISHED"
        first = "accepted" if ran else f"closed with {binary.close}"
        return f"{first}; {'echoed' if chosen == name else 'not echoed'}", ran and chosen == name

    return asyncio.run(probe())


@row(10, "ws: the client leaves while the agent is silent")
def ws_client_leaves(server: Server) -> Seen:
    before = server.counts()["cancelled"]

    async def leave() -> None:
        async with ws(server.port) as connection:
            await connection.send(json.dumps(run_input("silent 4")))
            await receive(connection, Frames(), lambda event: event["type"] == "RUN_STARTED")

    asyncio.run(leave())
    try:
        took = harness.wait_for(lambda: server.counts()["cancelled"] > before, 2)
    except AssertionError:
        return "the agent goes on for more than 2 s", False
    return f"the agent is stopped after {took * 1000:.0f} ms", True


@row(11, "ws: pings on an idle socket", aside=True)
def ws_idle(server: Server) -> Seen:
    with fresh(server) as other:
        with socket.create_connection(("127.0.0.1", other.port)) as connection:
            connection.sendall(
                f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{other.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            seen = bytearray()
            harness.read_until(connection, seen, b"\r\n\r\n")
            connection.settimeout(22)
            begun = time.monotonic()
            try:
                first = connection.recv(1)
            except TimeoutError:
                return "none within 22 s", True
            is_ping = bool(first) and first[0] & 0x0F == 9
            return f"{'a ping' if is_ping else 'something else'} after {time.monotonic() - begun:.0f} s", not is_ping
