import type { EvalRun } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection } from '../../../connection/use-connection.js';
import { Loaded } from '../../../data/loaded.js';
import { StatusBadge } from '../../../ui/badge.js';
import { Time } from '../../../ui/format/time.js';
import { Select } from '../../../ui/forms/inputs.js';
import { Panel } from '../../../ui/panel.js';
import { EmptyState } from '../../../ui/states.js';
import { type Column, DataTable } from '../../../ui/table/data-table.js';
import { componentOf, measuresOf, nameOf } from '../measures.js';

const most = 200;

const columns: readonly Column<EvalRun>[] = [
  { id: 'started', header: 'Started', cell: ({ created_at }) => <Time at={created_at} style="absolute" /> },
  { id: 'status', header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: 'result',
    header: 'Result',
    grow: true,
    cell: (run) =>
      measuresOf(run)
        .map(({ name, text }) => `${name} ${text}`)
        .join(' · '),
  },
  { id: 'model', header: 'Model', hideBelow: 'sm', cell: ({ model_id }) => model_id },
];

/** Earlier and later runs of an eval: those with its name, type and component. */
export function History({ run }: { readonly run: EvalRun }) {
  const { client, address } = useConnection();
  const component = componentOf(run);
  const [chosen, choose] = useState<string>();
  const query = useQuery({
    queryKey: ['evals', address, 'history', component, run.eval_type, run.status],
    queryFn: ({ signal }) =>
      client.evals.list(
        {
          ...(component && { [`${component.kind}_id`]: component.id }),
          eval_types: run.eval_type,
          limit: most,
        },
        { signal },
      ),
  });
  return (
    <Loaded query={query}>
      {({ data }) => {
        const runs = data.filter((one) => nameOf(one) === nameOf(run));
        const names = [...new Set(runs.flatMap((one) => measuresOf(one).map(({ name }) => name)))];
        const name = chosen ?? names[0];
        return (
          <div className="flex flex-col gap-4">
            {name !== undefined && (
              <Panel
                title={`${name} over time`}
                actions={
                  names.length > 1 && (
                    <Select
                      aria-label="Measure"
                      className="max-w-40"
                      value={name}
                      options={names.map((value) => ({ value, label: value }))}
                      onChange={(event) => choose(event.target.value)}
                    />
                  )
                }
              >
                <Line runs={runs.toReversed()} name={name} current={run.id} />
              </Panel>
            )}
            <DataTable
              label="History"
              columns={columns}
              rows={runs}
              rowKey={({ id }) => id}
              rowLink={({ id }) => ({ to: '/evals/$evalId', params: { evalId: id } })}
              empty={<EmptyState title="No runs of this eval" />}
            />
          </div>
        );
      }}
    </Loaded>
  );
}

const width = 640;
const height = 150;
const edge = 14;

/** A line through the values, oldest first. The table below it has the numbers. */
function Line({
  runs,
  name,
  current,
}: {
  readonly runs: readonly EvalRun[];
  readonly name: string;
  readonly current: string;
}) {
  const points = runs.flatMap((run) => {
    const measure = measuresOf(run).find((one) => one.name === name);
    return measure ? [{ run, measure }] : [];
  });
  const values = points.map(({ measure }) => measure.value);
  const highest = Math.max(...values);
  const lowest = Math.min(0, ...values);
  const span = highest - lowest || 1;
  const x = (at: number) =>
    points.length === 1 ? width / 2 : edge + (at * (width - 2 * edge)) / (points.length - 1);
  const y = (value: number) => height - edge - ((value - lowest) * (height - 2 * edge)) / span;
  const top = points.find(({ measure }) => measure.value === highest)?.measure.text;
  return (
    <figure>
      <svg
        role="img"
        aria-label={`${name} of ${points.length} runs, from ${points[0]?.measure.text ?? ''} to ${points.at(-1)?.measure.text ?? ''}`}
        viewBox={`0 0 ${width} ${height}`}
        className="block h-40 w-full"
        preserveAspectRatio="none"
      >
        {[lowest, highest].map((value) => (
          <line
            key={value}
            x1={0}
            x2={width}
            y1={y(value)}
            y2={y(value)}
            vectorEffect="non-scaling-stroke"
            className="stroke-line"
          />
        ))}
        <polyline
          fill="none"
          strokeWidth={2}
          vectorEffect="non-scaling-stroke"
          className="stroke-accent"
          points={points.map(({ measure }, at) => `${x(at)},${y(measure.value)}`).join(' ')}
        />
        {points.map(({ run, measure }, at) => (
          <path
            key={run.id}
            // a line without length with round ends is a dot that the width of the chart does not distort
            d={`M${x(at)} ${y(measure.value)}h0.01`}
            strokeLinecap="round"
            strokeWidth={run.id === current ? 12 : 7}
            vectorEffect="non-scaling-stroke"
            className={run.id === current ? 'stroke-accent-text' : 'stroke-accent'}
          >
            <title>{`${run.created_at ? new Date(run.created_at).toLocaleString() : ''}: ${measure.text}`}</title>
          </path>
        ))}
      </svg>
      <figcaption className="flex justify-between text-xs text-muted">
        <span>highest {top}</span>
        <span>the large dot is this eval</span>
      </figcaption>
    </figure>
  );
}
