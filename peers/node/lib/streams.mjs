// Reads recorded AG-UI streams: SSE bodies, lists of events, and recordings of the lab client.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { gunzipSync } from "node:zlib";

const STREAM_FILE = /\.(sse|jsonl)(\.gz)?$/;
/// A stream whose client named no protocol version has `.v0` before the ending.
const OLD_CLIENT = /\.v0\.(sse|jsonl)(\.gz)?$/;

/// Every stream below `directory`, sorted by name:
/// `{name, events, oldClient, ended}`, where `ended` tells whether the body came to its own end.
/// `accept(path)` may leave files out.
export function readStreams(directory, accept = () => true) {
  const streams = [];
  for (const path of walk(directory).filter((path) => STREAM_FILE.test(path) && accept(path))) {
    const name = relative(directory, path);
    const text = readText(path);
    if (/\.sse(\.gz)?$/.test(path)) {
      streams.push({ name, events: parseSse(text), oldClient: OLD_CLIENT.test(path), ended: true });
    } else {
      streams.push(...parseLines(name, text, OLD_CLIENT.test(path)));
    }
  }
  return streams;
}

function walk(directory) {
  const found = [];
  for (const entry of readdirSync(directory).sort()) {
    const path = join(directory, entry);
    if (statSync(path).isDirectory()) found.push(...walk(path));
    else found.push(path);
  }
  return found;
}

function readText(path) {
  const bytes = readFileSync(path);
  const data = path.endsWith(".gz") ? gunzipSync(bytes) : bytes;
  return new TextDecoder("utf-8", { fatal: true }).decode(data);
}

/// The strict reading of a body: LF only, one `data:` line a record, comments between records.
export function parseSse(text) {
  if (text.includes("\r")) throw new Error("a carriage return in the body");
  if (text && !text.endsWith("\n\n")) throw new Error("the body ends inside a record");
  const events = [];
  for (const record of text.split("\n\n").slice(0, -1)) {
    const data = record.split("\n").filter((line) => !line.startsWith(":"));
    if (data.length === 0) continue;
    if (data.length !== 1 || !data[0].startsWith("data: ")) throw new Error(`not one data line: ${record}`);
    events.push(JSON.parse(data[0].slice("data: ".length)));
  }
  return events;
}

function parseLines(name, text, oldClient) {
  const lines = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  if (!lines.some((line) => "kind" in line)) return [{ name, events: lines, oldClient, ended: true }];
  return recordedRuns(name, lines);
}

/// A recording of the lab client holds several runs, told apart by `n`.
function recordedRuns(name, lines) {
  const runs = new Map();
  for (const line of lines) {
    if (!Number.isInteger(line.n)) continue;
    const run = runs.get(line.n) ?? { raw: "", oldClient: true, ended: false, streamed: false };
    runs.set(line.n, run);
    if (line.kind === "request") run.oldClient = line.body?.protocolVersion === undefined;
    if (line.kind === "event" || line.kind === "comment" || line.kind === "partial") {
      run.raw += line.raw;
      run.streamed = true;
    }
    if (line.kind === "end") run.ended = line.end === "complete";
  }
  return [...runs]
    .filter(([, run]) => run.streamed)
    .map(([n, run]) => ({ name: `${name}#${n}`, events: parseSse(wholeRecords(run)), oldClient: run.oldClient, ended: run.ended }));
}

/// What a reader that left in the middle had not read whole is not judged.
function wholeRecords(run) {
  return run.ended ? run.raw : run.raw.slice(0, run.raw.lastIndexOf("\n\n") + 2);
}
