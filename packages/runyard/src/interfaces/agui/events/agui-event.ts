import type { Json, JsonObject } from '../../../core/json.js';

/** An event of the protocol, before it is written as a frame. */
export type AguiEvent = { readonly type: string; readonly [field: string]: Json | undefined };

/** A message as a snapshot has it. */
export type AguiMessage = JsonObject & { readonly id: string; readonly role: string };

export function contentText(content: unknown): string {
  if (content === undefined || content === null) return '';
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/** The id of an assistant message: the same in every stream of the run, and in snapshots. */
export function answerId(runId: string, position: number): string {
  return `${runId}-${position}`;
}

/** Results are JSON: a plain text becomes a JSON text. */
export function resultText(result: string | null | undefined): string {
  if (result === null || result === undefined) return 'null';
  try {
    JSON.parse(result);
    return result;
  } catch {
    return JSON.stringify(result);
  }
}
