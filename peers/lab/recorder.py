"""Recording HTTP proxy between the server under test and the A2A kernel.

    python recorder.py --port 9102 --upstream http://127.0.0.1:9103 --out a2a.jsonl

One JSON line per exchange, written when the exchange ends, plus one line per mark:
  {"seq", "t", "method", "path", "headers", "body", "status", "rheaders",
   "chunks": [[t_ms, "text"] | [t_ms, {"b64": "..."}]], "t_end", "end"}
  {"seq", "t", "mark": "name"}
t* are milliseconds since the recorder started.  "end" is complete, client_closed
(the server left first), upstream_closed (body cut short) or connect_failed.
Authorization, cookies and known secret metadata are replaced with "[REDACTED]".
POST /__lab/mark/<name> adds a mark; GET /__lab/quiet answers once no exchange is open.
"""
from __future__ import annotations

import argparse
import asyncio
import base64
import json
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import minihttp

SECRET_HEADERS = {"authorization", "cookie", "set-cookie", "x-api-key", "proxy-authorization"}
SECRET_KEYS = {"iac_code_api_key", "llm_headers", "alibaba_cloud_access_key_id", "alibaba_cloud_access_key_secret",
               "alibaba_cloud_security_token"}


SECRET_TEXT = re.compile(r'("(?:' + "|".join(sorted(SECRET_KEYS)) + r')"\s*:\s*)("(?:[^"\\]|\\.)*"|\{[^{}]*\})')


def redact_text(text: str) -> str:
    """The A2A server echoes request metadata (secrets included) in task history."""
    return SECRET_TEXT.sub(lambda m: m.group(1) + '"[REDACTED]"', text)


def redact(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: ("[REDACTED]" if k in SECRET_KEYS else redact(v)) for k, v in value.items()}
    if isinstance(value, list):
        return [redact(v) for v in value]
    return value


def safe_headers(headers: list[tuple[str, str]]) -> list[list[str]]:
    return [[k, "[REDACTED]" if k.lower() in SECRET_HEADERS else v] for k, v in headers]


class Recorder:
    def __init__(self, upstream: str, out: Path) -> None:
        parts = urlsplit(upstream)
        self.host, self.port = parts.hostname, parts.port
        self.out = out.open("a", encoding="utf-8")
        self.t0 = time.monotonic()
        self.seq = 0
        self.open = 0

    def now(self) -> float:
        return round((time.monotonic() - self.t0) * 1000, 3)

    def write(self, record: dict[str, Any]) -> None:
        self.out.write(json.dumps(record, ensure_ascii=False) + "\n")
        self.out.flush()

    async def handle(self, req: minihttp.Request, resp: minihttp.Response) -> None:
        if req.path.startswith("/__lab/mark/"):
            self.seq += 1
            self.write({"seq": self.seq, "t": self.now(), "mark": req.path.rsplit("/", 1)[1]})
            return await resp.json(200, {})
        if req.path == "/__lab/quiet":
            for _ in range(200):
                if not self.open:
                    break
                await asyncio.sleep(0.05)
            return await resp.json(200, {"open": self.open})
        self.seq += 1
        self.open += 1
        record: dict[str, Any] = {"seq": self.seq, "t": self.now(), "method": req.method, "path": req.target,
                                  "headers": safe_headers(req.headers)}
        if req.body:
            try:
                record["body"] = redact(json.loads(req.body))
            except ValueError:
                record["body_b64"] = base64.b64encode(req.body).decode()
        record["chunks"] = []
        record["end"] = "complete"
        try:
            await self.forward(req, resp, record)
        finally:
            record["t_end"] = self.now()
            self.open -= 1
            self.write(record)

    async def forward(self, req: minihttp.Request, resp: minihttp.Response, record: dict[str, Any]) -> None:
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port, limit=64 * 1024 * 1024)
        except OSError:
            record["end"] = "connect_failed"
            return resp.abort()
        try:
            lines = [f"{req.method} {req.target} HTTP/1.1"]
            for key, value in req.headers:
                if key.lower() not in {"transfer-encoding", "content-length", "connection"}:
                    lines.append(f"{key}: {value}")
            lines += ["connection: close"]
            if req.body or req.method == "POST":
                lines.append(f"content-length: {len(req.body)}")
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + req.body)
            await writer.drain()
            gone = asyncio.create_task(req.wait_peer_closed())
            pump = asyncio.create_task(self.pump(reader, resp, record))
            done, _ = await asyncio.wait({gone, pump}, return_when=asyncio.FIRST_COMPLETED)
            if pump not in done:
                record["end"] = "client_closed"
                pump.cancel()
                resp.abort()
            gone.cancel()
            await asyncio.gather(gone, pump, return_exceptions=True)
        finally:
            if writer.transport is not None:
                writer.transport.abort() if record["end"] == "client_closed" else writer.close()

    async def pump(self, reader: asyncio.StreamReader, resp: minihttp.Response, record: dict[str, Any]) -> None:
        try:
            head = await minihttp.read_head(reader)
            if head is None:
                raise minihttp.PeerClosed
            line, headers = head
            record["status"] = int(line.split(" ", 2)[1])
            record["rheaders"] = safe_headers(headers)
            record["t_head"] = self.now()
            keep = [(k, v) for k, v in headers if k.lower() not in {"transfer-encoding", "content-length", "connection"}]
            length = minihttp.header(headers, "content-length")
            await resp.start(record["status"], keep, length=int(length) if length else None)
            async for piece in minihttp.iter_body(reader, headers, until_close=True):
                try:
                    record["chunks"].append([self.now(), redact_text(piece.decode("utf-8"))])
                except UnicodeDecodeError:
                    record["chunks"].append([self.now(), {"b64": base64.b64encode(piece).decode()}])
                await resp.write(piece)
            if length:
                resp.finished = True
            else:
                await resp.end()
        except minihttp.PeerClosed:
            record["end"] = "upstream_closed"
            resp.abort()
        except ConnectionError:
            record["end"] = "client_closed"
            resp.abort()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9102)
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    recorder = Recorder(args.upstream, Path(args.out))
    server = await minihttp.serve(recorder.handle, args.host, args.port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
