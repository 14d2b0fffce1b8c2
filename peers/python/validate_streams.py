"""Lets the independent validator ag-ui-validate judge recorded streams.

    python validate_streams.py DIRECTORY... [--accept REGEX]

Exit status as that of parse_events.py.
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ag_ui_validate import ValidatorOptions, create_validator

from streams import read_streams

# Stricter than AG-UI 1.0, or written for 0.x only.
OFF = {
    "AGUI001": "a run that fails at once may begin with RUN_ERROR",
    "AGUI104": "a closed message may be continued",
    "AGUI205": "a closed tool call may be continued",
    "AGUI207": "a resumed run gives the result of a call that the run before it announced",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--accept", default="")
    args = parser.parse_args()
    passed = failed = 0
    for stream in (s for directory in args.directories for s in read_streams(directory, args.accept)):
        if not stream.ended:
            continue
        validator = create_validator(ValidatorOptions(severity_overrides={rule: "off" for rule in OFF}))
        for event in stream.events:
            validator.feed(event)
        validator.finalize()
        errors = [d for d in validator.report().diagnostics if d.severity == "error"]
        if errors:
            failed += 1
            print(f"BAD  {stream.name}: {'; '.join(f'{d.rule} {d.message}' for d in errors[:5])}")
        else:
            passed += 1
    print(f"validator: {passed} passed, {failed} failed")
    return 1 if failed else 0 if passed else 2


if __name__ == "__main__":
    sys.exit(main())
