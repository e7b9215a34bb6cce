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

/** The steps, with a mark in place of the content that the result holds, too. */
export function packSteps(steps: readonly StepRecord[], result: RunResult | null): string {
  const places = steps.map(
    (step): PackedStep => [
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
    ],
  );
  return marked([[content, jsonOf(result?.content)]], JSON.stringify(places));
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
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const anyMark = /[\u0002-\u0005]/;

/** What is not longer than this stays as it is. */
const leastShortened = 8;

/** What the events of a run begin with: when it was, and whose they are. */
const head = /^e\t[^\t\n]*\t[^\t\n]*\t(\{"created_at":\d+,"event":")\w+",("[^\n]*?"nested_depth":\d+)/;

/**
 * The only events of a run, in short: their number, two texts that they begin with, and the events with marks in place
 * of these and of what the result holds. Undefined when they have such a mark themselves.
 */
export function packEvents({ count, payload }: EventBlock, result: RunResult | null): string | undefined {
  if (anyMark.test(payload)) return undefined;
  const [, first = '', second = ''] = head.exec(payload) ?? [];
  const short = marked(
    [
      [content, jsonOf(result?.content)],
      [metrics, jsonOf(result?.metrics)],
      [origin, second],
      [beginning, first],
    ],
    payload,
  );
  return `${count}\n${first}\n${second}\n${short}`;
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

function marked(texts: readonly (readonly [mark: string, text: string])[], payload: string): string {
  return texts.reduce(
    (short, [mark, text]) => (text.length < leastShortened ? short : short.replaceAll(text, mark)),
    payload,
  );
}

function jsonOf(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}
