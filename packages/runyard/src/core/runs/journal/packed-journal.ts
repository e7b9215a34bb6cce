import type { RunResult, StepRecord } from '../run.js';
import type { EventBlock } from './ports.js';

/*
 * The journal of a run that ended with its first write, as two texts that are stored in the row of the run: most runs
 * are short, and rows of their own for two steps and six events would cost more than what they hold. A run that is
 * continued gets rows.
 */

/** A journal that takes more than this, in characters, has rows of its own: lists read the rows of runs. */
export const mostPacked = 16 * 1024;

/** A step without its run, which is in the same row. Migration 32 reads it in SQL: neither the places nor the mark change. */
type PackedStep = readonly [
  StepRecord['seq'],
  StepRecord['key'],
  StepRecord['kind'],
  StepRecord['name'],
  StepRecord['parentKey'],
  StepRecord['status'],
  StepRecord['attempt'],
  StepRecord['input'],
  StepRecord['output'],
  StepRecord['error'],
  StepRecord['startedAt'],
  StepRecord['endedAt'],
];

/** What the steps and events of a run repeat of its result, as JSON that is made once for all of them. */
interface RepeatedResult {
  readonly content: string;
  readonly metrics: string;
}

export function repeatedResult(result: RunResult | null): RepeatedResult {
  return { content: jsonOf(result?.content), metrics: jsonOf(result?.metrics) };
}

/** The steps, with a mark in place of the content that the result holds, too. */
export function packSteps(steps: readonly StepRecord[], repeated: RepeatedResult): string {
  // without `map`, whose list may have holes once it is compiled: such a list is written slowly
  const places: PackedStep[] = [];
  for (const step of steps)
    places.push([
      step.seq,
      step.key,
      step.kind,
      step.name,
      step.parentKey,
      step.status,
      step.attempt,
      step.input,
      step.output,
      step.error,
      step.startedAt,
      step.endedAt,
    ]);
  return marked([[content, repeated.content]], JSON.stringify(places));
}

/** `result` is that of the same row. The mark stands for a piece of text, which need not be a whole value. */
export function unpackSteps(runId: string, packed: string, result: RunResult | null): StepRecord[] {
  // only `packSteps` writes it
  const steps: readonly PackedStep[] = JSON.parse(packed.replaceAll(content, () => jsonOf(result?.content)));
  return steps.map(
    ([seq, key, kind, name, parentKey, status, attempt, input, output, error, startedAt, endedAt]) => ({
      runId,
      seq,
      key,
      kind,
      name,
      parentKey,
      status,
      attempt,
      input,
      output,
      error,
      startedAt,
      endedAt,
    }),
  );
}

/** Each stands for a text that events repeat. JSON has none of them. */
const [beginning, origin, content, metrics] = ['\u0002', '\u0003', '\u0004', '\u0005'] as const;
const marks: readonly string[] = [beginning, origin, content, metrics];

/** What is not longer than this stays as it is. */
const leastShortened = 8;

/** What the events of a run begin with: when it was, and whose they are. */
const head = /^e\t[^\t\n]*\t[^\t\n]*\t(\{"created_at":\d+,"event":")\w+",("[^\n]*?"nested_depth":\d+)/;

/**
 * The only events of a run, in short: their number, two texts that they begin with, and the events with marks in place
 * of these and of what the result holds. Undefined when they have such a mark themselves.
 */
export function packEvents({ count, payload }: EventBlock, repeated: RepeatedResult): string | undefined {
  for (const mark of marks) if (payload.includes(mark)) return undefined;
  const [, first = '', second = ''] = head.exec(payload) ?? [];
  return marked(
    [
      [content, repeated.content],
      [metrics, repeated.metrics],
      [origin, second],
      [beginning, first],
    ],
    payload,
    [String(count), '\n', first, '\n', second, '\n'],
  );
}

/** `result` is that of the write that the events came with. */
export function unpackEvents(packed: string, result: RunResult | null): EventBlock {
  const [count = '', first = '', second = ''] = packed.split('\n', 3);
  const payload = packed
    .slice(count.length + first.length + second.length + 3)
    .replaceAll(beginning, () => first)
    .replaceAll(origin, () => second)
    .replaceAll(metrics, () => jsonOf(result?.metrics))
    .replaceAll(content, () => jsonOf(result?.content));
  return { firstIndex: 0, count: Number(count), payload };
}

/** A text that a mark stands for. */
interface Repeated {
  readonly mark: string;
  readonly text: string;
  /** Where it was found last; the end of the payload when it is not there again. */
  at: number;
}

/** The payload with marks in place of the texts, as if these were replaced one after the other; `parts` come before it. */
function marked(
  texts: readonly (readonly [mark: string, text: string])[],
  payload: string,
  parts: string[] = [],
): string {
  const repeated: Repeated[] = [];
  for (const [mark, text] of texts) if (text.length >= leastShortened) repeated.push({ mark, text, at: -1 });
  addMarked(parts, payload, repeated, 0, 0, payload.length);
  return parts.join('');
}

/**
 * Looks for a text where the marks of those before it leave something, and for the next one between its places. No text
 * has a mark in it, so that one pass over the payload finds the same as one for each text.
 */
function addMarked(
  parts: string[],
  payload: string,
  repeated: readonly Repeated[],
  level: number,
  from: number,
  to: number,
): void {
  const one = repeated[level];
  if (one === undefined) {
    if (from < to) parts.push(payload.slice(from, to));
    return;
  }
  const { mark, text } = one;
  let rest = from;
  for (;;) {
    // one that was found behind `to` is still the next
    if (one.at < rest) one.at = indexOrEnd(payload, text, rest);
    const { at } = one;
    if (at + text.length > to) break;
    addMarked(parts, payload, repeated, level + 1, rest, at);
    parts.push(mark);
    rest = at + text.length;
  }
  addMarked(parts, payload, repeated, level + 1, rest, to);
}

function indexOrEnd(payload: string, text: string, from: number): number {
  const at = payload.indexOf(text, from);
  return at === -1 ? payload.length : at;
}

function jsonOf(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}
