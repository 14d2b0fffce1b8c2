"""Asks a running shim for one run over /invocations and one over /ws; standard library only.

    python3 probe.py HOST:PORT
"""
import base64
import json
import os
import socket
import struct
import sys
import urllib.request

SESSION = "probe-session-0000000000000000000000001"
HEADERS = {"X-Amzn-Bedrock-AgentCore-Runtime-Session-Id": SESSION}


def run_input(number):
    return json.dumps({"threadId": f"probe-{number}", "runId": f"run-{number}",
                       "messages": [{"id": "m1", "role": "user", "content": "chat"}]}).encode()


def check(what, events):
    kinds = [event["type"] for event in events]
    if kinds[:1] != ["RUN_STARTED"] or kinds[-1:] != ["RUN_FINISHED"] or "TEXT_MESSAGE_CONTENT" not in kinds:
        sys.exit(f"{what}: {kinds}")
    print(f"{what}: {len(events)} events")


def over_http(address):
    request = urllib.request.Request(f"http://{address}/invocations", run_input(1),
                                     {**HEADERS, "Content-Type": "application/octet-stream"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        if answer.headers["Content-Type"] != "text/event-stream":
            sys.exit(f"/invocations: {answer.headers['Content-Type']}")
        lines = answer.read().decode().split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def exactly(stream, count):
    data = stream.read(count)
    if len(data) != count:
        sys.exit("/ws: the connection ended")
    return data


def over_websocket(address):
    host, port = address.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=60)
    key = base64.b64encode(os.urandom(16)).decode()
    head = {"Host": address, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key, **HEADERS}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    connection.sendall(f"GET /ws HTTP/1.1\r\n{lines}\r\n".encode())
    stream = connection.makefile("rb")
    status = stream.readline().decode().strip()
    if " 101 " not in status + " ":
        sys.exit(f"/ws: {status}")
    while stream.readline() != b"\r\n":
        pass
    body, mask = run_input(2), os.urandom(4)
    masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(body))
    connection.sendall(bytes([0x81, 0x80 | 126]) + struct.pack(">H", len(body)) + mask + masked)
    events, message = [], b""
    while not events or events[-1]["type"] not in ("RUN_FINISHED", "RUN_ERROR"):
        first, second = exactly(stream, 2)
        length = second & 0x7F
        if length == 126:
            length, = struct.unpack(">H", exactly(stream, 2))
        elif length == 127:
            length, = struct.unpack(">Q", exactly(stream, 8))
        payload = exactly(stream, length)
        if first & 0x0F in (0, 1):
            message += payload
            if first & 0x80:
                events.append(json.loads(message))
                message = b""
        elif first & 0x0F == 8:
            sys.exit(f"/ws: closed with {struct.unpack('>H', payload[:2])}")
    connection.close()
    return events


def main():
    address = sys.argv[1]
    check("/invocations", over_http(address))
    check("/ws", over_websocket(address))


main()
