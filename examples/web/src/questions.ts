// Interrupts as forms: what may be answered is said by the JSON Schema of the question.
import type { Interrupt, ResumeEntry } from "@ag-ui/client";

/// The parts of JSON Schema that the forms understand; an answer to anything else is typed as JSON.
interface Schema {
  type?: string;
  title?: string;
  description?: string;
  const?: unknown;
  enum?: unknown[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
}

/// Shows the questions and gives their answers when all are answered.
export function ask(root: HTMLElement, interrupts: readonly Interrupt[]): Promise<ResumeEntry[]> {
  const answers = new Map<string, ResumeEntry>();
  return new Promise((resolve) => {
    for (const interrupt of interrupts) {
      const card = document.createElement("div");
      card.className = "question";
      card.append(paragraph(interrupt.message ?? interrupt.reason));
      const settle = (entry: ResumeEntry) => {
        answers.set(interrupt.id, entry);
        card.remove();
        if (answers.size === interrupts.length) resolve([...answers.values()]);
      };
      const answer = (payload: unknown) => settle({ interruptId: interrupt.id, status: "resolved", payload });
      for (const choice of choicesOf(interrupt.responseSchema as Schema | undefined)) card.append(formOf(choice, answer));
      card.append(button("Leave unanswered", () => settle({ interruptId: interrupt.id, status: "cancelled" })));
      root.append(card);
    }
  });
}

/// One form for each alternative; of a lone list of words each word is one.
function choicesOf(schema: Schema | undefined): Schema[] {
  const alternatives = schema?.oneOf ?? schema?.anyOf ?? [schema ?? {}];
  return alternatives.flatMap((alternative) => {
    const properties = Object.entries(alternative.properties ?? {});
    const [only] = properties;
    if (properties.length !== 1 || !only?.[1].enum) return [alternative];
    const [name, property] = only;
    return property.enum!.map((value) => ({ ...alternative, properties: { [name]: { const: value } } }));
  });
}

function formOf(schema: Schema, answer: (payload: unknown) => void): HTMLElement {
  const form = document.createElement("form");
  const properties = Object.entries(schema.properties ?? {});
  const open = properties.filter(([, property]) => property.const === undefined);
  const label = properties.map(([, property]) => property.title ?? property.const).find((text) => text !== undefined);
  const fields = open.map(([name, property]) => [name, fieldOf(form, name, property)] as const);
  const whole = properties.length === 0 ? fieldOf(form, "answer as JSON", { type: "json" }) : undefined;
  form.append(button(open.length > 0 || whole ? "Answer" : String(label ?? "Answer")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (whole) return answer(whole());
    const given = properties.filter(([, property]) => property.const !== undefined).map(([name, property]) => [name, property.const]);
    const typed = fields.map(([name, read]) => [name, read()]).filter(([, value]) => value !== undefined);
    answer(Object.fromEntries([...given, ...typed]));
  });
  return form;
}

/// Adds a field and gives what reads it.
function fieldOf(form: HTMLElement, name: string, schema: Schema): () => unknown {
  const label = document.createElement("label");
  label.append(`${schema.title ?? schema.description ?? name} `);
  form.append(label);
  if (schema.enum) {
    const select = document.createElement("select");
    for (const value of schema.enum) select.add(new Option(String(value), JSON.stringify(value)));
    label.append(select);
    return () => JSON.parse(select.value);
  }
  const input = document.createElement("input");
  input.name = name;
  input.type = schema.type === "boolean" ? "checkbox" : ["number", "integer"].includes(schema.type ?? "") ? "number" : "text";
  label.append(input);
  return () => {
    if (input.type === "checkbox") return input.checked;
    if (input.value === "") return undefined;
    if (input.type === "number") return input.valueAsNumber;
    return schema.type === "string" ? input.value : jsonOr(input.value);
  };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function paragraph(text: string): HTMLElement {
  const node = document.createElement("p");
  node.style.whiteSpace = "pre-wrap";
  node.textContent = text;
  return node;
}

function button(text: string, onClick?: () => void): HTMLButtonElement {
  const node = document.createElement("button");
  node.textContent = text;
  if (onClick) {
    node.type = "button";
    node.addEventListener("click", onClick);
  }
  return node;
}
