"""The life of streams: cancel, disconnects, silence."""
from __future__ import annotations

import asyncio

from labclient import Lab

from .base import HELD, WRITE, is_type, scenario, second_delta, tool_script, usage


@scenario("i_cancel", "cancel extension mid-run, repeated cancel, wrong ids, then a new run; cancel while interrupted", HELD)
async def i_cancel(lab: Lab) -> None:
    t = "thread-i"
    run = lab.start(t, "i-r1", "hold please")
    await second_delta(run)
    execution = run.session["executionId"]
    wrong = [await lab.cancel(execution, "thread-other"), await lab.cancel(execution, t, "inv-wrong"),
             await lab.cancel("00000000-0000-4000-8000-000000000000", t)]
    lab.expect("cancel with wrong ids", [status for status, _ in wrong], [404, 404, 404])
    lab.expect("cancel", await lab.cancel(execution, t), (200, {"executionId": execution, "status": "cancelled"}))
    await run.wait()
    lab.expect_run(run, "CANCELLED")
    lab.expect("cancel again", await lab.cancel(execution, t), (200, {"executionId": execution, "status": "already_terminal"}))
    lab.expect_run(await lab.run(t, "i-r2", "after that"), "success", texts=["after that"])
    third = await lab.run(t, "i-r3", "write a file")
    lab.expect_run(third, "interrupt")
    await lab.cancel(third.session["executionId"], t)
    if third.interrupts:
        late = await lab.resume(t, "i-r4", third.interrupts[0]["id"], {"decision": "allow_once"})
        lab.expect_run(late, lambda outcome: outcome != "success")
    lab.expect_run(await lab.run(t, "i-r5", "after that again"), "success", texts=["after that"])
    path = f"/extensions/iac-code/v1/executions/{execution}/cancel"
    for body in (b"{}", b"nope", b"[]"):
        await lab.raw("POST", path, headers={"content-type": "application/json"}, body=body)
    await lab.raw("POST", path, headers={"content-type": "text/plain"}, body=b"{}")
    await lab.raw("GET", path)


@scenario("j_disconnect", "client disconnects mid-run, then uses the thread again", HELD)
async def j_disconnect(lab: Lab) -> None:
    t = "thread-j"
    run = lab.start(t, "j-r1", "hold please")
    await second_delta(run)
    execution = run.session["executionId"]
    await run.abort()
    await lab.mark("client-gone")
    await asyncio.sleep(1.0)
    await lab.settle()
    await lab.cancel(execution, t)
    lab.expect_run(await lab.run(t, "j-r2", "after that"), "success", texts=["after that"])


@scenario("j4_disconnect_streaming", "client disconnects while the model keeps producing", {"turns": [
    {"when": {"last_user": "stream"}, "times": 0, "steps": [{"text": "partial "}, {"text": "text "}] + [{"delay_ms": 200}, {"text": "more "}] * 20},
    {"when": {"last_user": "after"}, "times": 0, "steps": [{"texts": ["after ", "that"]}, usage(6, 2)]}]})
async def j4_disconnect_streaming(lab: Lab) -> None:
    t = "thread-j4"
    run = lab.start(t, "j4-r1", "stream please")
    await second_delta(run)
    execution = run.session["executionId"]
    await run.abort()
    await lab.mark("client-gone")
    await asyncio.sleep(2.5)
    second = await lab.run(t, "j4-r2", "after that")
    if lab.live:   # the recording is of a server that does not cancel
        lab.expect_run(second, "success", texts=["after that"])
    await lab.cancel(execution, t)
    await asyncio.sleep(4)
    await lab.run(t, "j4-r3", "after that")


@scenario("j2_disconnect_interrupted", "client leaves right after RUN_FINISHED(interrupt); resume still works", tool_script(WRITE))
async def j2_disconnect_interrupted(lab: Lab) -> None:
    t = "thread-j2"
    run = lab.start(t, "j2-r1", "write a file")
    await run.wait_for(is_type("RUN_FINISHED"))
    await run.abort()
    resumed = await lab.resume(t, "j2-r2", run.interrupts[0]["id"], {"decision": "allow_once"})
    lab.expect_run(resumed, "success", texts=["After the tool."])


@scenario("r_heartbeat", "a silent model for 17 s gives an SSE comment", HELD, live_only=True)
async def r_heartbeat(lab: Lab) -> None:
    run = lab.start("thread-r", "r-r1", "hold please")
    await second_delta(run)
    await asyncio.sleep(17)
    await lab.release("h1")
    await run.wait()
    lab.expect_run(run, "success", texts=["partial text rest"])
    lab.expect("comments", [r["raw"] for r in lab.records if r["kind"] == "comment"], [": heartbeat\n\n"])
