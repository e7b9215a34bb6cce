import { RunFailed } from '../executable.js';
import { isJob } from '../run.js';
import type { Bound, Limited, LimitName } from './run-limits.js';

/** The setting of the service that is the ceiling of a limit. */
const ceilingSettings: Readonly<Record<LimitName, string>> = {
  turns: 'maxRunTurns',
  toolCalls: 'maxRunToolCalls',
  tokens: 'maxRunTokens',
  cost: 'maxRunCost',
  timeMs: 'maxRunTimeMs',
  steps: 'maxRunSteps',
  bytes: 'maxRunBytes',
};

/** What a run that has met one of its limits fails with, and the reason of its abort signal. */
export class LimitExceeded extends RunFailed {
  constructor(
    readonly owner: Limited,
    readonly bound: Bound,
    used: number,
    isOutermost: boolean,
  ) {
    const { limit, value, source } = bound;
    super({
      type: 'limit_exceeded',
      message: textOf(owner, bound, used, isOutermost),
      additionalData: { limit, bound: value, used, source, component: owner.kind, component_id: owner.id },
    });
  }
}

function textOf(owner: Limited, bound: Bound, used: number, isOutermost: boolean): string {
  const { kind, id } = owner;
  const { limit, source } = bound;
  const component = `${kind} '${id}'`;
  const own = `limits.${limit} of ${component}`;
  const setting = `the service setting ${ceilingSettings[limit]}`;
  const from = { own, service: setting, default: `the default for ${limit}` }[source];
  const raise = source === 'service' ? `Raise ${setting}` : `${source === 'own' ? 'Raise' : 'Set'} ${own}`;
  const then = kind === 'workflow' || isJob(owner) ? 'run it again' : 'continue the run';
  const advice = isOutermost ? `${raise}, then ${then}.` : `${raise}.`;
  return `The run of ${component} was stopped: it may ${verbs[limit](bound.value, used)} (${from}). ${advice}`;
}

/** What a run may do, and how much it did or wanted. */
const verbs: Readonly<Record<LimitName, (bound: number, used: number) => string>> = {
  turns: (bound) => `call its model ${bound} times, which it did`,
  toolCalls: (bound, used) => `make ${bound} tool calls, and asked for ${used}`,
  tokens: (bound, used) => `use ${bound} tokens, and used ${used}`,
  cost: (bound, used) => `cost $${bound}, and cost $${Number(used.toFixed(6))}`,
  timeMs: (bound) => `be executed for ${bound} ms, which have passed`,
  steps: (bound) => `execute ${bound} steps, which it did`,
  bytes: (bound, used) => `hold ${bound} bytes, and came to ${used}`,
};
