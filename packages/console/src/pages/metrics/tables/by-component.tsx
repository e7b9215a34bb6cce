import { useComponents } from '../../../data/components.js';
import { formatCost, formatCount, formatDuration, formatTokens } from '../../../ui/format/numbers.js';
import { EmptyState } from '../../../ui/states.js';
import { type Column, DataTable } from '../../../ui/table/data-table.js';
import { type ComponentUse, counted, useComponentUse } from '../component-costs.js';
import type { Range } from '../days.js';

const columns: readonly Column<ComponentUse>[] = [
  {
    id: 'name',
    header: 'Component',
    grow: true,
    cell: ({ name, kind }) => (
      <>
        {name} <span className="text-xs text-muted">{kind}</span>
      </>
    ),
  },
  {
    id: 'runs',
    header: 'Runs',
    align: 'right',
    cell: ({ runs, isPartial }) => `${formatCount(runs)}${isPartial ? '+' : ''}`,
  },
  {
    id: 'failed',
    header: 'Failed',
    align: 'right',
    hideBelow: 'sm',
    cell: ({ failed }) => formatCount(failed),
  },
  {
    id: 'mean',
    header: 'Mean time',
    align: 'right',
    hideBelow: 'sm',
    cell: ({ meanMs }) => formatDuration(meanMs),
  },
  { id: 'tokens', header: 'Tokens', align: 'right', cell: ({ tokens }) => formatTokens(tokens) },
  { id: 'cost', header: 'Cost', align: 'right', cell: ({ cost }) => formatCost(cost) },
];

export function ByComponent({ range }: { readonly range: Range }) {
  const { components, isPending } = useComponents();
  const use = useComponentUse(components, range, !isPending);
  const rows = use.data
    ?.filter(({ runs }) => runs > 0)
    .toSorted((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || b.tokens - a.tokens);
  return (
    <>
      <p className="pb-3 text-xs text-muted">
        Sums over the newest {counted} runs of each component in the range. A model without a known price has
        no cost.
      </p>
      <DataTable
        label="Metrics by component"
        columns={columns}
        rows={!isPending && components.length === 0 ? [] : rows}
        rowKey={({ kind, id }) => `${kind} ${id}`}
        rowLink={({ kind, id }) => ({ to: '/runs', search: { component: `${kind}/${id}` } })}
        error={use.error}
        onRetry={() => void use.refetch()}
        empty={<EmptyState title="No runs in this range" />}
      />
    </>
  );
}
