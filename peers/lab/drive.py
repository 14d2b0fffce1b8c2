"""Runs scenarios against a server, checks what comes of them, and keeps the recordings.

    python drive.py live   [--only a,c] [--out DIR]                 real kernel, scripted model
    python drive.py replay [--only a,c] [--out DIR] --traces DIR    recorded kernel traffic
    python drive.py list

The server is chosen with LAB_AGUI_CMD (see stack.py).  Each scenario has processes of its own.
Kept for each: agui.jsonl, a2a.jsonl, llm.jsonl and the model script (live), state/, summary.txt;
files above 256 KiB are gzip-compressed.  Exit status 0 when every expectation holds, else 1.
"""
from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import shutil
import sys
import time
import traceback
from pathlib import Path

from labclient import Lab
from scenarios import SCENARIOS, Scenario
from stack import Stack

GZIP_ABOVE = 256 * 1024
ROOT = Path(__file__).resolve().parents[2]


def write_text(path: Path, text: str) -> None:
    data = text.encode("utf-8")
    gz = path.with_name(path.name + ".gz")
    gz.unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    if len(data) > GZIP_ABOVE:
        gz.write_bytes(gzip.compress(data, 9, mtime=0))
    else:
        path.write_bytes(data)


def trace_of(scenario: Scenario, traces: Path) -> Path | None:
    source = traces / scenario.name
    return next((p.resolve() for p in (source / "a2a.jsonl", source / "a2a.jsonl.gz") if p.exists()), None)


async def run_one(scenario: Scenario, stack: Stack, *, live: bool, out: Path, keep: bool) -> bool:
    lab = Lab(stack, live)
    started = time.monotonic()
    error = ""
    try:
        if scenario.prepare is not None:
            scenario.prepare(stack)
        await stack.start()
        await lab.script(scenario.llm)
        await scenario.drive(lab)
        await lab.settle()
    except Exception:
        error = traceback.format_exc()
    finally:
        for run in lab.runs:
            if run.closed == "open":
                await run.abort()
        await asyncio.to_thread(stack.stop_all)
    if not live:
        lab.notes += [f"replay server: {line}" for line in stack.tail("replay").splitlines()
                      if line.startswith(("gate timeout", "no recorded exchange"))]
    ok = not error and not lab.problems
    save(scenario, lab, out / scenario.name, error)
    print("ok  " if ok else "FAIL", f"{time.monotonic() - started:5.1f} s  {scenario.name}", flush=True)
    for problem in [*lab.problems, *error.splitlines()[-1:]]:
        print(f"     {stack.redact(problem)[:1000]}", flush=True)
    if keep:
        print(f"     run directory: {stack.dir}")
    else:
        stack.remove()
    return ok


def save(scenario: Scenario, lab: Lab, target: Path, error: str) -> None:
    stack = lab.stack
    target.mkdir(parents=True, exist_ok=True)
    write_text(target / "agui.jsonl", stack.redact("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in lab.records)))
    for name in ("a2a.jsonl", "llm.jsonl", "a2a_received.jsonl"):
        path = stack.dir / name
        if path.exists():
            items = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            items.sort(key=lambda r: r.get("seq", 0))   # by the time the exchange began
            write_text(target / name, stack.redact("".join(json.dumps(i, ensure_ascii=False) + "\n" for i in items)))
    if lab.live and scenario.llm["turns"]:
        (target / "llm_script.json").write_text(json.dumps(scenario.llm, ensure_ascii=False, indent=1), encoding="utf-8")
    save_state(stack, target / "state")
    text = [f"scenario {scenario.name}: {scenario.about}", *(r.summary() for r in lab.runs), *(f"note: {n}" for n in lab.notes),
            *(f"PROBLEM: {p}" for p in lab.problems)]
    if error or lab.problems:
        text.append(error)
        text += [f"--- {name} log\n{stack.tail(name)}" for name in ("agui", "a2a", "llm", "recorder", "replay")]
    (target / "summary.txt").write_text(stack.redact("\n".join(text) + "\n"), encoding="utf-8")


def save_state(stack: Stack, out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    for path in sorted(stack.state.rglob("*.json")):
        out.mkdir(parents=True, exist_ok=True)
        text = path.read_text("utf-8", "replace")
        try:
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=1)
        except ValueError:
            pass
        (out / path.name).write_text(stack.redact(text), encoding="utf-8")


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["live", "replay", "list"])
    parser.add_argument("--only", default="", help="comma-separated prefixes of scenario names")
    parser.add_argument("--out", type=Path, default=ROOT / ".peers/out")
    parser.add_argument("--traces", type=Path, default=ROOT / "fixtures/traces")
    parser.add_argument("--speed", type=float, default=0, help="replay: 0 = as fast as possible, 1 = recorded timing")
    parser.add_argument("--jobs", type=int, default=1, help="scenarios at a time")
    parser.add_argument("--keep", action="store_true", help="keep the run directory")
    args = parser.parse_args()
    chosen = [s for s in SCENARIOS if not args.only or any(s.name.startswith(p) for p in args.only.split(","))]
    if args.mode == "list":
        for scenario in chosen:
            print(f"{scenario.name:28} {scenario.about}")
        return 0
    live = args.mode == "live"
    seats = asyncio.Semaphore(args.jobs)

    async def seated(scenario: Scenario, trace: Path | None) -> bool:
        async with seats:
            replay = {} if live else {"replay_trace": trace, "replay_args": ["--speed", str(args.speed)]}
            return await run_one(scenario, Stack(extra_env=dict(scenario.env), **replay), live=live, out=args.out, keep=args.keep)

    waiting = []
    for scenario in chosen:
        trace = None if live else trace_of(scenario, args.traces)
        if not (scenario.replay_only if live else (scenario.live_only or trace is None)):
            waiting.append(seated(scenario, trace))
    ended = await asyncio.gather(*waiting)
    passed, failed = ended.count(True), ended.count(False)
    print(f"scenarios: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
