// Drives the built page in a real browser against the demo of agui-server, across origins.
//
//   node test/page.mjs --server PATH/agui-server --chromium PATH/chromium
//
// Exit status 0 when everything is seen that should be seen, 1 when something is not.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";

import { chromium } from "playwright-core";

const { values } = parseArgs({
  options: { server: { type: "string" }, chromium: { type: "string", default: "/usr/bin/chromium" } },
});
if (!values.server) {
  console.error("usage: page.mjs --server PATH [--chromium PATH]");
  process.exit(2);
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const DIST = new URL("../dist/", import.meta.url);
const PATIENCE_MS = 30_000;

/// What a person does, and what is on the page then.
const SCENARIOS = {
  async "text arrives in pieces"(page) {
    await say(page, "chat with me");
    const text = page.locator('article[data-role="assistant"] [data-key="text"]').last();
    await text.filter({ hasText: "You said" }).waitFor();
    const early = await text.textContent();
    await idle(page);
    const whole = await text.textContent();
    assert.ok(whole.startsWith(early) && whole.length > early.length, `${early} / ${whole}`);
    assert.ok((await page.locator('article[data-role="reasoning"]').count()) > 0, "the reasoning is shown");
    assert.match(await page.locator("#status").textContent(), /tokens/);
  },
  async "a tool call and its result are one thing"(page) {
    await say(page, "tool: list the files");
    await idle(page);
    const calls = await page.locator(".call").allTextContents();
    assert.equal(calls.length, 1);
    assert.match(calls[0], /^\w+\(\{.*\}\)\n= ./s);
  },
  async "a permission is asked for, and the run goes on"(page) {
    await say(page, "write a file");
    await page.locator(".question").waitFor();
    const buttons = await page.locator(".question button").allTextContents();
    assert.ok(buttons.length >= 3, `buttons: ${buttons}`);
    assert.equal(buttons.at(-1), "Leave unanswered");
    await page.locator(".question button").first().click();
    await idle(page);
    assert.equal(await page.locator(".question").count(), 0);
    const call = await page.locator(".call").last().textContent();
    assert.match(call, /\n= ./, "the call has its result in the second run");
  },
  async "a question takes free text"(page) {
    await say(page, "question please");
    await page.locator(".question").waitFor();
    await page.locator('.question input[name="freeText"]').fill("as small as can be");
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await idle(page);
    assert.match(await page.locator("#messages").textContent(), /as small as can be/);
  },
  async "a run can be stopped"(page) {
    await say(page, "slow please");
    await page.locator('article[data-role="assistant"]').first().waitFor();
    await page.locator("#stop").click();
    await idle(page);
    await say(page, "chat again");
    await idle(page);
    assert.match(await page.locator("#messages").textContent(), /chat again/);
  },
};

async function say(page, text) {
  await page.locator("#prompt input").fill(text);
  await page.locator("#send").click();
}

/// Waits until the page takes the next message.
async function idle(page) {
  await page.locator("#send:not([disabled])").waitFor();
}

async function freePort() {
  const socket = createSocketServer().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  await new Promise((resolve) => socket.close(resolve));
  return port;
}

/// Serves the built page.
async function serveDist() {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://page").pathname;
    try {
      const file = new URL(`.${path === "/" ? "/index.html" : path}`, DIST);
      const content = readFileSync(file);
      response.writeHead(200, { "content-type": TYPES[extname(file.pathname)] ?? "application/octet-stream" });
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const originOf = (server) => `http://127.0.0.1:${server.address().port}`;

/// Starts the agent and waits until it listens.
async function startAgent(origin, stateDir) {
  const port = await freePort();
  const arguments_ = ["--demo", "--host", "127.0.0.1", "--port", String(port), "--allow-origin", origin, "--state-dir", stateDir];
  const child = spawn(values.server, arguments_, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk) => (log += chunk));
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const listens = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (listens) return { child, url: `http://127.0.0.1:${port}/` };
    assert.ok(child.exitCode === null && Date.now() < deadline, `the server does not listen:\n${log}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function run(browser, allowed, strange, agentUrl, stateDir) {
  const query = `?agent=${encodeURIComponent(agentUrl)}&cwd=${encodeURIComponent(stateDir)}`;
  const scenarios = Object.entries(SCENARIOS).map(([name, scenario]) => [name, scenario, allowed]);
  scenarios.push(["another origin gets nothing", refused, strange]);
  let failed = 0;
  for (const [name, scenario, server] of scenarios) {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const faults = [];
    page.on("pageerror", (error) => faults.push(error.message));
    try {
      await page.goto(`${originOf(server)}/${query}`);
      await scenario(page);
      assert.deepEqual(faults, [], "errors on the page");
      console.log(`good ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`BAD  ${name}: ${error.message}`);
    } finally {
      await page.close();
    }
  }
  console.log(`web: ${scenarios.length - failed} passed, ${failed} failed`);
  return failed;
}

/// The browser keeps the answer from a page whose origin the server does not name.
async function refused(page) {
  await say(page, "chat with me");
  await page.locator('#status[data-kind="error"]').waitFor();
  assert.equal(await page.locator('article[data-role="assistant"]').count(), 0);
}

const directory = mkdtempSync(join(tmpdir(), "agui-web-"));
const [allowed, strange] = [await serveDist(), await serveDist()];
const agent = await startAgent(originOf(allowed), directory);
const browser = await chromium.launch({ executablePath: values.chromium, args: ["--no-sandbox"] });
try {
  process.exitCode = (await run(browser, allowed, strange, agent.url, directory)) > 0 ? 1 : 0;
} finally {
  await browser.close();
  agent.child.kill();
  await once(agent.child, "exit");
  allowed.close();
  strange.close();
  rmSync(directory, { recursive: true, force: true });
}
