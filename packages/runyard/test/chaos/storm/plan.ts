import type { Random } from './random.js';

/** What becomes of an interrupted call, and what stands before its execution. */
export interface ToolFacts {
  readonly policy: 'retry' | 'ask' | 'fail';
  readonly gate: 'confirmation' | 'user_input' | 'user_feedback' | 'external_execution' | null;
  /** Somebody else than the caller decides, or the decision is written down. */
  readonly approval?: 'required' | 'audit';
}

/** The tools of the application under test. */
export const toolFacts = {
  look: { policy: 'retry', gate: null },
  note: { policy: 'retry', gate: null },
  pay: { policy: 'ask', gate: null },
  send: { policy: 'fail', gate: null },
  wipe: { policy: 'ask', gate: 'confirmation' },
  sign: { policy: 'ask', gate: 'confirmation', approval: 'audit' },
  grant: { policy: 'ask', gate: 'confirmation', approval: 'required' },
  fill: { policy: 'ask', gate: 'user_input' },
  choose: { policy: 'retry', gate: 'user_feedback' },
  outside: { policy: 'retry', gate: 'external_execution' },
} as const satisfies Record<string, ToolFacts>;

export type ToolName = keyof typeof toolFacts;

const names = Object.keys(toolFacts) as ToolName[];
const open = names.filter((name) => toolFacts[name].gate === null);
const gated = names.filter((name) => toolFacts[name].gate !== null);

/** A turn in which the model fails, until somebody says `again`. */
export const failure = 'boom';
export const encouragement = 'again';

/** What a run is asked to do: the calls of each turn. It follows from the message alone. */
export interface Plan {
  /** In the message of no other run that was asked for. */
  readonly token: string;
  readonly turns: readonly (readonly string[])[];
  readonly message: string;
}

export function randomPlan(random: Random, number: number): Plan {
  const turns = Array.from({ length: random.between(0, 3) }, () => randomTurn(random));
  if (random.chance(0.08)) turns.splice(random.between(0, turns.length), 0, [failure]);
  const token = `#${number}`;
  return { token, turns, message: `${token} plan: ${turns.map((calls) => calls.join('+')).join(', ')}` };
}

function randomTurn(random: Random): string[] {
  const count = random.pick([1, 1, 1, 2, 3]);
  return Array.from({ length: count }, () => random.pick(random.chance(0.3) ? gated : open));
}

export function readPlan(message: string): Plan {
  const [, token = '', text = ''] = /^(#\d+) plan: ?(.*)$/.exec(message) ?? [];
  const turns = text === '' ? [] : text.split(', ').map((calls) => calls.split('+'));
  return { token, turns, message };
}

/** The id that the model gives to a call: the same whenever it is asked again. */
export function callId(turn: number, position: number, name: string): string {
  return `call-${turn}-${position}-${name}`;
}

export function toolOfCall(id: string): ToolName {
  return id.split('-').at(-1) as ToolName;
}

export function lastWords({ token, turns }: Plan): string {
  return `${token} is done after ${turns.length} turns.`;
}

export function plannedCalls({ turns }: Plan): string[] {
  return turns.flatMap((calls, turn) =>
    calls[0] === failure ? [] : calls.map((name, position) => callId(turn, position, name)),
  );
}
