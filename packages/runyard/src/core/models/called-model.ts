import { isJsonObject, type JsonObject } from '../json.js';
import { isNative } from '../native-code.js';
import type { CallApplication } from '../runs/code-owner.js';
import { kindOf, storable } from '../storable-json.js';
import type { Model, ModelResponse } from './model.js';
import { ModelError } from './model-error.js';

/**
 * Works with a model: one of the application, or of a package that it brings along, in the name of the run. Runyard's own
 * adapters leave nothing behind, and each token would cost more.
 */
export function withModel<T>(call: CallApplication, model: Model, work: () => T): T {
  return isNative(model) ? work() : call(model.id, work);
}

/** The whole answer of a model. What one of the application gives is checked and copied before it is stored. */
export function responseOf(model: Model, given: ModelResponse): ModelResponse {
  if (isNative(model)) return given;
  const fail = (fault: string) => unusable(model, fault);
  const response = object(given, 'the answer', fail);
  const usage = object(response.usage, 'usage', fail);
  for (const [name, count] of Object.entries(usage)) {
    if (count === undefined) continue;
    if (!Number.isFinite(count)) throw fail(`usage.${name} is ${kindOf(count)}, not a number`);
    if ((count as number) < 0) throw fail(`usage.${name} is ${String(count)}, not a number of tokens`);
  }
  for (const name of ['content', 'finishReason']) text(response[name], name, fail);
  if (response.reasoningContent !== undefined) text(response.reasoningContent, 'reasoningContent', fail);
  if (!Array.isArray(response.toolCalls))
    throw fail(`toolCalls is ${kindOf(response.toolCalls)}, not a list`);
  for (const [index, one] of response.toolCalls.entries()) {
    const called = object(one, `toolCalls[${index}]`, fail);
    for (const name of ['id', 'name', 'arguments']) text(called[name], `toolCalls[${index}].${name}`, fail);
  }
  return { ...given, ...copied(given, fail) };
}

/** A piece of a stream. */
export function pieceOf(model: Model, piece: unknown): string {
  if (typeof piece === 'string') return piece;
  throw unusable(model, `a piece of text is ${kindOf(piece)}, not a text`);
}

type Fail = (fault: string) => Error;

function copied(
  { media, providerData, toolCalls, usage }: ModelResponse,
  fail: Fail,
): Partial<ModelResponse> {
  const given = { media, providerData, toolCalls, usage };
  const parts = Object.entries(given).filter(([, part]) => part !== undefined && part !== null);
  try {
    return Object.fromEntries(parts.map(([name, part]) => [name, storable(part, name)]));
  } catch (error) {
    throw fail((error as Error).message);
  }
}

function object(value: unknown, name: string, fail: Fail): JsonObject {
  if (isJsonObject(value)) return value;
  throw fail(`${name} is ${kindOf(value)}, not an object`);
}

function text(value: unknown, name: string, fail: Fail): void {
  if (typeof value !== 'string') throw fail(`${name} is ${kindOf(value)}, not a text`);
}

function unusable({ id, provider }: Model, fault: string): ModelError {
  const message = `The model '${id}' gave an answer that cannot be used: ${fault}`;
  return new ModelError(message, { provider, kind: 'protocol' });
}
