"""Scripted OpenAI-compatible chat-completions server (streaming and not).

    python fake_llm.py --port 9101 [--scenario script.json] [--log llm.jsonl]

Scenario file:
  {"turns": [ {"when": {...}, "times": 1, "steps": [...]}, ... ], "fallback": {"steps": [...]}}

A request takes the first turn that still has uses left ("times", default 1, 0 = any
number) and whose "when" matches.  "when" keys (all regexes, all must match):
  last_user    text of the last message with role user
  last         text of the last message whatever its role
  last_role    role of the last message
  system       system prompt
  tool         some offered tool has this name (full match)
  body         the raw request body
Steps:
  {"text": "..."}                     one text delta
  {"texts": ["a", "b"]}               several text deltas
  {"repeat": "tok %d ", "n": 20000}   n text deltas ("%d" is replaced with the index)
  {"reasoning": "..."} / {"reasonings": [...]}   reasoning_content deltas
  {"tool": {"id": "...", "name": "...", "args": {...}, "chunk": 12}}  a tool call; args may be a raw string
  {"usage": {"prompt_tokens": 1, "completion_tokens": 2, "cached_tokens": 0}}
  {"delay_ms": 100}, {"hold": "name"} (until POST /_lab/release/name)
  {"error": {"status": 500, "body": {...}}}   HTTP error instead of a stream (must come first)
  {"drop": true}                      cut the connection
  {"finish": "stop"}                  override of the finish reason
Control: POST /_lab/scenario (replace script), POST /_lab/release/<name>, GET /_lab/log, GET /health.
"""
from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any

import minihttp


def message_text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", f"<{part.get('type')}>")) for part in content if isinstance(part, dict))
    return ""


class Script:
    def __init__(self, value: dict[str, Any]) -> None:
        self.turns = [dict(turn) for turn in value.get("turns", [])]
        for turn in self.turns:
            turn["left"] = turn.get("times", 1) or 10**9
        self.fallback = value.get("fallback") or {"steps": [{"text": "(no scripted turn matched)"}]}

    def pick(self, payload: dict[str, Any], raw: str) -> tuple[int, dict[str, Any]]:
        messages = payload.get("messages") or []
        users = [m for m in messages if m.get("role") == "user"]
        facts = {
            "last_user": message_text(users[-1]) if users else "",
            "last": message_text(messages[-1]) if messages else "",
            "last_role": str(messages[-1].get("role")) if messages else "",
            "system": "\n".join(message_text(m) for m in messages if m.get("role") == "system"),
            "body": raw,
        }
        tools = {t.get("function", {}).get("name") for t in payload.get("tools") or []}
        for index, turn in enumerate(self.turns):
            if turn["left"] <= 0:
                continue
            ok = True
            for key, pattern in (turn.get("when") or {}).items():
                if key == "tool":
                    ok = ok and any(name and re.fullmatch(pattern, name) for name in tools)
                elif key == "no_tool":
                    ok = ok and not any(name and re.fullmatch(pattern, name) for name in tools)
                else:
                    ok = ok and re.search(pattern, facts[key], re.S) is not None
            if ok:
                turn["left"] -= 1
                return index, turn
        return -1, self.fallback


