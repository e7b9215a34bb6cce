import type { ComparedCase, EvalComparison, EvalRun } from '@runyard/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection } from '../../../connection/use-connection.js';
import { Loaded } from '../../../data/loaded.js';
import { Badge, type Tone } from '../../../ui/badge.js';
import { Field } from '../../../ui/forms/field.js';
import { Select } from '../../../ui/forms/inputs.js';
import { EmptyState } from '../../../ui/states.js';
import { type Column, DataTable } from '../../../ui/table/data-table.js';
import { Pagination } from '../../../ui/table/pagination.js';
import { nameOf } from '../measures.js';

const changes = ['better', 'worse', 'same', 'added', 'removed', 'unscored'] as const;
const tones: Readonly<Record<string, Tone>> = { better: 'success', worse: 'danger' };
const most = 100;
const shortTime = { dateStyle: 'short', timeStyle: 'short' } as const;

export interface ComparisonProps {
  readonly run: EvalRun;
  /** The eval before it. */
  readonly other: string | undefined;
  onOther(id: string): void;
}

/** This eval beside an earlier one, case by case. */
export function Comparison({ run, other, onOther }: ComparisonProps) {
  const { client, address } = useConnection();
  const [change, setChange] = useState('');
  const [page, setPage] = useState(1);
  const others = useQuery({
    queryKey: ['evals', address, 'choices', run.eval_type],
    queryFn: ({ signal }) => client.evals.list({ eval_types: run.eval_type, limit: most }, { signal }),
  });
  const chosen = changes.find((one) => one === change);
  const comparison = useQuery({
    queryKey: ['comparison', address, run.id, run.progress.done, other, chosen, page],
    enabled: other !== undefined,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      client.evals.compare(
        run.id,
        { with: other ?? '', page, limit: 50, ...(chosen && { change: chosen }) },
        { signal },
      ),
  });
  const listed = (others.data?.data ?? []).filter(({ id }) => id !== run.id);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap gap-3">
        <div className="min-w-56 flex-1 sm:max-w-md">
          <Field label="Compare with">
            <Select
              value={other ?? ''}
              options={[
                { value: '', label: 'Choose an earlier eval' },
                ...listed.map((one) => ({
                  value: one.id,
                  label: `${nameOf(one)} · ${one.created_at ? new Date(one.created_at).toLocaleString(undefined, shortTime) : ''}`,
                })),
                ...(other && !listed.some(({ id }) => id === other) ? [{ value: other, label: other }] : []),
              ]}
              onChange={(event) => onOther(event.target.value)}
            />
          </Field>
        </div>
        <div className="w-40">
          <Field label="Cases">
            <Select
              value={change}
              options={[
                { value: '', label: 'All cases' },
                ...changes.map((value) => ({ value, label: value })),
              ]}
              onChange={(event) => {
                setChange(event.target.value);
                setPage(1);
              }}
            />
          </Field>
        </div>
      </div>
      {other === undefined || other === '' ? (
        <EmptyState title="Choose an eval to compare with">
          Cases are matched by their ids. A difference is significant only if chance hardly explains it:
          execute each case several times.
        </EmptyState>
      ) : (
        <Loaded query={comparison}>{(found) => <Found found={found} onPage={setPage} />}</Loaded>
      )}
    </div>
  );
}

type ScorerDifference = EvalComparison['scorers'][number];

const scorerColumns: readonly Column<ScorerDifference>[] = [
  { id: 'scorer', header: 'Scorer', grow: true, cell: ({ name }) => name },
  { id: 'before', header: 'Before', align: 'right', cell: ({ before }) => mean(before) },
  { id: 'after', header: 'After', align: 'right', cell: ({ after }) => mean(after) },
  { id: 'difference', header: 'Difference', align: 'right', cell: differenceOf },
  {
    id: 'changes',
    header: 'Better / worse',
    align: 'right',
    hideBelow: 'sm',
    cell: ({ changes: { better, worse } }) => `${better} / ${worse}`,
  },
  { id: 'p', header: 'p', align: 'right', hideBelow: 'sm', cell: ({ p_value }) => pValue(p_value) },
  { id: 'verdict', header: 'Verdict', cell: Verdict },
];

const caseColumns: readonly Column<ComparedCase>[] = [
  {
    id: 'case',
    header: 'Case',
    grow: true,
    cell: ({ case_id }) => <code className="text-xs">{case_id}</code>,
  },
  { id: 'scorer', header: 'Scorer', hideBelow: 'sm', cell: ({ scorer }) => scorer },
  { id: 'before', header: 'Before', align: 'right', cell: ({ before }) => mean(before) },
  { id: 'after', header: 'After', align: 'right', cell: ({ after }) => mean(after) },
  { id: 'difference', header: 'Difference', align: 'right', hideBelow: 'sm', cell: differenceOf },
  { id: 'p', header: 'p', align: 'right', hideBelow: 'lg', cell: ({ p_value }) => pValue(p_value) },
  {
    id: 'change',
    header: 'Change',
    cell: ({ change, significant }) => (
      <Badge tone={tones[change] ?? 'neutral'}>
        {change}
        {significant && ' *'}
      </Badge>
    ),
  },
];

function Found({ found, onPage }: { readonly found: EvalComparison; onPage(page: number): void }) {
  return (
    <>
      {found.warnings.length > 0 && (
        <ul className="list-disc rounded-md bg-warning-soft py-2 pr-3 pl-7 text-warning">
          {found.warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <DataTable
        label="Differences by scorer"
        columns={scorerColumns}
        rows={found.scorers}
        rowKey={({ name }) => name}
        empty={<EmptyState title="The evals share no scorer" />}
      />
      <DataTable
        label="Differences by case"
        columns={caseColumns}
        rows={found.data}
        rowKey={({ case_id, scorer }) => `${case_id} ${scorer}`}
        empty={<EmptyState title="No such cases" />}
      />
      <Pagination meta={found.meta} onPage={onPage} />
      <p className="text-xs text-muted">
        * more than chance at the level {found.level}. Failed runs: {found.failed_runs.before} before,{' '}
        {found.failed_runs.after} after.
      </p>
    </>
  );
}

function Verdict({ significant, difference, lower_is_better: lower }: ScorerDifference) {
  if (!significant || difference === null) return <Badge>no clear difference</Badge>;
  const isBetter = difference.mean > 0 !== lower;
  return <Badge tone={isBetter ? 'success' : 'danger'}>{isBetter ? 'better' : 'worse'}</Badge>;
}

function mean({ mean: value }: ComparedCase['before']): string {
  return value === null ? '–' : rounded(value);
}

function differenceOf({ difference }: Pick<ComparedCase, 'difference'>): string {
  if (difference === null) return '–';
  const { mean: middle, low, high } = difference;
  const sign = middle > 0 ? '+' : '';
  const range = low === null || high === null ? '' : ` (${rounded(low)} … ${rounded(high)})`;
  return `${sign}${rounded(middle)}${range}`;
}

function pValue(value: number | null): string {
  if (value === null) return '–';
  return value < 0.001 ? '< 0.001' : value.toFixed(3);
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}
