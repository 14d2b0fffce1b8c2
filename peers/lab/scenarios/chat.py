"""Plain turns: text, reasoning, tools that need no permission, long answers, properties."""
from __future__ import annotations

from labclient import Lab

from .base import HELD, scenario, second_delta, usage


@scenario("a_plain_text", "plain chat turn, then a second turn in the same thread", {"turns": [
    {"when": {"last_user": "first"}, "steps": [{"texts": ["Hello", ", ", "wörld ", "你好", " 🚀", "."]}, usage(11, 6, 3)]},
    {"when": {"last_user": "second"}, "steps": [{"texts": ["Second ", "answer."]}, usage(25, 4)]},
]})
async def a_plain_text(lab: Lab) -> None:
    await lab.raw("GET", "/health")
    first = await lab.run("thread-a", "run-a1", "first question")
    second = await lab.run("thread-a", "run-a2", "second question", parent="run-a1")
    lab.expect_run(first, "success", texts=["Hello, wörld 你好 🚀."], closed="complete")
    lab.expect_run(second, "success", texts=["Second answer."])
    lab.expect("parentRunId", second.events[0].get("parentRunId"), "run-a1")
    lab.expect("one session", {run.session.get("sessionId") for run in (first, second)}, lambda ids: len(ids) == 1 and None not in ids)


@scenario("b_reasoning", "reasoning deltas before the answer, thinking enabled", {"turns": [
    {"steps": [{"reasonings": ["Let me ", "think ", "about it."]}, {"texts": ["The answer ", "is 42."]}, usage(9, 12)]},
]})
async def b_reasoning(lab: Lab) -> None:
    run = await lab.run("thread-b", "run-b1", "think please", props={"thinking": {"enabled": True, "effort": "high", "budget": 1024}})
    lab.expect_run(run, "success", reasonings=["Let me think about it."], texts=["The answer is 42."])


READ = {"id": "call_read_1", "name": "read_file", "args": {"path": "given.txt"}, "chunk": 7}


@scenario("b2_free_tool", "read_file needs no permission", {"turns": [
    {"when": {"last_role": "user"}, "steps": [{"texts": ["Let me ", "look."]}, {"tool": READ}, usage(20, 9)]},
    {"when": {"last_role": "tool"}, "steps": [{"texts": ["It says ", "hi."]}, usage(40, 5)]},
]}, live_only=True)
async def b2_free_tool(lab: Lab) -> None:
    (lab.stack.ws / "given.txt").write_text("hi from the workspace\n", encoding="utf-8")
    run = await lab.run("thread-b2", "run-b2", "read the file")
    lab.expect_run(run, "success", text="Let me look.It says hi.")
    lab.expect("tool result", run.results.get("read_file", ""), lambda text: "hi from the workspace" in text)


# The real kernel passes only some 15-40 deltas a second of one long answer, so the live run has
# 2000; q2 plays 20000 deltas from a synthetic trace.
@scenario("q_long_output", "2000 text deltas in one answer", {"turns": [{"steps": [{"repeat": "tok%d ", "n": 2000}, usage(10, 2000)]}]})
async def q_long_output(lab: Lab) -> None:
    run = await lab.run("thread-q", "q-r1", "long please", timeout=500)
    lab.expect_run(run, "success", texts=lambda texts: texts == ["".join(f"tok{i} " for i in range(2000))])


@scenario("q2_long_synthetic", "20000 text deltas in one answer (synthetic trace)", replay_only=True)
async def q2_long_synthetic(lab: Lab) -> None:
    run = await lab.run("thread-q2", "q2-r1", "long please", timeout=500)
    lab.expect_run(run, "success", texts=lambda texts: texts == ["".join(f"tok{i} " for i in range(20000))])


@scenario("s_props", "every forwarded property and a longer message history (secrets are fake)", {"turns": [
    {"times": 0, "steps": [{"texts": ["props ", "ok"]}, usage(3, 2)]}]})
async def s_props(lab: Lab) -> None:
    first = await lab.run("thread-s", "s-r1", props={
        "model": " lab-model-2 ", "llmApiKey": "fake-key", "llmHeaders": {"X-Lab": "1"}, "userId": "user-1", "channel": "console",
        "preferredLanguage": "zh-CN", "candidatePresentation": "standard", "runMode": "normal", "pipelineName": "selling", "cleanupOnly": False,
        "thinking": {"enabled": True, "effort": " high ", "budget": 2048},
        "alibabaCloud": {"accessKeyId": "fake-id", "accessKeySecret": "fake-secret", "securityToken": "fake-sts", "regionId": "cn-hangzhou"},
    }, messages=[
        {"id": "m0", "role": "system", "content": "be brief"},
        {"id": "m1", "role": "user", "content": "older question"},
        {"id": "m2", "role": "assistant", "content": "older answer"},
        {"id": "m3", "role": "user", "content": [{"type": "text", "text": "part one. "}, {"type": "text", "text": "part two."}]},
        {"id": "m4", "role": "assistant", "content": "not a user message"},
    ])
    lab.expect_run(first, "success", texts=["props ok"])
    await lab.run("thread-s", "s-r2", props={"userId": "user-1", "thinking": {"enabled": False}, "model": "  ", "llmApiKey": "",
                                            "alibabaCloud": {}, "llmHeaders": {}}, text="again")
    other = await lab.run("thread-s", "s-r3", "other user", props={"userId": "user-2"})
    lab.expect_run(other, "HTTP 409 THREAD_BINDING_CONFLICT")
    await lab.run("thread-s3", "s3-r1", "", messages=[{"id": "m1", "role": "user", "content": ""}])
    stored = "".join(path.read_text("utf-8") for path in lab.stack.state.rglob("*") if path.is_file())
    for secret in ("fake-key", "fake-secret", "fake-sts", "fake-id"):
        lab.expect(f"{secret} is not stored", secret in stored, False)


@scenario("t_parallel_threads", "two threads run at the same time", HELD)
async def t_parallel_threads(lab: Lab) -> None:
    one = lab.start("thread-t1", "t1-r1", "hold please")
    await second_delta(one)
    two = await lab.run("thread-t2", "t2-r1", "after that")
    lab.expect_run(two, "success", texts=["after that"])
    await lab.release("h1")
    await one.wait()
    lab.expect_run(one, "success", texts=["partial text rest"])