class FakeLlm:
    def __init__(self, script: Script, log_path: Path | None) -> None:
        self.script = script
        self.holds: dict[str, asyncio.Event] = {}
        self.log: list[dict[str, Any]] = []
        self.log_path = log_path

    def hold(self, name: str) -> asyncio.Event:
        return self.holds.setdefault(name, asyncio.Event())

    async def handle(self, req: minihttp.Request, resp: minihttp.Response) -> None:
        if req.path == "/health":
            return await resp.json(200, {"status": "ok"})
        if req.path == "/_lab/scenario":
            self.script = Script(req.json())
            self.holds.clear()
            return await resp.json(200, {"turns": len(self.script.turns)})
        if req.path.startswith("/_lab/release/"):
            self.hold(req.path.rsplit("/", 1)[1]).set()
            return await resp.json(200, {"released": True})
        if req.path == "/_lab/log":
            return await resp.json(200, self.log)
        if req.method == "GET" and req.path.endswith("/models"):
            return await resp.json(200, {"object": "list", "data": [{"id": "lab-model", "object": "model"}]})
        if not req.path.endswith("/chat/completions"):
            return await resp.json(404, {"error": {"message": f"no route {req.path}"}})
        payload = req.json()
        index, turn = self.script.pick(payload, req.body.decode("utf-8", "replace"))
        entry = {
            "t": round(time.time(), 3),
            "turn": index,
            "stream": bool(payload.get("stream")),
            "model": payload.get("model"),
            "tools": [t.get("function", {}).get("name") for t in payload.get("tools") or []],
            "extra": {k: v for k, v in payload.items() if k not in {"messages", "tools", "stream", "model"}},
            "messages": [
                {"role": m.get("role"), "text": message_text(m)[:4000] if m.get("role") != "system" else message_text(m)[:200],
                 **({"tool_calls": m["tool_calls"]} if m.get("tool_calls") else {})}
                for m in payload.get("messages") or []
            ],
        }
        self.log.append(entry)
        if self.log_path is not None:
            with self.log_path.open("a", encoding="utf-8") as handle:
                handle.write(json.dumps(entry, ensure_ascii=False) + "\n")
        if payload.get("stream"):
            await self.stream(turn, payload, resp)
        else:
            await self.complete(turn, payload, resp)

    async def stream(self, turn: dict[str, Any], payload: dict[str, Any], resp: minihttp.Response) -> None:
        base = {"id": "chatcmpl-lab", "object": "chat.completion.chunk", "created": 1, "model": payload.get("model")}
        finish = "stop"
        tool_index = 0

        def frame(delta: dict[str, Any] | None, *, finish_reason: str | None = None, usage: Any = None) -> bytes:
            value = dict(base)
            value["choices"] = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish_reason}]
            if usage is not None:
                value["usage"] = usage
            return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"

        usage: Any = None
        for step in turn["steps"]:
            if "error" in step:
                error = step["error"]
                body = error.get("body") or {"error": {"message": "scripted failure", "type": "server_error"}}
                return await resp.json(int(error.get("status", 500)), body)
            if not resp.started:
                if "hold" in step or "delay_ms" in step:
                    pass  # headers go out first so that the client sees an open stream
                await resp.start(200, [("content-type", "text/event-stream")])
                await resp.write(frame({"role": "assistant", "content": ""}))
            if "text" in step:
                await resp.write(frame({"content": step["text"]}))
            for piece in step.get("texts", []):
                await resp.write(frame({"content": piece}))
            if "repeat" in step:
                for i in range(int(step["n"])):
                    resp.write_nowait(frame({"content": step["repeat"].replace("%d", str(i))}))
                    if i % 64 == 0:
                        await resp.writer.drain()
            if "reasoning" in step:
                await resp.write(frame({"reasoning_content": step["reasoning"]}))
            for piece in step.get("reasonings", []):
                await resp.write(frame({"reasoning_content": piece}))
            if "tool" in step:
                tool = step["tool"]
                raw = tool["args"] if isinstance(tool["args"], str) else json.dumps(tool["args"], ensure_ascii=False)
                size = int(tool.get("chunk", 16))
                await resp.write(frame({"tool_calls": [{"index": tool_index, "id": tool["id"], "type": "function",
                                                        "function": {"name": tool["name"], "arguments": ""}}]}))
                for i in range(0, len(raw), size):
                    await resp.write(frame({"tool_calls": [{"index": tool_index, "function": {"arguments": raw[i:i + size]}}]}))
                tool_index += 1
                finish = "tool_calls"
            if "delay_ms" in step:
                await asyncio.sleep(step["delay_ms"] / 1000)
            if "hold" in step:
                await self.hold(step["hold"]).wait()
            if "drop" in step:
                return resp.abort()
            if "finish" in step:
                finish = step["finish"]
            if "usage" in step:
                item = step["usage"]
                usage = {
                    "prompt_tokens": item.get("prompt_tokens", 0),
                    "completion_tokens": item.get("completion_tokens", 0),
                    "total_tokens": item.get("prompt_tokens", 0) + item.get("completion_tokens", 0),
                    "prompt_tokens_details": {"cached_tokens": item.get("cached_tokens", 0)},
                }
        if not resp.started:
            await resp.start(200, [("content-type", "text/event-stream")])
        await resp.write(frame({}, finish_reason=finish))
        if usage is not None:
            await resp.write(frame(None, usage=usage))
        await resp.write(b"data: [DONE]\n\n")
        await resp.end()

    async def complete(self, turn: dict[str, Any], payload: dict[str, Any], resp: minihttp.Response) -> None:
        text, reasoning, calls, usage, finish = "", "", [], {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, "stop"
        for step in turn["steps"]:
            if "error" in step:
                return await resp.json(int(step["error"].get("status", 500)), step["error"].get("body") or {"error": {"message": "scripted failure"}})
            if "hold" in step:
                await self.hold(step["hold"]).wait()
            if "delay_ms" in step:
                await asyncio.sleep(step["delay_ms"] / 1000)
            text += step.get("text", "") + "".join(step.get("texts", []))
            reasoning += step.get("reasoning", "") + "".join(step.get("reasonings", []))
            if "tool" in step:
                raw = step["tool"]["args"]
                raw = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
                calls.append({"id": step["tool"]["id"], "type": "function", "function": {"name": step["tool"]["name"], "arguments": raw}})
                finish = "tool_calls"
            if "usage" in step:
                p, c = step["usage"].get("prompt_tokens", 0), step["usage"].get("completion_tokens", 0)
                usage = {"prompt_tokens": p, "completion_tokens": c, "total_tokens": p + c}
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if reasoning:
            message["reasoning_content"] = reasoning
        if calls:
            message["tool_calls"] = calls
        await resp.json(200, {"id": "chatcmpl-lab", "object": "chat.completion", "created": 1, "model": payload.get("model"),
                              "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage})


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9101)
    parser.add_argument("--scenario")
    parser.add_argument("--log")
    args = parser.parse_args()
    script = Script(json.loads(Path(args.scenario).read_text(encoding="utf-8")) if args.scenario else {})
    fake = FakeLlm(script, Path(args.log) if args.log else None)
    server = await minihttp.serve(fake.handle, args.host, args.port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
