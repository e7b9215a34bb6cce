import type { DayMetrics } from '@runyard/client';
import { useMemo } from 'react';
import { formatCount } from '../../../ui/format/numbers.js';
import { EmptyState } from '../../../ui/states.js';
import { type Column, DataTable } from '../../../ui/table/data-table.js';
import { type LiveScores, liveScoresIn, type ModelRuns, modelsIn } from '../days.js';

export function ByModel({ metrics }: { readonly metrics: readonly DayMetrics[] }) {
  const models = useMemo(() => modelsIn(metrics), [metrics]);
  const scores = useMemo(() => liveScoresIn(metrics), [metrics]);
  const most = models[0]?.runs ?? 1;
  const columns: readonly Column<ModelRuns>[] = [
    { id: 'model', header: 'Model', cell: ({ id }) => id },
    { id: 'provider', header: 'Provider', hideBelow: 'sm', cell: ({ provider }) => provider },
    {
      id: 'share',
      header: 'Share',
      grow: true,
      cell: ({ runs }) => (
        <span
          aria-hidden
          className="block h-2 min-w-1 rounded-sm bg-accent"
          style={{ width: `${(100 * runs) / most}%` }}
        />
      ),
    },
    { id: 'runs', header: 'Runs', align: 'right', cell: ({ runs }) => formatCount(runs) },
  ];
  return (
    <div className="flex flex-col gap-4">
      <DataTable
        label="Runs by model"
        columns={columns}
        rows={models}
        rowKey={({ id, provider }) => `${provider} ${id}`}
        empty={<EmptyState title="No model was used in this range" />}
      />
      {scores.length > 0 && (
        <>
          <h2 className="text-sm font-semibold">Live evals</h2>
          <DataTable
            label="Scores of live evals"
            columns={scoreColumns}
            rows={scores}
            rowKey={({ eval: name, component, scorer }) => `${name} ${component} ${scorer}`}
            empty={null}
          />
        </>
      )}
    </div>
  );
}

const scoreColumns: readonly Column<LiveScores>[] = [
  { id: 'eval', header: 'Eval', grow: true, cell: ({ eval: name }) => name },
  { id: 'component', header: 'Component', hideBelow: 'sm', cell: ({ component }) => component },
  { id: 'scorer', header: 'Scorer', cell: ({ scorer }) => scorer },
  { id: 'count', header: 'Runs', align: 'right', cell: ({ count }) => formatCount(count) },
  { id: 'mean', header: 'Mean', align: 'right', cell: ({ mean }) => mean?.toFixed(2) ?? '–' },
  {
    id: 'passed',
    header: 'Passed',
    align: 'right',
    cell: ({ passRate }) => (passRate === undefined ? '–' : `${passRate.toFixed(0)} %`),
  },
];
