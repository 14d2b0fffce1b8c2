// A conversation with the agent that the address names:
//   ?agent=URL   where it is; http://127.0.0.1:8000/ unless given
//   ?cwd=DIR     sends the properties that agui-server wants from its clients
import { HttpAgent, randomUUID, type AgentSubscriber, type ResumeEntry, type RunFinishedEvent } from "@ag-ui/client";

import { ask } from "./questions";
import { showMessages } from "./view";

const address = new URLSearchParams(location.search);
const cwd = address.get("cwd");
const agent = new HttpAgent({ url: address.get("agent") ?? "http://127.0.0.1:8000/" });

const byId = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const messages = byId("messages");
const questions = byId("questions");
const status = byId("status");
const prompt = byId<HTMLFormElement>("prompt");
const input = prompt.elements.namedItem("text") as HTMLInputElement;
const send = byId<HTMLButtonElement>("send");
const stop = byId<HTMLButtonElement>("stop");

const view: AgentSubscriber = {
  onMessagesChanged: ({ messages: list }) => showMessages(messages, list),
  onStateChanged: ({ state }) => {
    byId("state").textContent = JSON.stringify(state, null, 2);
  },
  onStepStartedEvent: ({ event }) => say(event.stepName),
  onRunFinishedEvent: ({ event }) => say(usageOf(event)),
  // The run has failed, the conversation has not.
  onRunErrorEvent: ({ event }) => say(event.message, "error"),
};
agent.subscribe(view);

function say(text: string, kind = ""): void {
  status.textContent = text;
  status.dataset.kind = kind;
}

function usageOf(event: RunFinishedEvent): string {
  const tokens = (event.usage ?? []).reduce((sum, entry) => sum + (entry.totalTokens ?? 0), 0);
  return tokens > 0 ? `${tokens} tokens` : "";
}

/// Runs until nothing is asked any more.
async function run(): Promise<void> {
  busy(true);
  try {
    let resume: ResumeEntry[] | undefined;
    do {
      say("…");
      await agent.runAgent({ forwardedProps: properties(), ...(resume && { resume }) });
      // Questions stay open when a run fails, and are asked again with the next message.
      resume = agent.pendingInterrupts.length > 0 && !status.dataset.kind ? await ask(questions, agent.pendingInterrupts) : undefined;
    } while (resume);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "error");
  } finally {
    busy(false);
  }
}

/// A new run needs a new invocation id; answers belong to the invocation that asked.
let invocation = "";
function properties(): Record<string, unknown> {
  if (cwd === null) return {};
  if (agent.pendingInterrupts.length === 0) invocation = randomUUID();
  return { iacCode: { schemaVersion: 1, rosInvocationId: invocation, cwd } };
}

function busy(isBusy: boolean): void {
  send.disabled = isBusy;
  stop.disabled = !isBusy;
}

prompt.addEventListener("submit", (event) => {
  event.preventDefault();
  const content = input.value.trim();
  if (content === "" || send.disabled) return;
  input.value = "";
  agent.addMessage({ id: randomUUID(), role: "user", content });
  showMessages(messages, agent.messages);
  void run();
});
stop.addEventListener("click", () => agent.abortRun());
