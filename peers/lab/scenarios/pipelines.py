"""Pipeline runs (runMode "pipeline") with a scripted model and no cloud calls."""
from __future__ import annotations

import asyncio
import json
from typing import Any

from labclient import Lab, Run, entry

from .base import is_type, scenario
from .pipeline_scripts import asking, asking_twice, held_pipeline, rollback_script, selling, solution_first

PIPE = {"runMode": "pipeline", "pipelineName": "selling"}


async def answer_all(lab: Lab, thread: str, run: Run, choose: Any, *, props: dict[str, Any], limit: int = 12, decision: str = "allow_once") -> Run:
    """Answers interrupts until the run succeeds, fails or the limit is reached."""
    for i in range(limit):
        if not run.interrupts:
            return run
        resume = []
        for item in run.interrupts:
            kind = item["metadata"].get("kind")
            lab.note(f"interrupt kind={kind} reason={item['reason']} scope={item['metadata'].get('scope')}")
            payload = {"decision": decision} if kind == "permission" else choose(item)
            resume.append(entry(item["id"], payload))
        run = await lab.run(thread, f"{thread}-a{i + 1}", resume=resume, props=props, timeout=180)
    return run


def first_option(item: dict[str, Any]) -> dict[str, Any]:
    options = item["metadata"].get("standardOptions") or []
    return {"selectedId": options[0]["id"]} if options else {"freeText": "the first one"}


@scenario("o1_pipeline", "selling pipeline, one candidate, permission inside the candidate, selection by selectedId, deploy fails", selling(["cheap-ecs"]))
async def o1_pipeline(lab: Lab) -> None:
    run = await lab.run("thread-o1", "o1-r1", "Create one ECS server in cn-hangzhou", props=PIPE, timeout=180)
    lab.expect_run(run, "interrupt")
    lab.expect_run(await answer_all(lab, "thread-o1", run, first_option, props=PIPE), "success")


@scenario("o10_pipeline_rich", "candidatePresentation rich, one candidate", selling(["cheap-ecs"], rich=True))
async def o10_pipeline_rich(lab: Lab) -> None:
    props = {**PIPE, "candidatePresentation": "rich"}
    run = await lab.run("thread-o10", "o10-r1", "Create one ECS server in cn-hangzhou", props=props, timeout=180)
    lab.expect_run(await answer_all(lab, "thread-o10", run, first_option, props=props), "success")


async def pipeline(lab: Lab, thread: str, text: str, props: dict[str, Any] | None = None) -> Run:
    return await lab.run(thread, f"{thread}-start", text, props={**PIPE, **(props or {})}, timeout=180)


@scenario("o2_pipeline_two", "selling pipeline, two parallel candidates, concurrent permissions", selling(["cheap-ecs", "ha-ecs"]))
async def o2_pipeline_two(lab: Lab) -> None:
    run = await lab.run("thread-o2", "o2-r1", "Create ECS servers in cn-hangzhou", props=PIPE, timeout=180)
    lab.expect_run(run, "interrupt")
    ended = await answer_all(lab, "thread-o2", run, first_option, props=PIPE)
    if lab.live:   # the recording is of a server that answers one of the two at a time
        lab.expect_run(ended, "success")


NOT_INFRA = {"is_infra_intent": False, "confidence": "high", "category": "other", "rejection_reason": "lab stops here", "clarification_choice": "small", "clarification_text": "x"}
ASK_TEXT = "Create one ECS server"


async def ask_case(lab: Lab, thread: str, outcome: Any, payload: Any, status: str = "resolved") -> None:
    run = await pipeline(lab, thread, ASK_TEXT)
    if not run.interrupts:
        raise RuntimeError("no interrupt: " + run.summary())
    item = run.interrupts[0]
    answered = await lab.run(thread, f"{thread}-answer", resume=[entry(item["id"], payload, status)], props=PIPE, timeout=120)
    lab.expect_run(answered, outcome)


@scenario("f1_question_selected", "ask_user_question answered with selectedId; the pipeline then ends early", asking(NOT_INFRA))
async def f1_question_selected(lab: Lab) -> None:
    await ask_case(lab, "thread-f1", "success", {"selectedId": "large"})


