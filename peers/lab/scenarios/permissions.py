"""Tools that need permission: interrupts and their answers."""
from __future__ import annotations

from typing import Any

from labclient import Lab, Run, entry

from .base import WRITE, scenario, tool_script, usage


async def interrupt_then(lab: Lab, thread: str, payload: Any, status: str = "resolved") -> Run:
    first = await lab.run(thread, f"{thread}-r1", "write a file")
    lab.expect_run(first, "interrupt", texts=["I will do it."])
    return await lab.resume(thread, f"{thread}-r2", first.interrupts[0]["id"], payload, status)


def written(lab: Lab) -> bool:
    return not lab.live or (lab.stack.ws / "notes.txt").exists()


@scenario("c_allow_once", "write_file needs permission, allow_once, finish", tool_script(WRITE))
async def c_allow_once(lab: Lab) -> None:
    run = await interrupt_then(lab, "thread-c", {"decision": "allow_once"})
    lab.expect_run(run, "success", texts=["After the tool."])
    lab.expect("the tool ran", written(lab), True)


@scenario("d_deny", "write_file needs permission, deny, finish", tool_script(WRITE))
async def d_deny(lab: Lab) -> None:
    run = await interrupt_then(lab, "thread-d", {"decision": "deny"})
    lab.expect_run(run, "success", texts=["After the tool."])
    lab.expect("the tool ran", lab.live and written(lab), False)


@scenario("e_cancelled", "write_file needs permission, resume status cancelled", tool_script(WRITE))
async def e_cancelled(lab: Lab) -> None:
    run = await interrupt_then(lab, "thread-e", None, "cancelled")
    lab.expect_run(run, "success", texts=["After the tool."])
    lab.expect("the tool ran", lab.live and written(lab), False)


@scenario("g_two_permissions", "two tool calls in one model turn, both need permission", {"turns": [
    {"when": {"last_role": "user"}, "steps": [
        {"tool": WRITE}, {"tool": {"id": "call_write_2", "name": "write_file", "args": {"path": "second.txt", "content": "2\n"}}}, usage(20, 9)]},
    {"when": {"last_role": "tool"}, "steps": [{"texts": ["Both handled."]}, usage(40, 5)]},
]})
async def g_two_permissions(lab: Lab) -> None:
    run = await lab.run("thread-g", "g-r1", "write two files")
    lab.note(f"pending at first interrupt: {len(run.interrupts)}")
    for i in range(2, 6):
        if not run.interrupts:
            break
        run = await lab.run("thread-g", f"g-r{i}", resume=[entry(x["id"], {"decision": "allow_once" if i == 2 else "deny"}) for x in run.interrupts])
    lab.expect_run(run, "success", texts=["Both handled."])


@scenario("h_resume_validation", "invalid resumes, corrected retry, repeated resume after acceptance", tool_script(WRITE))
async def h_resume_validation(lab: Lab) -> None:
    t = "thread-h"
    first = await lab.run(t, "h-r1", "write a file")
    good = first.interrupts[0]["id"]
    bad = [
        ("h-enum", [entry(good, {"decision": "allow_always"})], "RESUME_PAYLOAD_INVALID"),
        ("h-extra", [entry(good, {"decision": "allow_once", "note": "x"})], "RESUME_PAYLOAD_INVALID"),
        ("h-missing", [entry(good, {})], "RESUME_PAYLOAD_INVALID"),
        ("h-nopayload", [entry(good)], "RESUME_PAYLOAD_INVALID"),
        ("h-scalar", [entry(good, "allow_once")], "RESUME_PAYLOAD_INVALID"),
        ("h-empty", [], None),
        ("h-dup", [entry(good, {"decision": "deny"}), entry(good, {"decision": "deny"})], "INCOMPLETE_RESUME"),
        ("h-unknown", [entry("permission-unknown", {"decision": "deny"})], "UNKNOWN_INTERRUPT"),
        ("h-unknown-plus", [entry(good, {"decision": "allow_once"}), entry("permission-unknown", {"decision": "deny"})], "UNKNOWN_INTERRUPT"),
        ("h-status", [entry(good, {"decision": "allow_once"}, "rejected")], "HTTP 400 INVALID_INPUT"),
    ]
    for run_id, resume, outcome in bad:
        run = await lab.run(t, run_id, resume=resume)
        if outcome is not None:
            lab.expect_run(run, outcome)
    await lab.run(t, "h-nullpayload", resume=[{"interruptId": good, "status": "resolved", "payload": None}])
    lab.expect_run(await lab.run(t, "h-ok", resume=[entry(good, {"decision": "allow_once"})]), "success", texts=["After the tool."])
    again = await lab.run(t, "h-again-same", resume=[entry(good, {"decision": "allow_once"})])
    lab.expect_run(again, lambda outcome: outcome.endswith("RESUME_ALREADY_APPLIED"))
    await lab.run(t, "h-again-other", resume=[entry(good, {"decision": "deny"})])
    await lab.run(t, "h-again-unknown", resume=[entry("permission-unknown", {"decision": "deny"})])
    lab.expect_run(await lab.run(t, "h-ok", resume=[entry(good, {"decision": "allow_once"})]), "HTTP 409 DUPLICATE_RUN_ID")
