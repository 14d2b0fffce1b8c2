"""Starts and stops the processes of one scenario in an isolated run directory.

Environment, all optional:
  LAB_IAC_BIN     the iac-code executable (default: .peers/kernel/bin/iac-code)
  LAB_AGUI_CMD    command of the server under test; {host} and {port} are replaced
                  (default: target/debug/agui-server --host {host} --port {port}).  It gets
                  IAC_CODE_AGUI_A2A_URL, IAC_CODE_AGUI_A2A_TOKEN, IAC_CODE_AGUI_STATE_DIR and
                  IAC_CODE_AGUI_ALLOWED_CWDS, and must answer GET /health with 200.
  LAB_RUN_ROOT    where run directories are made (default: the system's temporary directory)
"""
from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import minihttp

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
START_DIR = Path.cwd()
A2A_TOKEN = "lab-a2a-token"
HOST = "127.0.0.1"
DEFAULT_SERVER = f"{shlex.quote(str(ROOT / 'target/debug/agui-server'))} --host {{host}} --port {{port}}"


def iac_bin() -> str:
    return absolute(os.environ.get("LAB_IAC_BIN") or str(ROOT / ".peers/kernel/bin/iac-code"))


def absolute(command: str) -> str:
    """Commands run in the workspace directory, so relative paths are made absolute first."""
    path = START_DIR / command
    return str(path.absolute()) if os.sep in command and path.exists() else command


GIVEN_PORTS: set[int] = set()


def free_port() -> int:
    """A port that is free, and that no other stack of this program was given."""
    while True:
        with socket.socket() as sock:
            sock.bind((HOST, 0))
            port = int(sock.getsockname()[1])
        if port not in GIVEN_PORTS:
            GIVEN_PORTS.add(port)
            return port


