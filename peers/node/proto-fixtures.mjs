// Frames of the official binary encoder, for the crate that has to write the same bytes.
//
//   node proto-fixtures.mjs [--all] FILE|DIRECTORY... > frames.jsonl
//   node proto-fixtures.mjs --check frames.jsonl [FILE|DIRECTORY...]
//
// Reads events: lines of JSON as they are, lines that it wrote itself, recorded streams, and files of the
// conformance corpus (`{"stream": [...]}` or one event). Of recorded events one of each shape is kept, with
// --all every one.
// Writes lines `{"frame":"<hex>","event":<the text>}`; to add an event, append a line and let it write the
// file anew. With --check it encodes the events of the file again, decodes its frames, and says what
// differs. Exit status 1 when something does.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { EventSchemas } from "@ag-ui/core/schemas";
import { AGUI_MEDIA_TYPE, EventEncoder } from "@ag-ui/encoder";
import { decode } from "@ag-ui/proto";

import { quietly } from "./lib/clients.mjs";
import { readStreams } from "./lib/streams.mjs";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { all: { type: "boolean", default: false }, check: { type: "string" } } });
const encoder = new EventEncoder({ accept: AGUI_MEDIA_TYPE });

/// Longest recorded event that is kept, in characters: fixtures are read by people, too.
const MAX_RECORDED_CHARS = 2000;

/// The event of a line, as it stands there.
const LINE = /^\{"frame":"([0-9a-f]*)","event":(.*)\}$/;

const fresh = await quietly(() => frames(positionals));
if (values.check === undefined) {
  process.stdout.write(fresh.map((line) => `${line}\n`).join(""));
} else {
  const pinned = readFileSync(values.check, "utf8").split("\n").filter(Boolean);
  const problems = await quietly(() => [...check(pinned), ...unseen(pinned, fresh)]);
  for (const problem of problems) console.log(problem);
  console.log(`proto: ${pinned.length - problems.length} passed, ${problems.length} failed`);
  process.exitCode = problems.length > 0 || pinned.length === 0 ? 1 : 0;
}

function frames(paths) {
  const lines = [];
  const shapes = new Set();
  for (const path of paths) {
    const { texts, recorded } = read(path);
    for (const text of texts) {
      const event = JSON.parse(text);
      const shape = recorded && !values.all ? shapeOf(event) : text;
      if (shapes.has(shape) || shapes.has(text) || (recorded && !isKept(text, event))) continue;
      shapes.add(shape).add(text);
      lines.push(`{"frame":"${hex(encoder.encodeBinary(event))}","event":${text}}`);
    }
  }
  return lines;
}

function isKept(text, event) {
  return (values.all || text.length <= MAX_RECORDED_CHARS) && EventSchemas.safeParse(event).success;
}

function read(path) {
  if (!statSync(path).isDirectory()) {
    const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
    return { texts: lines.map((line) => line.match(LINE)?.[2] ?? line), recorded: false };
  }
  const events = readStreams(path).flatMap((stream) => stream.events);
  return { texts: [...events, ...corpus(path)].map((event) => JSON.stringify(event)), recorded: true };
}

/// The events in the JSON files below a directory.
function corpus(directory) {
  return readdirSync(directory).sort().flatMap((entry) => {
    const path = join(directory, entry);
    if (statSync(path).isDirectory()) return corpus(path);
    if (!path.endsWith(".json")) return [];
    const content = JSON.parse(readFileSync(path, "utf8"));
    return Array.isArray(content.stream) ? content.stream : [content];
  });
}

/// Names and types of everything in an event, and the words that choose a form.
function shapeOf(value, key) {
  if (Array.isArray(value)) return `[${[...new Set(value.map((item) => shapeOf(item)))].join()}]`;
  if (value === null || typeof value !== "object") {
    return ["type", "role", "op", "subtype", "status"].includes(key) ? String(value) : value === null ? "null" : typeof value;
  }
  return `{${Object.entries(value).map(([name, member]) => `${name}:${shapeOf(member, name)}`).join()}}`;
}

function hex(bytes) {
  return Buffer.from(bytes).toString("hex");
}

function check(pinned) {
  return pinned.flatMap((line, index) => {
    const [, frame, text] = line.match(LINE) ?? [];
    if (frame === undefined) return [`line ${index + 1}: not a fixture`];
    const again = hex(encoder.encodeBinary(JSON.parse(text)));
    if (again !== frame) return [`line ${index + 1}: the encoder writes ${again} for ${text}`];
    const bytes = Buffer.from(frame, "hex");
    const back = decode(bytes.subarray(4));
    if (back.type !== JSON.parse(text).type) return [`line ${index + 1}: the decoder reads ${JSON.stringify(back)}`];
    const twice = hex(encoder.encodeBinary(back));
    return twice === frame ? [] : [`line ${index + 1}: what was decoded is encoded as ${twice}`];
  });
}

/// Sources that were named must be in the file.
function unseen(pinned, fresh) {
  const known = new Set(pinned);
  return fresh.filter((line) => !known.has(line)).map((line) => `not in the file: ${line}`);
}
