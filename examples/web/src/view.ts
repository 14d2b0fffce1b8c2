// What the conversation looks like.
import type { Message, ToolCall } from "@ag-ui/client";

/// Draws every message. Nodes of messages that are there already are kept and only get new text.
export function showMessages(root: HTMLElement, messages: readonly Message[]): void {
  const known = new Set<string>();
  for (const message of messages) {
    // A result is shown at its call.
    if (message.role === "tool" || message.role === "developer" || message.role === "system") continue;
    known.add(message.id);
    const article = child(root, "article", message.id);
    article.dataset.role = message.role;
    setText(child(article, "div", "text"), textOf(message));
    const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
    for (const call of calls) showCall(article, call, resultOf(messages, call.id));
  }
  for (const article of [...root.children]) {
    if (!known.has((article as HTMLElement).dataset.key ?? "")) article.remove();
  }
}

function showCall(article: HTMLElement, call: ToolCall, result: string | undefined): void {
  const node = child(article, "div", call.id);
  node.className = "call";
  node.dataset.tool = call.function.name;
  const outcome = result === undefined ? "" : `\n= ${result}`;
  setText(node, `${call.function.name}(${call.function.arguments})${outcome}`);
}

function textOf(message: Message): string {
  switch (message.role) {
    case "activity":
      return JSON.stringify(message.content, null, 2);
    case "user":
    case "tool":
      return typeof message.content === "string" ? message.content : partsOf(message.content);
    default:
      return message.content ?? "";
  }
}

function partsOf(parts: readonly { type: string }[]): string {
  return parts.map((part) => ("text" in part ? String(part.text) : `[${part.type}]`)).join("\n");
}

function resultOf(messages: readonly Message[], callId: string): string | undefined {
  const result = messages.find((message) => message.role === "tool" && message.toolCallId === callId);
  return result && textOf(result);
}

/// The child with this key, made if it is not there.
export function child(parent: HTMLElement, tag: string, key: string): HTMLElement {
  const found = [...parent.children].find((node) => (node as HTMLElement).dataset.key === key);
  if (found) return found as HTMLElement;
  const node = document.createElement(tag);
  node.dataset.key = key;
  parent.append(node);
  return node;
}

function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
