"""Reads recorded AG-UI streams: SSE bodies, lists of events, and recordings of the lab client."""
from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

STREAM_FILE = re.compile(r"\.(sse|jsonl)(\.gz)?$")
OLD_CLIENT = re.compile(r"\.v0\.(sse|jsonl)(\.gz)?$")


@dataclass
class Stream:
    name: str
    events: list[dict[str, Any]]
    # The client named no protocol version.
    old_client: bool
    # The body came to its own end.
    ended: bool


def read_streams(directory: Path, accept: str = "") -> Iterator[Stream]:
    """Every stream below `directory` whose path matches `accept`, sorted by name."""
    for path in sorted(p for p in directory.rglob("*") if p.is_file() and STREAM_FILE.search(p.name)):
        if not re.search(accept, str(path)):
            continue
        name = str(path.relative_to(directory))
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
        old_client = OLD_CLIENT.search(path.name) is not None
        if ".sse" in path.suffixes:
            records = (record for record in text.split("\n\n") if record and not record.startswith(":"))
            yield Stream(name, [json.loads(record.removeprefix("data: ")) for record in records], old_client, True)
            continue
        lines = [json.loads(line) for line in text.splitlines() if line]
        if any("kind" in line for line in lines):
            yield from recorded_runs(name, lines)
        else:
            yield Stream(name, lines, old_client, True)


def recorded_runs(name: str, lines: list[dict[str, Any]]) -> Iterator[Stream]:
    """A recording of the lab client holds several runs, told apart by `n`."""
    runs: dict[int, Stream] = {}
    for line in lines:
        n = line.get("n")
        if not isinstance(n, int):
            continue
        run = runs.setdefault(n, Stream(f"{name}#{n}", [], True, False))
        if line["kind"] == "request":
            run.old_client = "protocolVersion" not in line["body"]
        elif line["kind"] == "event":
            run.events.append(line["event"])
        elif line["kind"] == "end":
            run.ended = line["end"] == "complete"
    yield from (run for run in runs.values() if run.events)
