"""Puts the findings of `agui verify` beside those of ag-ui-validate on the same broken streams.

    python compare_validate.py --agui PROGRAM [--check]

Writes docs/verify-comparison.md, or with --check fails if that file says something else. Every difference
needs a reason in the tables below, and every reason a difference. Exit status: 0 done, 1 something is wrong.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
STREAMS = ROOT / "bins/agui/tests/streams"
DOCUMENT = ROOT / "docs/verify-comparison.md"
VALIDATE = Path(sys.executable).with_name("ag-ui-validate")
# Says of every stream here that it has no timestamps, which are optional.
OFF = "AGUI902"

# The rules of the other validator that say what a rule of ours says.
SAME = {
    "first-event": {"AGUI001"},
    "run-still-active": {"AGUI002"},
    "unterminated": {"AGUI003"},
    "after-run-finished": {"AGUI004", "AGUI005"},
    "after-run-error": {"AGUI004", "AGUI005"},
    "run-ids": {"AGUI008"},
    "already-open": {"AGUI106", "AGUI601"},
    "not-open": {"AGUI006", "AGUI101", "AGUI102", "AGUI201", "AGUI202", "AGUI401", "AGUI602"},
    "still-open": {"AGUI007", "AGUI103", "AGUI203", "AGUI402", "AGUI604"},
    "subagent-reused": {"AGUI601"},
    "unknown-parent-subagent": {"AGUI605"},
    "owner-mismatch": {"AGUI606"},
    "step-owner": {"AGUI606"},
    "arguments-not-json": {"AGUI204"},
    "state-patch": {"AGUI302"},
    "state-base": {"AGUI301"},
    "bad-pointer": {"AGUI303"},
    "unknown-kind": {"AGUI303"},
    "missing-member": {"AGUI303", "AGUI504"},
    "wrong-type": {"AGUI504"},
    "not-allowed": {"AGUI504"},
    "no-type": {"AGUI504"},
    "chunk-incomplete": {"AGUI504"},
    "retired-part": {"AGUI504"},
    "unknown-event": {"AGUI503"},
    "not-json": {"AGUI502"},
    "not-object": {"AGUI502"},
    "cut-record": {"AGUI501"},
    "sse-line": {"AGUI501"},
    "no-blank-line": {"AGUI501"},
}

# Why a rule of ours is an error, warning or info where the other is something else.
SEVERITY = {
    "run-ids": "the specification demands the echo, and clients that check it end the run",
    "still-open": "the 1.0 client ends the run over an open thought as over any other open item",
    "owner-mismatch": "the 1.0 client ends the run",
    "step-owner": "the 1.0 client ends the run",
    "unknown-parent-subagent": "the 1.0 client ends the run",
    "unknown-event": "the 1.0 client leaves the event out and goes on; only those of 0.x ended the run",
    "unknown-kind": "the 1.0 client leaves the operation out and goes on",
    "retired-part": "the 1.0 client translates the part",
    "no-blank-line": "the record is whole, and the released clients read it",
}

# Why only we report a rule.
ONLY_HERE = {
    "already-open": "it counts open steps by name and lets one be opened twice",
    "not-open": "it does not check the ends of reasoning spans",
    "shared-id": "it does not compare ids across kinds; the answer would be appended to the thought",
    "lost-event": "it does not compare ids across kinds; the text would be ignored",
    "activity-patch": "it does not apply patches of activities",
    "thread-changed": "it judges each run for itself",
    "duplicate-interrupt": "it does not compare the ids of interrupts",
    "empty-list": "it accepts an interrupt outcome without a question; the 1.0 client ends the run",
    "unknown-kind": "it accepts any outcome; the 1.0 client reads this one as success",
    "parent-owner-mismatch": "it does not compare a call with its parent message",
    "chunk-conflict": "it does not compare a chunk with the one that opened its item",
    "chunk-ambiguous": "it does not look at chunks without an id across subagents",
    "null-member": "it accepts null for absent; the 1.0 client ends the run",
    "null-tolerated": "it accepts null for absent; the 1.0 client does so for this member until 2027",
    "out-of-range": "it does not check the range of counts; the 1.0 client ends the run",
    "duplicate-member": "it reads the last of repeated members, and readers differ in which they take",
    "lone-surrogate": "it accepts half of a surrogate pair, and readers differ in what they make of it",
    "unknown-member": "it accepts any member; the 1.0 client leaves it out with a warning",
    "retired-event": "it judges by 0.x, where these events exist",
    "line-ends": "it accepts carriage returns; the released clients look for two line feeds and fail",
}

# Why only the other one reports a rule, by stream.
ONLY_THERE = {
    ("content_without_start.sse", "AGUI102"): "a consequence: after the first content the item counts as open here",
    ("content_without_start.sse", "AGUI208"): "a consequence: the message was not opened, so the call has no parent",
    ("arguments_without_start.jsonl", "AGUI202"): "a consequence: after the first arguments the call counts as open here",
    ("arguments_without_start.jsonl", "AGUI207"): "a consequence, and no fault in 1.0: a result may answer a call of an earlier run",
    ("call_left_open.jsonl", "AGUI206"): "a consequence: the call was not ended; 1.0 allows a result before the end",
    ("next_run_before_the_end.jsonl", "AGUI008"): "a consequence: here the second start opens the second run",
    ("no_blank_line_at_the_end.sse", "AGUI003"): "a consequence: it throws the last record away, as the standard of event streams has it",
    ("step_started_twice.sse", "AGUI007"): "the same fault at the end: of two starts one is left open",
    ("subagent_started_again.jsonl", "AGUI602"): "a consequence: the second start was refused",
    ("text_after_error.sse", "AGUI004"): "told once here, with the number of events that follow",
    ("chunk_without_id.sse", "AGUI504"): "told once here: the second chunk continues what the first should have opened",
}


class Found(NamedTuple):
    # 1-based; 0 for the stream as a whole.
    event: int
    rule: str
    severity: str

    def __str__(self) -> str:
        place = f" @{self.event}" if self.event else ""
        return f"`{self.rule}`{place} {self.severity}"


def ours(program: str, path: Path) -> list[Found]:
    done = subprocess.run([program, "verify", str(path), "--format", "json"], capture_output=True, text=True)
    findings = json.loads(done.stdout)["streams"][0]["findings"]
    return [Found(f.get("event", 0), f["rule"], f["severity"]) for f in findings]


def theirs(path: Path) -> list[Found]:
    command = [str(VALIDATE), "--json", "--off", OFF, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    diagnostics = json.loads(done.stdout)["diagnostics"]
    return [Found(d.get("eventIndex", -1) + 1, d["rule"], d["severity"]) for d in diagnostics]


def differences(name: str, here: list[Found], there: list[Found], used: set, faults: list[str]) -> list[str]:
    """What is different, each with its reason."""
    texts, left = [], list(there)

    def reason(table: dict, key, what: str) -> None:
        if key in table:
            used.add((id(table), key))
            texts.append(f"{what}: {table[key]}")
        else:
            faults.append(f"{name}: no reason for {what}")

    for found in here:
        same = [t for t in left if t.event == found.event and t.rule in SAME.get(found.rule, set())]
        if not same:
            reason(ONLY_HERE, found.rule, f"only `{found.rule}`")
            continue
        left.remove(same[0])
        if same[0].severity != found.severity:
            reason(SEVERITY, found.rule, f"`{found.rule}` is {found.severity}")
    for found in left:
        reason(ONLY_THERE, (name, found.rule), f"only {found.rule}")
    return list(dict.fromkeys(texts))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agui", required=True)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    expected = json.loads((STREAMS / "expected.json").read_text())
    used: set = set()
    faults: list[str] = []
    rows, agree, missed = [], 0, 0
    for name in sorted(expected):
        here, there = ours(args.agui, STREAMS / name), theirs(STREAMS / name)
        due = sorted((f["event"], f["rule"]) for f in expected[name])
        if due != sorted((f.event, f.rule) for f in here):
            faults.append(f"{name}: {due} is due, agui verify finds {here}")
        texts = differences(name, here, there, used, faults)
        agree += not texts
        missed += not any(t.rule in SAME.get(h.rule, set()) for h in here for t in there)
        cells = ["<br>".join(map(str, found)) or "nothing" for found in (here, there)]
        rows.append(f"| {name} | {cells[0]} | {cells[1]} | {'<br>'.join(texts) or 'none'} |")
    for table in (SEVERITY, ONLY_HERE, ONLY_THERE):
        faults += [f"reason without a difference: {key}" for key in table if (id(table), key) not in used]
    document = render(rows, agree, missed)
    if args.check:
        if not DOCUMENT.exists() or DOCUMENT.read_text() != document:
            faults.append(f"{DOCUMENT.relative_to(ROOT)} is not up to date")
    elif not faults:
        DOCUMENT.write_text(document)
    for fault in faults:
        print(fault)
    print(f"comparison: {len(rows)} passed, {len(faults)} failed")
    return 1 if faults else 0


def render(rows: list[str], agree: int, missed: int) -> str:
    return f"""# `agui verify` beside ag-ui-validate

Both judge the same {len(rows)} broken streams of `bins/agui/tests/streams`, which are made by rule from one good
stream (`bins/agui/tests/it/seeded.rs`). `agui verify` finds every seeded fault, with the number of its event and
nothing else. [ag-ui-validate](https://pypi.org/project/ag-ui-validate/) {version("ag-ui-validate")} is independent of
this project and judges by AG-UI 0.x; `agui verify` judges by AG-UI 1.0 as the released clients enforce it, and by the
stricter rules of the specification.

- {agree} streams: the same verdict from both.
- {missed} streams: the seeded fault is found by `agui verify` only.
- No stream: the seeded fault is found by ag-ui-validate only.

What is left besides is severity, and consequences of one fault that the other tells as faults of their own.
`{OFF}` (no timestamps) is switched off: it is true of every stream. `@N` is the number of the event.

Made by `peers/python/compare_validate.py`, which knows a reason for every difference and fails without one; checked
by `cargo xtask peers run verify`, which also has `agui verify` judge the golden streams of the server: no finding in
any of them.

| stream | `agui verify` | ag-ui-validate | difference and reason |
|---|---|---|---|
""" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
