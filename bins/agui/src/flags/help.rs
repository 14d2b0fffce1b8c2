//! Longer texts of `--help`.

pub(super) const ABOUT: &str = "\
A terminal client for AG-UI agents: talk to one (run), judge its event streams (verify), keep them (record) \
and serve them again (replay).

Words of an agent are shown as words: control characters never reach the terminal. Colours are left out \
when the output is no terminal or NO_COLOR is set.";

pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0    the run did its work; the stream is clean
  1    the run has failed; the stream has faults
  2    wrong arguments, an unreadable file, an agent that cannot be reached or refuses
  3    the run waits for an answer that was not given
  4    the agent has cancelled the run
  130  stopped with Ctrl-C; a second Ctrl-C ends the program at once";

pub(super) const RUN: &str = "\
Examples:
  agui run http://127.0.0.1:8000/ \"write a file\"
  agui run https://agent.example/ --bearer-env AGENT_TOKEN --attach plan.png \"what is on this plan?\"
  git diff | agui run http://127.0.0.1:8000/ -
  agui run http://127.0.0.1:8000/ \"write a file\" --json --answer '*={\"decision\":\"allow_once\"}'
  agui run http://127.0.0.1:8000/ --thread T --answer 'permission-1={\"decision\":\"deny\"}'

Questions are asked as forms made from their schema. An empty line takes the default, /cancel leaves the \
question, /json VALUE gives the whole answer as JSON. Secrets are not shown while they are typed; those of \
--answer stand in the list of processes, those of --answers do not.

Exit codes: 0 done, 1 failed, 2 trouble, 3 an answer is missing, 4 cancelled, 130 stopped.";

pub(super) const VERIFY: &str = "\
Examples:
  agui verify http://127.0.0.1:8000/ \"hello\"
  agui verify stream.sse
  curl -sN … | agui verify - --format sarif --output agui.sarif

Every fault is reported, not only the first, with the number of its event, what is wrong and what to do.

Exit codes: 0 clean; 1 errors, or more warnings than --max-warnings, or whatever --fail-on says; 2 nothing \
could be judged.";

pub(super) const RECORD: &str = "\
Credentials in headers, values of members with telling names (password, token, secret, …), values that look \
like keys, and the values of --header and --bearer-env are replaced by [redacted], also where a stream has \
cut them into pieces. Look at a trace before you hand it on all the same.";

pub(super) const REPLAY: &str = "\
The first request gets the first recorded exchange, the second the second, and after the last it begins \
anew. Faults of a recording are served as they are; a stream that had been cut is cut again. Ctrl-C ends it at \
once, and the streams that are open with it.";
