"""What is refused before a run starts, in which words."""
from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

from labclient import Lab, entry

from .base import HELD, WRITE, scenario, second_delta, tool_script, usage


@scenario("k_admission", "duplicate/conflicting run ids, busy thread, binding conflicts, resume required, lost executions", HELD)
async def k_admission(lab: Lab) -> None:
    t = "thread-k"
    run = lab.start(t, "k-r1", "hold please")
    await second_delta(run)
    lab.expect_run(await lab.run(t, "k-busy", "after that"), "HTTP 409 THREAD_BUSY")
    for text, code in (("hold please", "DUPLICATE_RUN_ID"), ("other text", "RUN_ID_CONFLICT")):
        lab.expect_run(await lab.run(t, "k-r1", text), f"HTTP 409 {code}")
    await lab.release("h1")
    await run.wait()
    lab.expect_run(run, "success", texts=["partial text rest"])
    for text, code in (("hold please", "DUPLICATE_RUN_ID"), ("other text", "RUN_ID_CONFLICT")):
        lab.expect_run(await lab.run(t, "k-r1", text), f"HTTP 409 {code}")
    lab.expect_run(await lab.run(t, "k-cwd", "after that", props={"cwd": str(lab.stack.ws / "other")}), "HTTP 409 THREAD_BINDING_CONFLICT")
    lab.expect_run(await lab.run(t, "k-user", "after that", props={"userId": "someone"}), "HTTP 409 THREAD_BINDING_CONFLICT")
    rotated = await lab.run(t, "k-ros", "after that", props={"rosInvocationId": "inv-new"})
    lab.expect_run(rotated, "success", texts=["after that"])
    await lab.run("thread-k-new", "k-n1", resume=[entry("permission-x", {"decision": "deny"})])
    await lab.run(t, "k-noresume", resume=[entry("permission-x", {"decision": "deny"})], props={"rosInvocationId": "inv-new"})
    pend = await lab.run("thread-k2", "k2-r1", "write a file")
    lab.expect_run(await lab.run("thread-k2", "k2-r2", "after that"), "HTTP 409 RESUME_REQUIRED")
    await lab.run("thread-k2", "k2-r3", resume=[entry("permission-x", {"decision": "deny"})])
    if pend.interrupts:
        await lab.run("thread-k2", "k2-r4", resume=[entry(pend.interrupts[0]["id"], {"decision": "deny"})], props={"rosInvocationId": "inv-wrong"})
    await lab.run(t, "k-guid", "after that", props={"activeGuidance": True, "runMode": "pipeline"})
    await lab.run("thread-k-new2", "k-n2", "after that", props={"activeGuidance": True, "runMode": "pipeline"})


def png(width: int = 4, height: int = 4) -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + b"".join(bytes([x * 40 % 256, y * 40 % 256, 128]) for x in range(width)) for y in range(height))
    raw = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return base64.b64encode(raw).decode()


def image(value: str, mime: str = "image/png", metadata: Any = None) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "image", "source": {"type": "data", "value": value, "mimeType": mime}}
    if metadata is not None:
        part["metadata"] = metadata
    return part


@scenario("l_images", "image input: small png, oversized dimensions, metadata file names, and every rejection", {"turns": [
    {"times": 0, "steps": [{"texts": ["I see ", "an image."]}, usage(30, 4)]}]})
async def l_images(lab: Lab) -> None:
    def user(*parts: Any) -> list[Any]:
        return [{"id": "m-img", "role": "user", "content": list(parts)}]
    text = {"type": "text", "text": "what is this?"}
    cases = [
        ("png", user(text, image(png(), metadata={"filename": "dot.png"}))),
        ("noname", user(image(png()), text)),
        ("badname", user(image(png(), metadata={"filename": "../up.png"}))),
        ("mimemismatch", user(image(png(), "image/jpeg"))),
        ("large", user(image(png(2600, 20)))),
        ("mimecase", user(image(png(), "IMAGE/PNG"))),
        ("svg", user(image(png(), "image/svg+xml"))),
        ("badb64", user(image("@@@@"))),
        ("notimage", user(image(base64.b64encode(b"hello").decode()))),
        ("empty", user(image(""))),
        ("url", user({"type": "image", "source": {"type": "url", "value": "https://example.invalid/x.png"}})),
        ("audio", user({"type": "audio", "source": {"type": "data", "value": "AAAA", "mimeType": "audio/wav"}})),
        ("binary", user({"type": "binary", "mimeType": "image/png", "data": png()})),
        ("toobig", user(image(base64.b64encode(b"\x89PNG" + bytes(8 * 1024 * 1024)).decode()))),
        ("emptyparts", user()),
    ]
    for name, messages in cases:
        await lab.run(f"thread-l-{name}", f"l-{name}", messages=messages, props={"model": "qwen3.8-max"} if name != "noname" else None)


@scenario("p_languages", "error messages in every supported language", tool_script(WRITE))
async def p_languages(lab: Lab) -> None:
    first = await lab.run("thread-p", "p-r1", "write a file", props={"preferredLanguage": "fr"})
    for language in ["en", "zh", "fr", "ja", "de", "es", "pt", "zh-CN", "ZH_tw", "xx"]:
        props = {"preferredLanguage": language}
        await lab.run("thread-p", f"p-rr-{language}", "other", props=props)                         # RESUME_REQUIRED (HTTP)
        await lab.run(f"thread-p-{language}", f"p-nm-{language}", messages=[], props=props)         # INVALID_INPUT (stream)
        await lab.run("thread-p", f"p-bad-{language}", resume=[entry(first.interrupts[0]["id"], {})], props=props)
    for header in ["fr", "zh-CN,zh;q=0.9,en;q=0.8", "xx, ja;q=0.5", "de;q=0, es", "*", "fr;q=abc, pt;q=0.1"]:
        await lab.raw("POST", "/", headers={"content-type": "text/plain", "accept-language": header}, body=b"{}")
        await lab.raw("POST", "/", headers={"content-type": "application/json", "accept-language": header}, body=b"{}")
    for language in ["zh", "ja"]:
        t = f"thread-p2-{language}"
        await lab.run(t, f"p2-{language}", "write a file", props={"preferredLanguage": language})
