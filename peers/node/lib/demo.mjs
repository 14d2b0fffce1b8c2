// The demo of agui-server as a child process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PATIENCE_MS = 30_000;
const RETRY_MS = 50;

/// Starts the program at `path` and waits until it listens. `stop` ends it.
export async function startDemo(path) {
  const directory = mkdtempSync(join(tmpdir(), "agui-demo-"));
  const port = await freePort();
  const child = spawn(path, ["--demo", "--host", "127.0.0.1", "--port", String(port), "--state-dir", directory], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk) => (log += chunk));
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill();
      await once(child, "exit");
    }
    rmSync(directory, { recursive: true, force: true });
  };
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await listens(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`the server does not listen:\n${log}`);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  return { url: `http://127.0.0.1:${port}/`, cwd: directory, stop };
}

async function freePort() {
  const socket = createServer().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  await new Promise((resolve) => socket.close(resolve));
  return port;
}

function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
}
