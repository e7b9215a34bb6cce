import type { Kind, Shape } from '../../options/kind.js';
import { amount, anyOf, count, milliseconds, none, objectOf } from '../../options/kinds.js';
import type { RunLimits, WorkflowLimits } from './run-limits.js';

const orNone = (of: Kind) => ({ ...anyOf(of, none), allowed: `${of.allowed}, or null for none` });

const shared: Shape<Omit<RunLimits, 'turns'>> = {
  toolCalls: orNone(count(1)),
  tokens: orNone(count(1)),
  cost: orNone(amount('US dollars above 0', (value) => value > 0)),
  timeMs: orNone(milliseconds(1)),
  bytes: orNone(count(1)),
};

export const conversationLimitShape: Shape<RunLimits> = { turns: orNone(count(1)), ...shared };
export const conversationLimits = objectOf<RunLimits>(conversationLimitShape);
export const workflowLimits = objectOf<WorkflowLimits>({ steps: orNone(count(1)), ...shared });
