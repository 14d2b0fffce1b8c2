"""Lets the official HttpAgent talk to a server in front of the real kernel.

    python http_agent.py [--only two_turns,cancel]

One set of processes serves the scenarios of ../node/scenarios; each has its own model script and
runs once with each generation of the client.  A scenario with `env` gets a server of its own.  Exit status 0 when every expectation holds, else 1.
"""
from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from pathlib import Path

import minihttp
from stack import HOST, Stack

NODE = Path(__file__).resolve().parents[1] / "node"


async def run(stack: Stack, scenario: Path) -> bool:
    value = json.loads(scenario.read_text("utf-8"))
    for name, content in value.get("workspace", {}).items():
        (stack.ws / name).write_text(content, encoding="utf-8")
    if stack.extra_env != value.get("env", {}):
        stack.stop("agui")
        stack.extra_env = value.get("env", {})
        await stack.start_agui()
    await minihttp.request_json("POST", f"http://{HOST}:{stack.llm_port}/_lab/scenario", value["model"])
    command = ["node", str(NODE / "drive-http-agent.mjs"), f"http://{HOST}:{stack.agui_port}/", "--cwd", str(stack.ws), str(scenario)]
    ended = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    for line in (ended.stdout + ended.stderr).splitlines():
        if not line.startswith("http-agent:"):
            print(stack.redact(line), flush=True)
    return ended.returncode == 0


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="comma-separated prefixes of scenario names")
    args = parser.parse_args()
    chosen = [p for p in sorted((NODE / "scenarios").glob("*.json"))
              if not args.only or any(p.name.startswith(prefix) for prefix in args.only.split(","))]
    stack = Stack()
    try:
        await stack.start()
        good = [await run(stack, scenario) for scenario in chosen]
    finally:
        stack.stop_all()
        if sys.exc_info()[0] is not None:
            print(stack.redact(stack.tail("agui")), stack.redact(stack.tail("a2a")), sep="\n")
        stack.remove()
    print(f"http-agent: {good.count(True)} passed, {good.count(False)} failed")
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