@scenario("f2_question_freetext", "ask_user_question answered with freeText", asking(NOT_INFRA))
async def f2_question_freetext(lab: Lab) -> None:
    await ask_case(lab, "thread-f2", "success", {"freeText": "a tiny blog with 1 node"})


@scenario("f3_question_cancelled", "ask_user_question resume cancelled", asking(NOT_INFRA))
async def f3_question_cancelled(lab: Lab) -> None:
    await ask_case(lab, "thread-f3", lambda outcome: outcome.upper() == "CANCELLED", None, "cancelled")
    await lab.run("thread-f3", "f3-after", ASK_TEXT, props=PIPE, timeout=120)


@scenario("f4_question_invalid", "ask_user_question: invalid answers, then a good one, then repeats", asking(NOT_INFRA))
async def f4_question_invalid(lab: Lab) -> None:
    run = await pipeline(lab, "thread-f4", ASK_TEXT)
    item = run.interrupts[0]["id"]
    for i, payload in enumerate([{"selectedId": "huge"}, {"freeText": ""}, {"selectedId": "small", "freeText": "both"}, {"decision": "deny"}, "small", {"selected_id": "small"}]):
        await lab.run("thread-f4", f"f4-bad{i}", resume=[entry(item, payload)], props=PIPE)
    await lab.run("thread-f4", "f4-good", resume=[entry(item, {"selectedId": "small"})], props=PIPE, timeout=120)
    await lab.run("thread-f4", "f4-repeat", resume=[entry(item, {"selectedId": "small"})], props=PIPE, timeout=120)
    await lab.run("thread-f4", "f4-other", resume=[entry(item, {"selectedId": "large"})], props=PIPE, timeout=120)


@scenario("f5_two_questions", "two questions, one answered by an option, one in words", asking_twice(NOT_INFRA), live_only=True)
async def f5_two_questions(lab: Lab) -> None:
    run = await pipeline(lab, "thread-f5", ASK_TEXT)
    answers = {"Which size?": {"selectedId": "large"}, "Which region?": {"freeText": "close to the sea"}}
    asked: list[str] = []

    def answer(item: dict[str, Any]) -> dict[str, Any]:
        asked.append(next(question for question in answers if question in str(item)))
        return answers[asked[-1]]

    lab.expect_run(await answer_all(lab, "thread-f5", run, answer, props=PIPE), "success")
    lab.expect("questions", asked, list(answers))
    # The kernel sends the model the newest answer only.
    told = [request["messages"][-1]["text"] for request in await lab.model_log() if request["messages"][-1]["role"] == "tool"]
    lab.expect("what the model was told", [json.loads(text) for text in told], [
        {"selected_id": "large", "selected_label": "Large site", "free_text": ""},
        {"selected_id": "", "selected_label": "", "free_text": "close to the sea"}])


@scenario("o4_pipeline_restart", "server and kernel restart at a candidate permission and again at the candidate selection", selling(["cheap-ecs"]))
async def o4_pipeline_restart(lab: Lab) -> None:
    run = await pipeline(lab, "thread-o4", "Create one ECS server in cn-hangzhou")
    await lab.restart_agui()
    run = await lab.run("thread-o4", "o4-a1", resume=[entry(x["id"], {"decision": "allow_once"}) for x in run.interrupts], props=PIPE, timeout=120)
    await lab.restart_a2a()
    await lab.restart_agui()
    if run.interrupts:
        await lab.run("thread-o4", "o4-a2", resume=[entry(x["id"], first_option(x)) for x in run.interrupts], props=PIPE, timeout=120)


@scenario("o5_pipeline_guidance", "activeGuidance while the pipeline runs, and bad guidance", held_pipeline())
async def o5_pipeline_guidance(lab: Lab) -> None:
    t = "thread-o5"
    run = lab.start(t, "o5-r1", "Create one ECS server in cn-hangzhou", props=PIPE)
    await run.wait_for(is_type("TEXT_MESSAGE_CONTENT"))
    await lab.run(t, "o5-busy", "no guidance flag", props=PIPE)
    guide = lab.start(t, "o5-g1", "please prefer the smallest instance", props={**PIPE, "activeGuidance": True})
    await asyncio.sleep(2)
    await lab.release("h1")
    await guide.wait(90)
    await run.wait(90)
    await lab.run(t, "o5-g2", "late guidance", props={**PIPE, "activeGuidance": True})


