import { z } from 'zod';
import { longestTimeMs } from '../../core/options/kinds.js';
import type { AnyLimits } from '../../core/runs/limits/run-limits.js';
import { type SettingsOf, setting } from './setting.js';

const count = (most: number) =>
  z
    .union([z.int().min(1).max(most), z.literal('none')])
    .meta({ allowed: `a whole number from 1 to ${most}, or none` });

const most = 1_000_000_000_000;

/** What the service allows each run: a ceiling over the limits of agents, teams and workflows. */
export const runLimitSettings = {
  maxRunTurns: setting({
    about:
      'How often a run of an agent or a team may call its model; 500 unless the component sets a limit. none: no ceiling and no default.',
    schema: () => count(most),
  }),
  maxRunToolCalls: setting({
    about:
      'How many tool calls a run may make, including runs inside it; 10000 (workflows: 100000) unless the component sets a limit.',
    schema: () => count(most),
  }),
  maxRunTokens: setting({
    about:
      'How many tokens a run may use, including runs inside it; 100 million (workflows: 1 billion) unless the component sets a limit.',
    schema: () => count(most),
  }),
  maxRunCost: setting({
    about: 'How many US dollars the model calls of a run may cost; any amount when left out.',
    allowed: 'US dollars above 0, such as 2.5, or none',
    schema: () => z.union([z.number().positive().max(most), z.literal('none')]),
  }),
  maxRunTimeMs: setting({
    about:
      'How long a run may execute, not counting the time in which it waits for a person; a day (workflows: a week) unless the component sets a limit.',
    schema: () => count(longestTimeMs),
  }),
  maxRunSteps: setting({
    about:
      'How many steps a workflow run may execute, including all iterations; 100000 unless the workflow sets a limit.',
    schema: () => count(most),
  }),
  maxRunBytes: setting({
    about:
      'How many bytes the steps, the answer in progress and the session state of a run may hold, including runs inside it; 64 MiB (workflows: 256 MiB) unless the component sets a limit.',
    schema: () => count(most),
  }),
};

type RunLimitSettings = Readonly<SettingsOf<typeof runLimitSettings>>;

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