class Stack:
    """model server <- kernel <- recorder <- server under test; or replay server <- server under test."""

    def __init__(self, *, replay_trace: Path | None = None, replay_args: list[str] | None = None,
                 extra_env: dict[str, str] | None = None) -> None:
        root = os.environ.get("LAB_RUN_ROOT")
        self.dir = Path(tempfile.mkdtemp(prefix="agui-lab-", dir=root)).resolve()
        self.home, self.config, self.ws = self.dir / "home", self.dir / "config", self.dir / "ws"
        self.state, self.logs = self.dir / "agui-state", self.dir / "logs"
        for path in (self.home, self.config, self.ws, self.state, self.logs):
            path.mkdir(mode=0o700)
        self.replay_trace, self.replay_args = replay_trace, replay_args or []
        self.agui_cmd = os.environ.get("LAB_AGUI_CMD") or DEFAULT_SERVER
        self.extra_env = extra_env or {}
        self.llm_port, self.rec_port, self.a2a_port, self.agui_port = (free_port() for _ in range(4))
        self.procs: dict[str, subprocess.Popen[bytes]] = {}
        self.a2a_token_for_agui = A2A_TOKEN
        self.agui_a2a_url: str | None = None

    # -- environment -------------------------------------------------------
    def env(self) -> dict[str, str]:
        keep = {k: v for k, v in os.environ.items() if k in {"PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT"}}
        keep.update(
            HOME=str(self.home), IAC_CODE_CONFIG_DIR=str(self.config), PYTHONUNBUFFERED="1",
            DISABLE_TELEMETRY="1", IAC_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            IAC_CODE_PROVIDER="openai_compatible", IAC_CODE_MODEL="lab-model", IAC_CODE_API_KEY="lab-key",
            IAC_CODE_BASE_URL=f"http://{HOST}:{self.llm_port}/v1",
            IACCODE_A2A_HTTP_TOKEN=A2A_TOKEN, IACCODE_A2A_ALLOWED_CWDS=str(self.ws),
            IAC_CODE_AGUI_ALLOWED_CWDS=str(self.ws), IAC_CODE_AGUI_STATE_DIR=str(self.state),
            IAC_CODE_AGUI_A2A_URL=self.agui_a2a_url or f"http://{HOST}:{self.rec_port}/",
            IAC_CODE_AGUI_A2A_TOKEN=self.a2a_token_for_agui,
        )
        keep.update(self.extra_env)
        return keep

    def redactions(self) -> list[tuple[str, str]]:
        pairs = [(str(self.ws), "/workspace/ws"), (str(self.dir), "/workspace")]
        binary = Path(iac_bin())
        if binary.is_absolute():
            pairs.append((str(binary.parent.parent), "/opt/kernel"))
        pairs += [(f"{HOST}:{self.llm_port}", f"{HOST}:9101"), (f"{HOST}:{self.rec_port}", f"{HOST}:9102"),
                  (f"{HOST}:{self.a2a_port}", f"{HOST}:9103"), (f"{HOST}:{self.agui_port}", f"{HOST}:9104"),
                  (f"localhost:{self.a2a_port}", "localhost:9103"), (socket.gethostname(), "lab-host"),
                  (A2A_TOKEN, "[REDACTED]"), (str(self.dir.name), "workspace")]
        return pairs

    def redact(self, text: str) -> str:
        for old, new in self.redactions():
            if len(old) > 3:
                text = text.replace(old, new)
        return text

    # -- processes ---------------------------------------------------------
    def spawn(self, name: str, command: list[str]) -> None:
        log = (self.logs / f"{name}.log").open("ab")
        self.procs[name] = subprocess.Popen(command, cwd=self.ws, env=self.env(), stdout=log, stderr=log, start_new_session=True)
        log.close()

    async def wait_health(self, name: str, port: int, headers: dict[str, str] | None = None, timeout: float = 60) -> tuple[float, Any]:
        start = time.monotonic()
        while time.monotonic() - start < timeout:
            if self.procs[name].poll() is not None:
                raise RuntimeError(f"{name} exited with {self.procs[name].returncode}: {self.tail(name)}")
            try:
                status, value = await minihttp.request_json("GET", f"http://{HOST}:{port}/health", headers=headers)
                if status == 200:
                    return time.monotonic() - start, value
            except (OSError, minihttp.PeerClosed):
                pass
            await asyncio.sleep(0.02)
        raise RuntimeError(f"{name} did not become healthy: {self.tail(name)}")

    def tail(self, name: str) -> str:
        path = self.logs / f"{name}.log"
        return path.read_text("utf-8", "replace")[-2000:] if path.exists() else ""

    async def start_llm(self) -> None:
        self.spawn("llm", [sys.executable, str(HERE / "fake_llm.py"), "--port", str(self.llm_port), "--log", str(self.dir / "llm.jsonl")])
        await self.wait_health("llm", self.llm_port)

    async def start_a2a(self) -> Any:
        self.spawn("a2a", [iac_bin(), "a2a", "--host", HOST, "--port", str(self.a2a_port), "--thinking-exposure", "all"])
        return await self.wait_health("a2a", self.a2a_port, {"authorization": f"Bearer {A2A_TOKEN}"})

    async def start_recorder(self) -> None:
        self.spawn("recorder", [sys.executable, str(HERE / "recorder.py"), "--port", str(self.rec_port),
                                "--upstream", f"http://{HOST}:{self.a2a_port}", "--out", str(self.dir / "a2a.jsonl")])
        await self.wait_port("recorder", self.rec_port)

    async def start_replay(self) -> None:
        self.spawn("replay", [sys.executable, str(HERE / "replay_a2a.py"), "--port", str(self.rec_port),
                              "--trace", str(self.replay_trace), "--log", str(self.dir / "a2a_received.jsonl"), *self.replay_args])
        await self.wait_port("replay", self.rec_port)

    async def wait_port(self, name: str, port: int) -> None:
        for _ in range(500):
            if self.procs[name].poll() is not None:
                raise RuntimeError(f"{name} exited: {self.tail(name)}")
            try:
                _, writer = await asyncio.open_connection(HOST, port)
                writer.close()
                return
            except OSError:
                await asyncio.sleep(0.02)
        raise RuntimeError(f"{name} does not listen")

    async def start_agui(self) -> tuple[float, Any]:
        command = [part.replace("{host}", HOST).replace("{port}", str(self.agui_port)) for part in shlex.split(self.agui_cmd)]
        command[0] = absolute(command[0])
        self.spawn("agui", command)
        return await self.wait_health("agui", self.agui_port)

    async def start(self) -> None:
        if self.replay_trace is not None:
            await self.start_replay()
        else:
            await self.start_llm()
            await asyncio.gather(self.start_a2a(), self.start_recorder())
        await self.start_agui()

    async def stopped(self, name: str, *, kill: bool = False) -> None:
        """As `stop`, without holding up other scenarios."""
        await asyncio.to_thread(self.stop, name, kill=kill)

    def stop(self, name: str, *, kill: bool = False) -> None:
        proc = self.procs.pop(name, None)
        if proc is None or proc.poll() is not None:
            return
        proc.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            proc.wait(timeout=10)
        except subprocess.TimeoutExpired:
            proc.kill()
            proc.wait(timeout=10)

    def stop_all(self) -> None:
        for name in ("agui", "a2a", "recorder", "replay", "llm"):
            self.stop(name)

    def remove(self) -> None:
        shutil.rmtree(self.dir, ignore_errors=True)
