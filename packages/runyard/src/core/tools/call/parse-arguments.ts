import { isJsonObject, type JsonObject } from '../../json.js';

export type ParsedArguments =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly message: string };

/** Reads the arguments of a tool call as leniently as is safe: models wrap and double-encode their JSON. */
export function parseArguments(text: string): ParsedArguments {
  const unwrapped = withoutCodeFence(text.trim());
  if (unwrapped === '') return { ok: true, args: {} };
  let value: unknown;
  try {
    value = JSON.parse(unwrapped);
    if (typeof value === 'string') value = JSON.parse(withoutCodeFence(value.trim()) || '{}');
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    return { ok: false, message: `The arguments are not valid JSON (${fault}). They were: ${excerpt(text)}` };
  }
  if (value === null) return { ok: true, args: {} };
  if (isJsonObject(value)) return { ok: true, args: value };
  return { ok: false, message: `The arguments must be a JSON object. They were: ${excerpt(text)}` };
}

function withoutCodeFence(text: string): string {
  return /^```[a-zA-Z]*\s*([\s\S]*?)\s*```$/.exec(text)?.[1] ?? text;
}

function excerpt(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
