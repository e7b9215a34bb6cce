import type { Random } from './random.js';

/** What happens to an interrupted call, and what precedes its execution. */
export interface ToolFacts {
  readonly policy: 'retry' | 'ask' | 'fail';
  readonly gate: 'confirmation' | 'user_input' | 'user_feedback' | 'external_execution' | null;
  /** Another person than the caller decides, or the decision is recorded. */
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

/** A turn in which the model fails, until a message says `again`. */
export const failure = 'boom';
export const encouragement = 'again';

/** What a client asks for. */
export interface Request {
  /** In the message of no other run that was asked for. */
  readonly token: string;
  readonly message: string;
}

/** What an agent is asked to do: the calls of each turn. It follows from the message alone. */
export interface Plan extends Request {
  readonly turns: readonly (readonly string[])[];
}

export function randomPlan(random: Random, token: string): Plan {
  const turns = randomTurns(random, 3);
  if (random.chance(0.08)) turns.splice(random.between(0, turns.length), 0, [failure]);
  return { token, turns, message: `${token} ${planText(turns)}` };
}

/** A plan without failures, for an agent within another component. */
export function randomTurns(random: Random, most: number): string[][] {
  return Array.from({ length: random.between(0, most) }, () => randomTurn(random));
}

export function planText(turns: readonly (readonly string[])[]): string {
  return `plan: ${turns.map((calls) => calls.join('+')).join(', ')}`;
}

function randomTurn(random: Random): string[] {
  const count = random.pick([1, 1, 1, 2, 3]);
  return Array.from({ length: count }, () => random.pick(random.chance(0.3) ? gated : open));
}

/** Whether a message contains a plan. */
export function isPlan(message: string): boolean {
  return /^#[\d.]+ (plan|team):/m.test(message);
}

/** The plan may be anywhere in the message, on a line of its own. */
export function readPlan(message: string): Plan {
  const [, token = '', text = ''] = /^(#[\d.]+) plan: ?(.*)$/m.exec(message) ?? [];
  const turns = text === '' ? [] : text.split(', ').map((calls) => calls.split('+'));
  return { token, turns, message };
}

/** The id that the model of an agent gives to a call: the same whenever it is asked again. */
export function callId(owner: string, token: string, turn: number, position: number, name: string): string {
  return `call-${owner}-${token.slice(1)}-${turn}-${position}-${name}`;
}

export function toolOfCall(id: string): ToolName {
  return id.split('-').at(-1) as ToolName;
}

export function lastWords({ token, turns }: { token: string; turns: readonly unknown[] }): string {
  return `${token} is done after ${turns.length} turns.`;
}

export function plannedCalls(owner: string, { token, turns }: Plan): string[] {
  return turns.flatMap((calls, turn) =>
    calls[0] === failure ? [] : calls.map((name, position) => callId(owner, token, turn, position, name)),
  );
}
