import { formatCount, formatTokens } from '../../../ui/format/numbers.js';
import { Panel } from '../../../ui/panel.js';
import { EmptyState } from '../../../ui/states.js';
import { type Column, DataTable } from '../../../ui/table/data-table.js';
import { DayChart, type Series } from '../charts/day-chart.js';
import { type Day, sum } from '../days.js';

const runs: readonly Series[] = [
  { label: 'Agents', color: '--accent', of: ({ agents }) => agents },
  { label: 'Teams', color: '--line-strong', of: ({ teams }) => teams },
  { label: 'Workflows', color: '--success', of: ({ workflows }) => workflows },
];

const tokens: readonly Series[] = [
  { label: 'Input', color: '--accent', of: ({ input }) => input },
  { label: 'Output', color: '--line-strong', of: ({ output }) => output },
];

const columns: readonly Column<Day>[] = [
  { id: 'date', header: 'Day', grow: true, cell: ({ date }) => date },
  { id: 'runs', header: 'Runs', align: 'right', cell: (day) => formatCount(day.runs) },
  { id: 'agents', header: 'Agents', align: 'right', hideBelow: 'md', cell: (day) => formatCount(day.agents) },
  { id: 'teams', header: 'Teams', align: 'right', hideBelow: 'md', cell: (day) => formatCount(day.teams) },
  {
    id: 'workflows',
    header: 'Workflows',
    align: 'right',
    hideBelow: 'md',
    cell: (day) => formatCount(day.workflows),
  },
  {
    id: 'sessions',
    header: 'New sessions',
    align: 'right',
    hideBelow: 'lg',
    cell: (day) => formatCount(day.sessions),
  },
  { id: 'users', header: 'Users', align: 'right', hideBelow: 'sm', cell: (day) => formatCount(day.users) },
  { id: 'input', header: 'Input', align: 'right', hideBelow: 'sm', cell: (day) => formatTokens(day.input) },
  {
    id: 'output',
    header: 'Output',
    align: 'right',
    hideBelow: 'sm',
    cell: (day) => formatTokens(day.output),
  },
  { id: 'total', header: 'Tokens', align: 'right', cell: (day) => formatTokens(day.total) },
];

export function ByDay({ days }: { readonly days: readonly Day[] }) {
  const active = days.filter((day) => day.runs + day.sessions + day.total > 0);
  const facts: readonly (readonly [string, string])[] = [
    ['Runs', formatCount(sum(days, (day) => day.runs))],
    ['New sessions', formatCount(sum(days, (day) => day.sessions))],
    ['Most users in a day', formatCount(Math.max(0, ...days.map((day) => day.users)))],
    ['Input tokens', formatTokens(sum(days, (day) => day.input))],
    ['Output tokens', formatTokens(sum(days, (day) => day.output))],
    ['Read from caches', formatTokens(sum(days, (day) => day.cached))],
  ];
  if (active.length === 0)
    return (
      <Panel>
        <EmptyState title="Nothing was counted in this range">
          Days appear here after the first run.
        </EmptyState>
      </Panel>
    );
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-3 lg:grid-cols-6">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-muted">{name}</dt>
            <dd className="text-xl font-semibold tracking-tight">{value}</dd>
          </div>
        ))}
      </dl>
      <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
        <Panel title="Runs">
          <DayChart title="Runs" days={days} series={runs} />
        </Panel>
        <Panel title="Tokens">
          <DayChart title="Tokens" days={days} series={tokens} />
        </Panel>
      </div>
      <DataTable
        label="Metrics by day"
        columns={columns}
        rows={active.toReversed()}
        rowKey={({ date }) => date}
        empty={null}
      />
    </div>
  );
}
