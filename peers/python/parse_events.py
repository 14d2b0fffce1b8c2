"""Parses recorded streams with the models of ag-ui-protocol, whichever version is installed.

    python parse_events.py DIRECTORY... [--accept REGEX] [--old-clients] [--strict]

--old-clients takes only streams whose client named no protocol version; --strict also refuses
members that the models do not know.  Prints what is bad and a closing line; exit status 0 when all
is good, 1 when not, 2 when there was nothing to parse.
"""
from __future__ import annotations

import argparse
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Iterator

from ag_ui.core import Event
from pydantic import BaseModel, TypeAdapter, ValidationError

from streams import Stream, read_streams

EVENT = TypeAdapter(Event)


def unknown_members(value: Any, path: str = "") -> Iterator[str]:
    """Paths of members that were kept although no model declares them."""
    if isinstance(value, BaseModel):
        yield from (f"{path}/{name}" for name in value.model_extra or {})
        for name in type(value).model_fields:
            yield from unknown_members(getattr(value, name), f"{path}/{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_members(item, f"{path}/{index}")


def problems_of(stream: Stream, strict: bool) -> Iterator[str]:
    for index, event in enumerate(stream.events):
        try:
            parsed = EVENT.validate_python(event)
        except ValidationError as error:
            first = error.errors()[0]
            yield f"event {index} {event.get('type')}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
            continue
        if strict:
            yield from (f"event {index} {event['type']}: unknown member {path}" for path in unknown_members(parsed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--accept", default="")
    parser.add_argument("--old-clients", action="store_true")
    parser.add_argument("--strict", action="store_true")
    args = parser.parse_args()
    passed = failed = 0
    for stream in (s for directory in args.directories for s in read_streams(directory, args.accept)):
        if args.old_clients and not stream.old_client:
            continue
        problems = list(problems_of(stream, args.strict))
        if problems:
            failed += 1
            print(f"BAD  {stream.name}: {'; '.join(problems[:5])}")
        else:
            passed += 1
    print(f"models-{version('ag-ui-protocol')}: {passed} passed, {failed} failed")
    return 1 if failed else 0 if passed else 2


if __name__ == "__main__":
    sys.exit(main())
