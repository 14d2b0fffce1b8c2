"""The model fails, the kernel is away, one of the servers restarts."""
from __future__ import annotations

from labclient import Lab
from stack import HOST, Stack

from .base import HELD, WRITE, scenario, second_delta, tool_script


@scenario("m1_llm_400", "the model answers HTTP 400", {"turns": [
    {"times": 0, "steps": [{"error": {"status": 400, "body": {"error": {"message": "bad request from lab", "type": "invalid_request_error"}}}}]}]})
async def m1_llm_400(lab: Lab) -> None:
    lab.expect_run(await lab.run("thread-m1", "m1-r1", "go"), "A2A_EXECUTION_FAILED")
    lab.expect_run(await lab.run("thread-m1", "m1-r2", "go again", props={"preferredLanguage": "zh"}), "A2A_EXECUTION_FAILED")


@scenario("m2_llm_500", "the model answers HTTP 500 always", {"turns": [{"times": 0, "steps": [{"error": {"status": 500}}]}]})
async def m2_llm_500(lab: Lab) -> None:
    lab.expect_run(await lab.run("thread-m2", "m2-r1", "go", timeout=240), "A2A_EXECUTION_FAILED")


def closed_upstream(stack: Stack) -> None:
    stack.agui_a2a_url = f"http://{HOST}:9/"


@scenario("m4_a2a_down", "no kernel listens", {"turns": []}, prepare=closed_upstream)
async def m4_a2a_down(lab: Lab) -> None:
    await lab.raw("GET", "/health")
    lab.expect_run(await lab.run("thread-m4", "m4-r1", "go"), "A2A_UNAVAILABLE")
    lab.expect_run(await lab.run("thread-m4", "m4-r2", "go", props={"preferredLanguage": "fr"}), "A2A_UNAVAILABLE")


def wrong_token(stack: Stack) -> None:
    stack.a2a_token_for_agui = "not-the-token"


@scenario("m5_wrong_token", "the kernel rejects the server's token", {"turns": []}, prepare=wrong_token)
async def m5_wrong_token(lab: Lab) -> None:
    lab.expect_run(await lab.run("thread-m5", "m5-r1", "go"), "A2A_UNAVAILABLE")


@scenario("m6_a2a_dies", "the kernel is killed in the middle of a run, comes back, next run", HELD)
async def m6_a2a_dies(lab: Lab) -> None:
    run = lab.start("thread-m6", "m6-r1", "hold please")
    await second_delta(run)
    await lab.stop_a2a()
    await run.wait()
    lab.expect("text before", run.texts, ["partial text "])
    if lab.live:   # the recording has no answer for a server that asks what became of the task
        lab.expect_run(run, "A2A_UNAVAILABLE")
    await lab.restart_a2a()
    lab.expect_run(await lab.run("thread-m6", "m6-r2", "after that"), "success", texts=["after that"])


@scenario("n1_restart_agui", "server restarts between interrupt and resume", tool_script(WRITE))
async def n1_restart_agui(lab: Lab) -> None:
    first = await lab.run("thread-n1", "n1-r1", "write a file")
    await lab.restart_agui()
    lab.expect_run(await lab.run("thread-n1", "n1-busy", "something else"), "HTTP 409 RESUME_REQUIRED")
    bad = await lab.resume("thread-n1", "n1-bad", first.interrupts[0]["id"], {"decision": "maybe"})
    lab.expect_run(bad, "RESUME_PAYLOAD_INVALID")
    good = await lab.resume("thread-n1", "n1-r2", first.interrupts[0]["id"], {"decision": "allow_once"})
    lab.expect_run(good, "success", texts=["After the tool."])
    await lab.restart_agui()
    again = await lab.resume("thread-n1", "n1-r3", first.interrupts[0]["id"], {"decision": "allow_once"})
    lab.expect_run(again, lambda outcome: outcome.endswith("RESUME_ALREADY_APPLIED"))
    lab.expect_run(await lab.run("thread-n1", "n1-r1", "write a file"), "HTTP 409 DUPLICATE_RUN_ID")


@scenario("n2_restart_both", "server and kernel restart between interrupt and resume", tool_script(WRITE))
async def n2_restart_both(lab: Lab) -> None:
    first = await lab.run("thread-n2", "n2-r1", "write a file")
    await lab.restart_a2a()
    await lab.restart_agui()
    good = await lab.resume("thread-n2", "n2-r2", first.interrupts[0]["id"], {"decision": "allow_once"})
    lab.expect_run(good, "success", texts=["After the tool."])


@scenario("n3_restart_a2a", "the kernel restarts between interrupt and resume", tool_script(WRITE), live_only=True)
async def n3_restart_a2a(lab: Lab) -> None:
    first = await lab.run("thread-n3", "n3-r1", "write a file")
    await lab.restart_a2a()
    good = await lab.resume("thread-n3", "n3-r2", first.interrupts[0]["id"], {"decision": "allow_once"})
    lab.expect_run(good, "success", texts=["After the tool."])


@scenario("n4_kill_agui_midrun", "server is killed in the middle of a run, then the thread is used again", HELD)
async def n4_kill_agui_midrun(lab: Lab) -> None:
    run = lab.start("thread-n4", "n4-r1", "hold please")
    await second_delta(run)
    execution = run.session["executionId"]
    await lab.restart_agui(kill=True)
    await run.wait()
    lab.expect_run(await lab.run("thread-n4", "n4-r1", "hold please"), "HTTP 409 DUPLICATE_RUN_ID")
    await lab.cancel(execution, "thread-n4")
    lab.expect_run(await lab.run("thread-n4", "n4-r2", "after that"), lambda outcome: outcome != "no end")


@scenario("n5_a2a_state_lost", "the kernel loses its sessions between interrupt and resume", tool_script(WRITE))
async def n5_a2a_state_lost(lab: Lab) -> None:
    first = await lab.run("thread-n5", "n5-r1", "write a file")
    await lab.wipe_a2a()
    await lab.resume("thread-n5", "n5-r2", first.interrupts[0]["id"], {"decision": "allow_once"})
    await lab.run("thread-n5", "n5-r3", "something else")


@scenario("n6_bad_state_file", "the server's thread file is damaged while it is stopped", HELD)
async def n6_bad_state_file(lab: Lab) -> None:
    await lab.run("thread-n6", "n6-r1", "after that")
    await lab.run("thread-n6b", "n6b-r1", "after that")
    lab.stack.stop("agui")
    for path in lab.stack.state.rglob("*.json"):
        if "n6b" not in path.name:
            path.write_text("{broken")
    await lab.stack.start_agui()
    await lab.run("thread-n6", "n6-r2", "after that")
    await lab.run("thread-n6b", "n6b-r2", "after that")
    await lab.cancel("00000000-0000-4000-8000-000000000000", "thread-n6b")


@scenario("m7_cancel_a2a_down", "cancel and resume while the kernel is down, then again after it is back", tool_script(WRITE))
async def m7_cancel_a2a_down(lab: Lab) -> None:
    first = await lab.run("thread-m7", "m7-r1", "write a file")
    await lab.stop_a2a()
    await lab.cancel(first.session["executionId"], "thread-m7")
    await lab.resume("thread-m7", "m7-r2", first.interrupts[0]["id"], {"decision": "allow_once"})
    await lab.restart_a2a()
    await lab.cancel(first.session["executionId"], "thread-m7")
    await lab.run("thread-m7", "m7-r3", "something else")
