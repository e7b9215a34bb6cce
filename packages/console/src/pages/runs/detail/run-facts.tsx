import type { ReactNode } from 'react';
import { StatusBadge } from '../../../ui/badge.js';
import { formatCost, formatDuration, formatTokens } from '../../../ui/format/numbers.js';
import { Time } from '../../../ui/format/time.js';
import { numberIn } from '../run-rows.js';
import type { AnyRun } from './use-run.js';

/** The numbers of a run in one line. */
export function RunFacts({ run, status }: { readonly run: AnyRun; readonly status: string }) {
  const { metrics } = run;
  const seconds = numberIn(metrics, 'duration');
  const first = numberIn(metrics, 'time_to_first_token');
  const input = numberIn(metrics, 'input_tokens');
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Status', <StatusBadge key="status" status={status} />],
    ['Duration', seconds === undefined ? undefined : formatDuration(seconds * 1_000)],
    ['First token', first === undefined ? undefined : formatDuration(first * 1_000)],
    [
      'Tokens',
      input === undefined
        ? undefined
        : `${formatTokens(input)} in · ${formatTokens(numberIn(metrics, 'output_tokens'))} out`,
    ],
    ['Cost', numberIn(metrics, 'cost') === undefined ? undefined : formatCost(numberIn(metrics, 'cost'))],
    ['Model', 'model' in run ? run.model : undefined],
    ['Version', run.version],
    ['User', run.user_id],
    ['Started', <Time key="start" at={run.created_at} style="absolute" />],
  ];
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-2 pb-4">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name} className="min-w-0">
            <dt className="text-xs text-muted">{name}</dt>
            <dd className="[overflow-wrap:anywhere]">{value}</dd>
          </div>
        ))}
    </dl>
  );
}
