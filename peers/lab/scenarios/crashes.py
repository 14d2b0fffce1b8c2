"""The server dies in the middle of a write, at every place a write has, and comes back.

Needs a server built with the cargo feature `failpoints`: another one never dies, and the scenario fails.
"""
from __future__ import annotations

from labclient import Lab, Run

from .base import scenario, usage

# Places in a save, in the order in which it passes them; crates/agui-store/src/file/failpoint.rs says which is where.
POINTS = ("before_history", "during_history", "after_history", "before_marker", "after_marker", "before_temp", "during_temp",
          "before_temp_sync", "before_rename", "before_directory_sync", "done", "before_unmark")
# More passes than any request makes; a point is tried again and again until a case ends without a death.
MOST_PASSES = 20
# Runs in a thread after which its history leaves the document.
HISTORY_RUNS = 5

# The command leaves one line each time it runs, so that a second time is seen.
EFFECTS = {"turns": [
    {"when": {"last_role": "user", "last_user": "do it"}, "times": 0,
     "steps": [{"text": "I will."}, {"tool": {"id": "call_effect", "name": "bash", "args": {"command": "echo once >> effects.txt"}}}, usage(9, 9)]},
    {"when": {"last_role": "tool"}, "times": 0, "steps": [{"text": "Done."}, usage(9, 1)]},
    {"when": {"last_user": "chat"}, "times": 0, "steps": [{"text": "Yes?"}, usage(3, 1)]},
]}


class Case:
    """A client that wants one command run, sees the server die at most once, and starts it again."""

    def __init__(self, lab: Lab, thread: str) -> None:
        self.lab, self.thread, self.requests, self.died = lab, thread, 0, False

    async def send(self, text: str | None, question: str | None = None) -> Run | None:
        """The run that came of it, or nothing if the server died over it."""
        self.requests += 1
        run_id = f"{self.thread}-{self.requests}"
        if question:
            run = await self.lab.resume(self.thread, run_id, question, {"decision": "allow_once"})
        else:
            run = await self.lab.run(self.thread, run_id, text)
        if run.closed == "complete":
            return run
        if self.died:
            raise RuntimeError(f"it died twice: {self.lab.stack.tail('agui')}")
        self.died = True
        self.lab.stack.extra_env.pop("AGUI_FAILPOINT", None)
        await self.lab.restart_agui(kill=True)
        await self.lab.settle()
        return None

    async def drive(self) -> str:
        """Goes on until the command ran or is clearly lost; says which."""
        run = await self.send("do it")
        for _ in range(4):
            if run is None:   # the client saw no answer: it asks again, and hears of a question that waits
                run = await self.send("do it")
            elif run.outcome == "HTTP 409 RESUME_REQUIRED":
                run = await self.send(None, run.error_body["error"]["message"].split()[-1])
            elif run.interrupts:
                question = run.interrupts[0]["id"]
                run = await self.send(None, question) or await self.send(None, question)
            elif run.outcome in ("success", "RESUME_ALREADY_APPLIED", "EXECUTION_LOST"):
                return run.outcome
            else:
                return f"unexpected {run.outcome}"
        return "stuck" if run is None else f"stuck at {run.outcome}"


async def case(lab: Lab, point: str, number: int) -> bool:
    """Kills the server at the n-th pass of a point; whether it came to that."""
    what = f"{point}@{number}"
    effects = lab.stack.ws / "effects.txt"
    effects.unlink(missing_ok=True)
    client = Case(lab, f"w-{point}-{number}")
    if point.endswith("history"):
        for run in range(HISTORY_RUNS):
            lab.expect_run(await lab.run(client.thread, f"{client.thread}-before-{run}", "chat"), "success")
    lab.stack.extra_env["AGUI_FAILPOINT"] = f"store.{point}:kill@{number}"
    await lab.restart_agui()
    end = await client.drive()
    times = len(effects.read_text("utf-8").splitlines()) if effects.exists() else 0
    lab.expect(f"{what}: the end", end, lambda end: end in ("success", "RESUME_ALREADY_APPLIED", "EXECUTION_LOST"))
    lab.expect(f"{what}: times that the command ran ({end})", times, 0 if end == "EXECUTION_LOST" else 1)
    after = await client.send("chat") or await client.send("chat")
    lab.expect(f"{what}: the next turn", (after.outcome, after.text) if after else None, ("success", "Yes?"))
    lab.notes.append(f"{what}: {'died, ' if client.died else ''}{end}")
    if not client.died:
        lab.stack.extra_env.pop("AGUI_FAILPOINT")
        await lab.restart_agui()
    return client.died


@scenario("w_kill_at_write", "the server is killed at every place of every write, then the thread goes on", EFFECTS, live_only=True)
async def w_kill_at_write(lab: Lab) -> None:
    deaths = {point: 0 for point in POINTS}
    for point in POINTS:
        for number in range(1, MOST_PASSES + 1):
            if not await case(lab, point, number):
                break
            deaths[point] += 1
    lab.notes.append(f"deaths: {deaths}")
    lab.expect("every place was passed", [point for point, count in deaths.items() if count == 0], [])