@scenario("o6_pipeline_cancel", "pipeline cancelled mid-run, then a client disconnect mid-run", held_pipeline())
async def o6_pipeline_cancel(lab: Lab) -> None:
    t = "thread-o6"
    run = lab.start(t, "o6-r1", "Create one ECS server in cn-hangzhou", props=PIPE)
    await run.wait_for(is_type("TEXT_MESSAGE_CONTENT"))
    await lab.cancel(run.session["executionId"], t)
    await run.wait(60)
    await lab.run(t, "o6-r2", "hello again", timeout=60)


@scenario("o8_pipeline_llm_error", "the model fails inside a pipeline step", {"turns": [
    {"times": 0, "steps": [{"error": {"status": 400, "body": {"error": {"message": "bad request from lab", "type": "invalid_request_error"}}}}]}]})
async def o8_pipeline_llm_error(lab: Lab) -> None:
    await pipeline(lab, "thread-o8", "Create one ECS server in cn-hangzhou")
    await lab.run("thread-o8", "o8-bad", "x", props={"runMode": "pipeline", "pipelineName": "no-such-pipeline"}, timeout=60)


@scenario("o9_solution_first", "selling_solution_first pipeline: outline, diagrams, candidate selection, template permission", solution_first())
async def o9_solution_first(lab: Lab) -> None:
    t = "thread-o9"
    props = {"runMode": "pipeline", "pipelineName": "selling_solution_first"}
    run = await lab.run(t, "o9-r1", "Create ECS servers in cn-hangzhou", props=props, timeout=120)
    for i in range(6):
        if not run.interrupts:
            break
        resume = [entry(x["id"], {"decision": "allow_once"} if x["metadata"].get("kind") == "permission" else
                        ({"selectedId": x["metadata"]["standardOptions"][-1]["id"]} if x["metadata"].get("standardOptions") else {"freeText": "stop"})) for x in run.interrupts]
        lab.note(" ".join(str(x["metadata"].get("kind")) for x in run.interrupts))
        run = await lab.run(t, f"o9-a{i}", resume=resume, props=props, timeout=120)


@scenario("o12_rollback", "architecture step rolls back to intent parsing, then the pipeline goes on", rollback_script())
async def o12_rollback(lab: Lab) -> None:
    run = await pipeline(lab, "thread-o12", "Create one ECS server in cn-hangzhou")
    lab.expect_run(await answer_all(lab, "thread-o12", run, first_option, props=PIPE), "success")


@scenario("o14_pipeline_disconnect", "client disconnects in the middle of a pipeline, then asks again", held_pipeline())
async def o14_pipeline_disconnect(lab: Lab) -> None:
    t = "thread-o14"
    run = lab.start(t, "o14-r1", "Create one ECS server in cn-hangzhou", props=PIPE)
    await run.wait_for(is_type("TEXT_MESSAGE_CONTENT"))
    await run.abort()
    await lab.mark("client-gone")
    await asyncio.sleep(2)
    await lab.run(t, "o14-r2", "Create one ECS server in cn-hangzhou", props=PIPE, timeout=60)
    await lab.release("h1")
    await asyncio.sleep(2)


@scenario("o15_cleanup_only", "cleanupOnly run after a finished pipeline", selling(["cheap-ecs"]))
async def o15_cleanup_only(lab: Lab) -> None:
    run = await pipeline(lab, "thread-o15", "Create one ECS server in cn-hangzhou")
    await answer_all(lab, "thread-o15", run, first_option, props=PIPE)
    await lab.run("thread-o15", "o15-clean", "clean up", props={**PIPE, "cleanupOnly": True}, timeout=60)
    await lab.run("thread-o15", "o15-normal", "what happened?", props={"runMode": "normal"}, timeout=60)
