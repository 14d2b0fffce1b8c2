"""The other server takes over in the middle: iac-code's own `agui` and the server under test, one state directory.

What one of them parked, the other one answers; the tool runs once.
"""
from __future__ import annotations

import shlex

from labclient import Lab, entry
from stack import iac_bin

from .base import WRITE, scenario, tool_script
from .permissions import written

THEIRS = f"{shlex.quote(iac_bin())} agui --host {{host}} --port {{port}}"


async def switch_to(lab: Lab, command: str) -> None:
    lab.stack.stop("agui")
    lab.stack.agui_cmd = command
    await lab.stack.start_agui()


async def hand_over(lab: Lab, thread: str, first: str, second: str) -> None:
    await switch_to(lab, first)
    parked = await lab.run(thread, f"{thread}-r1", "write a file")
    lab.expect_run(parked, "interrupt", texts=["I will do it."])
    await switch_to(lab, second)
    answer = [entry(parked.interrupts[0]["id"], {"decision": "allow_once"})]
    lab.expect_run(await lab.run(thread, f"{thread}-r2", resume=answer), "success", texts=["After the tool."])
    lab.expect("the tool ran", written(lab), True)
    if first == THEIRS:
        return  # Every stream is judged, and an error of theirs has members that the protocol does not know.
    # The first one again: it knows that the answer counted.
    await switch_to(lab, first)
    again = await lab.run(thread, f"{thread}-r3", resume=answer)
    lab.expect_run(again, lambda outcome: outcome.endswith("RESUME_ALREADY_APPLIED"))


@scenario("u1_their_question_our_answer", "iac-code agui parks, the server under test answers", tool_script(WRITE), live_only=True)
async def u1_their_question_our_answer(lab: Lab) -> None:
    await hand_over(lab, "thread-u1", THEIRS, lab.stack.agui_cmd)


@scenario("u2_our_question_their_answer", "the server under test parks, iac-code agui answers", tool_script(WRITE), live_only=True)
async def u2_our_question_their_answer(lab: Lab) -> None:
    await hand_over(lab, "thread-u2", lab.stack.agui_cmd, THEIRS)
