"""The weaknesses of the official AG-UI app, each looked for in it and in the shim before the same agent.

    python rows.py [--json FILE] [--only N,N]

The rows are in rows_http.py and rows_ws.py. Exit status 0 when the shim has none of the weaknesses. What the official
app does is told, not judged.
"""
from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

import harness
import rows_http  # noqa: F401 - registers its rows
import rows_ws  # noqa: F401 - registers its rows
from harness import running
from probes import ROWS, Seen


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    only = {int(number) for number in options.only.split(",") if number}
    rows = sorted((each for each in ROWS if not only or each.number in only), key=lambda each: each.number)
    with running(harness.start_sdk) as theirs, running(harness.start_ours) as ours, ThreadPoolExecutor(8) as pool:
        servers = {"sdk": theirs, "ours": ours}
        aside = {(each.number, name): pool.submit(each.probe, server)
                 for each in rows if each.aside for name, server in servers.items()}
        seen = {}
        for each in rows:
            for name, server in servers.items():
                if not each.aside:
                    seen[each.number, name] = outcome(lambda: each.probe(server))
        for key, future in aside.items():
            seen[key] = outcome(future.result)
    failed = 0
    told = []
    for each in rows:
        (theirs_text, theirs_good), (ours_text, good) = seen[each.number, "sdk"], seen[each.number, "ours"]
        failed += not good
        print(f"{'good' if good else 'BAD '} {each.number:2} {each.what}\n        sdk:  {theirs_text}\n        ours: {ours_text}")
        told.append({"row": each.number, "what": each.what, "sdk": theirs_text, "sdkGood": theirs_good,
                     "ours": ours_text, "good": good, "probe": each.probe.__name__})
    if options.json:
        options.json.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    print(f"rows: {len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


def outcome(probe: Callable[[], Seen]) -> Seen:
    try:
        return probe()
    except Exception as error:  # noqa: BLE001 - a probe that breaks is a finding
        return f"the probe broke: {type(error).__name__}: {error}", False


if __name__ == "__main__":
    raise SystemExit(main())
