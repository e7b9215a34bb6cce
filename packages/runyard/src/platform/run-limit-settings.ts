import { z } from 'zod';
import { longestTimeMs } from '../core/options/kinds.js';
import type { AnyLimits } from '../core/runs/limits/run-limits.js';

const count = (most: number) =>
  z
    .union([z.int().min(1).max(most), z.literal('none')])
    .optional()
    .meta({ allowed: `a whole number from 1 to ${most}, or none` });

const most = 1_000_000_000_000;

/** What the service allows each run: a ceiling over the limits of agents, teams and workflows. */
export const runLimitSettingsShape = {
  maxRunTurns: count(most).describe(
    'How often a run of an agent or a team may call its model; 500 unless the component sets a limit. none: no ceiling and no default.',
  ),
  maxRunToolCalls: count(most).describe(
    'How many tool calls a run may make, including runs inside it; 10000 (workflows: 100000) unless the component sets a limit.',
  ),
  maxRunTokens: count(most).describe(
    'How many tokens a run may use, including runs inside it; 100 million (workflows: 1 billion) unless the component sets a limit.',
  ),
  maxRunCost: z
    .union([z.number().positive().max(most), z.literal('none')])
    .optional()
    .meta({ allowed: 'US dollars above 0, such as 2.5, or none' })
    .describe('How many US dollars the model calls of a run may cost; any amount when left out.'),
  maxRunTimeMs: count(longestTimeMs).describe(
    'How long a run may execute, not counting the time in which it waits for a person; a day (workflows: a week) unless the component sets a limit.',
  ),
  maxRunSteps: count(most).describe(
    'How many steps a workflow run may execute, including all iterations; 100000 unless the workflow sets a limit.',
  ),
  maxRunBytes: count(most).describe(
    'How many bytes the steps, the answer in progress and the session state of a run may hold, including runs inside it; 64 MiB (workflows: 256 MiB) unless the component sets a limit.',
  ),
};

type RunLimitSettings = {
  readonly [Name in keyof typeof runLimitSettingsShape]?: number | 'none' | undefined;
};

/** The same as limits: null where the service sets none explicitly. */
export function serviceLimits(settings: RunLimitSettings): AnyLimits {
  const limits = {
    turns: settings.maxRunTurns,
    toolCalls: settings.maxRunToolCalls,
    tokens: settings.maxRunTokens,
    cost: settings.maxRunCost,
    timeMs: settings.maxRunTimeMs,
    steps: settings.maxRunSteps,
    bytes: settings.maxRunBytes,
  };
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, value === 'none' ? null : value]));
}
