// Lets the official clients judge recorded streams.
//
//   node verify-streams.mjs DIRECTORY... [--accept REGEX] [--quiet] [--bad]
//
// Client 1.0.0 judges every stream, client 0.0.58 also those whose client named no protocol version.
// Prints a verdict a stream and a closing line; exit status 0 when all are good, 1 when one is not,
// 2 when there is nothing to judge. With --bad every stream has to be found bad, and no other will do.
import { parseArgs } from "node:util";

import { problemsOf } from "./lib/clients.mjs";
import { readStreams } from "./lib/streams.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { accept: { type: "string", default: "" }, quiet: { type: "boolean", default: false }, bad: { type: "boolean", default: false } },
});
const accept = new RegExp(values.accept);

let passed = 0;
let failed = 0;
for (const directory of positionals) {
  for (const stream of readStreams(directory, (path) => accept.test(path))) {
    const versions = stream.oldClient ? ["1.0.0", "0.0.58"] : ["1.0.0"];
    for (const version of versions) {
      const problems = await problemsOf(version, stream);
      const wanted = (problems.length > 0) === values.bad;
      const verdict = problems.length > 0 ? `BAD  ${version} ${stream.name}: ${problems.join("; ")}` : `good ${version} ${stream.name} (${stream.events.length} events)`;
      if (wanted) passed += 1;
      else failed += 1;
      if (!wanted || !values.quiet) console.log(verdict);
    }
  }
}
console.log(`clients: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : passed > 0 ? 0 : 2;
