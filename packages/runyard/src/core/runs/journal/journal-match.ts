import type { Run, StepKind, StepRecord } from '../run.js';

/**
 * What the code has at a place of the journal. A record answers for it only when both are the same thing: the kind and
 * the name of a step or, where that says too little, its `identity`.
 */
export interface ExpectedStep {
  readonly kind: StepKind;
  readonly name: string;
  readonly identity?: StepIdentity;
}

/** Says more than a name: equal texts are the same thing. What does not matter for that is not in them. */
export interface StepIdentity {
  /** What the code has, in words: `'send' (agent 'mailer')`. */
  readonly is: string;
  /** The same of what was recorded; undefined when the record does not say enough. */
  was(recorded: StepRecord): string | undefined;
}

/** Where the journal of a run and the code do not fit together. */
export interface Difference {
  /** The key in the journal. */
  readonly key: string;
  /** What the run has recorded there; null for something new that stands before what the run has done. */
  readonly was: string | null;
  /** What the code has there; null when the code no longer asks for it. */
  readonly is: string | null;
}

/** Which model answered is in the record; another one may answer next time. */
const unnamedKinds: ReadonlySet<StepKind> = new Set<StepKind>(['model']);

/** The one comparison that decides whether a record answers for what the code asks. */
export function differenceOf(recorded: StepRecord, expected: ExpectedStep): Difference | undefined {
  const is = expectedInWords(expected);
  const was =
    recorded.kind === expected.kind && expected.identity !== undefined
      ? (expected.identity.was(recorded) ?? is)
      : recordInWords(recorded);
  return was === is ? undefined : { key: recorded.key, was, is };
}

export function expectedInWords({ kind, name, identity }: ExpectedStep): string {
  return identity?.is ?? inWords(kind, name);
}

export function recordInWords({ kind, name }: Pick<StepRecord, 'kind' | 'name'>): string {
  return inWords(kind, name);
}

function inWords(kind: StepKind, name: string): string {
  return unnamedKinds.has(kind) ? `a ${kind} call` : `'${name}' (${kindWords[kind] ?? kind})`;
}

const kindWords: Partial<Record<StepKind, string>> = {
  wait: 'question',
  member: 'member',
  try: 'failed try',
};

/** The difference as a sentence of an error message. */
export function differenceInWords({ key, was, is }: Difference): string {
  const place = placeInWords(key);
  if (is === null) return `${place} was ${was}, and the code no longer has it there`;
  if (was === null) return `${place} is ${is}, which is new and precedes what the run has already done`;
  return `${place} was ${was}, and is now ${is}`;
}

/** Which component a run belongs to, in words. */
export function componentInWords({ kind, componentId }: Pick<Run, 'kind' | 'componentId'>): string {
  return `${kind} '${componentId}'`;
}

/** Keys count from 0, people from 1. Without runs around the place, none are named. */
function placeInWords(key: string): string {
  const [place = '', ...around] = key.split('/').reverse();
  const words = ownPlaceInWords(place);
  return around.length === 0 ? words : `${words} within ${around.map(ownPlaceInWords).join(' within ')}`;
}

const places: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/^wait:(.*)$/, (rest) => `the question at ${ownPlaceInWords(rest)}`],
  [/^node:([\d.@~e]+)/, (path) => `step ${pathInWords(path)}`],
  [/^(?:(?:tool|member):)(\d+):(\d+)/, (turn, call) => `tool call ${next(call)} of turn ${next(turn)}`],
  [
    /^(before|after)-model:(\d+):(\d+)/,
    (stage, turn, position) => `model hook ${next(position)} ${stage} model call ${next(turn)}`,
  ],
  [/^(?:said:.*:)?(pre|post)-hook:(\d+)/, (stage, position) => `${stage}-hook ${next(position)}`],
];

function ownPlaceInWords(key: string): string {
  for (const [pattern, words] of places) {
    const match = pattern.exec(key);
    if (match !== null) return words(...match.slice(1));
  }
  return `step '${key}'`;
}

/** `1.0@2.1` is step 2.1, in its second iteration step 2. */
function pathInWords(path: string): string {
  return path
    .replace(/@(\d+)(~\d+)?/g, ' iteration $1')
    .replace(
      /(^|\.e?)(\d+)/g,
      (_, mark: string, digits: string) => mark.replace('e', 'else ') + next(digits),
    );
}

function next(digits: string): string {
  return String(Number(digits) + 1);
}
