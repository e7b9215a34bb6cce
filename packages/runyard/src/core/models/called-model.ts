import { thrownError } from '../errors/thrown-error.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { isNative } from '../native-code.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import type { ObservedAnswer, RunObserver } from '../runs/execution/run-observer.js';
import { kindOf, storable } from '../storable-json.js';
import { citedNumbers, citedTexts, isPlace } from './citations.js';
import { finishReasons, type Model, type ModelCallOptions, type ModelResponse } from './model.js';
import { ModelError } from './model-error.js';
import { type CallScope, StepCallOptions } from './step-call-options.js';

/**
 * Works with a model: one of the application, or of a package that it brings along, on behalf of the run. Runyard's own
 * adapters leave nothing behind, and each token would cost more.
 */
export async function withModel<T extends ObservedAnswer>(
  { callApplication, observer }: ModelCaller,
  model: Model,
  work: () => Promise<T>,
): Promise<T> {
  const started = performance.now();
  try {
    const answer = await onBehalf({ callApplication }, model, work);
    observer?.modelAnswered(model, performance.now() - started, answer);
    return answer;
  } catch (error) {
    observer?.modelFailed(model, performance.now() - started, error);
    throw error;
  }
}

/** The same without the observer: the reader of the answer reports it. */
export function onBehalf<T>({ callApplication }: ModelCaller, model: Model, work: () => T): T {
  return isNative(model) ? work() : callApplication(model.id, work);
}

/** What a model is called with. One of the application that does not ask for the signal costs none. */
export function callOptions(model: Model, scope: CallScope): ModelCallOptions {
  return isNativeAsMade(model) ? new StepCallOptions(scope) : new AskedOptions(scope);
}

/** Functions that the application put into one of our adapters may hand on a copy of the options. */
export function isNativeAsMade(model: Model): boolean {
  return isNative(model) && !Object.hasOwn(model, 'generate') && !Object.hasOwn(model, 'stream');
}

class AskedOptions implements ModelCallOptions {
  declare readonly signal: AbortSignal;
  /** Not `#scope`, which a proxy in front of these options, or an object made from them, would not have. */
  declare private readonly scope: { readonly signal: AbortSignal };

  constructor(scope: { readonly signal: AbortSignal }) {
    Object.defineProperty(this, 'scope', { value: scope });
    Object.defineProperty(this, 'signal', AskedOptions.signal);
  }

  /** A property of its own, so that a model that hands on a copy of its options hands on the signal. */
  private static readonly signal = {
    enumerable: true,
    get(this: AskedOptions) {
      return this.scope.signal;
    },
  };
}

/** Who calls a model. */
interface ModelCaller {
  readonly callApplication: CallApplication;
  readonly observer?: RunObserver | undefined;
}

/** The whole answer of a model. What one of the application gives is checked and copied before it is stored. */
export function responseOf(model: Model, given: ModelResponse): ModelResponse {
  if (isNative(model)) return given;
  const fail = (fault: string) => unusable(model, fault);
  const response = object(given, 'the answer', fail);
  const usage = object(response.usage, 'usage', fail);
  for (const [name, count] of Object.entries(usage)) {
    if (count === undefined) continue;
    if (typeof count !== 'number' || !Number.isFinite(count))
      throw fail(`usage.${name} is ${kindOf(count)}, not a number`);
    if (count < 0) throw fail(`usage.${name} is ${String(count)}, not a number of tokens`);
  }
  for (const name of ['content', 'finishReason']) text(response[name], name, fail);
  for (const name of ['reasoningContent', 'finishMessage'])
    if (response[name] !== undefined) text(response[name], name, fail);
  for (const [called, name] of objects(response.toolCalls, 'toolCalls', fail)) {
    for (const part of ['id', 'name', 'arguments']) text(called[part], `${name}.${part}`, fail);
    if (called.client !== undefined && called.client !== 'execution' && called.client !== 'confirmation')
      throw fail(`${name}.client is neither 'execution' nor 'confirmation'`);
  }
  if (response.media !== undefined)
    for (const [made, name] of objects(response.media, 'media', fail))
      for (const part of ['kind', 'id']) text(made[part], `${name}.${part}`, fail);
  if (response.citations !== undefined) checkCitations(response.citations, fail);
  return { ...given, ...copied(given, fail), ...knownReason(given) };
}

/** A reason in words of the application's own is another one, explained by its word. */
function knownReason({ finishReason, finishMessage }: ModelResponse): Partial<ModelResponse> {
  if (finishReasons.includes(finishReason)) return {};
  return { finishReason: 'other', finishMessage: finishMessage ?? finishReason };
}

function checkCitations(given: unknown, fail: Fail): void {
  const citations = object(given, 'citations', fail);
  for (const [source, name] of objects(citations.sources, 'citations.sources', fail)) {
    for (const part of citedTexts)
      if (source[part] !== undefined) text(source[part], `${name}.${part}`, fail);
    for (const part of citedNumbers) {
      if (source[part] === undefined || isPlace(source[part])) continue;
      throw fail(`${name}.${part} is not a whole number, 0 or more`);
    }
  }
  if (citations.searchQueries === undefined) return;
  for (const [index, query] of list(citations.searchQueries, 'citations.searchQueries', fail).entries())
    text(query, `citations.searchQueries[${index}]`, fail);
}

/** A piece of a stream. */
export function pieceOf(model: Model, piece: unknown): string {
  if (typeof piece === 'string') return piece;
  throw unusable(model, `a piece of text is ${kindOf(piece)}, not a text`);
}

type Fail = (fault: string) => Error;

function copied(
  { citations, media, providerData, toolCalls, usage }: ModelResponse,
  fail: Fail,
): Partial<ModelResponse> {
  const given = { citations, media, providerData, toolCalls, usage };
  const parts = Object.entries(given).filter(([, part]) => part !== undefined && part !== null);
  try {
    return Object.fromEntries(parts.map(([name, part]) => [name, storable(part, name)]));
  } catch (error) {
    throw fail(thrownError(error).message);
  }
}

function object(value: unknown, name: string, fail: Fail): JsonObject {
  if (isJsonObject(value)) return value;
  throw fail(`${name} is ${kindOf(value)}, not an object`);
}

function list(value: unknown, name: string, fail: Fail): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw fail(`${name} is ${kindOf(value)}, not a list`);
}

/** The entries of a list, each with its name. */
function objects(value: unknown, name: string, fail: Fail): [JsonObject, string][] {
  return list(value, name, fail).map((one, index) => {
    const place = `${name}[${index}]`;
    return [object(one, place, fail), place];
  });
}

function text(value: unknown, name: string, fail: Fail): void {
  if (typeof value !== 'string') throw fail(`${name} is ${kindOf(value)}, not a text`);
}

function unusable({ id, provider }: Model, fault: string): ModelError {
  const message = `The model '${id}' gave an answer that cannot be used: ${fault}`;
  return new ModelError(message, { provider, kind: 'protocol' });
}
