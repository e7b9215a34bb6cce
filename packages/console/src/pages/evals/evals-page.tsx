import type { EvalRun } from '@runyard/client';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useClient, useMay } from '../../connection/use-connection.js';
import { useComponents } from '../../data/components.js';
import { usePaged } from '../../data/paged.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { StatusBadge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { Link } from '../../ui/link.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import { measuresOf, nameOf, typeWords } from './measures.js';
import { StartEval } from './start-eval.js';

const statuses = ['pending', 'running', 'completed', 'error', 'cancelled'] as const;
const refreshMs = 4_000;

export function EvalsPage() {
  const client = useClient();
  const may = useMay();
  const navigate = useNavigate();
  const [search, change] = useSearchState();
  const { components } = useComponents();
  const [marked, setMarked] = useState<readonly EvalRun[]>([]);
  const { component, type, status, dataset } = search;
  const list = usePaged<EvalRun>({
    key: ['evals', { component, type, status, dataset }],
    load: (page, signal) =>
      client.evals.list(
        {
          ...page,
          ...componentQuery(component),
          ...(type && { eval_types: type }),
          ...(dataset && { dataset_id: dataset }),
          ...statusQuery(status),
        },
        { signal },
      ),
    refetchMs: refreshMs,
  });
  const canRun = may('evals:write');
  useCommands(
    useMemo(
      () => [
        ...(canRun
          ? [{ id: 'eval run', group: 'Evals', title: 'Run an eval', run: () => change({ start: 'true' }) }]
          : []),
        {
          id: 'eval datasets',
          group: 'Evals',
          title: 'Datasets',
          run: () => void navigate({ to: '/datasets' }),
        },
      ],
      [canRun, change, navigate],
    ),
  );
  const columns = useMemo(
    () =>
      columnsOf({
        isMarked: ({ id }) => marked.some((one) => one.id === id),
        // the two that were marked last
        toggle: (run, isMarked) =>
          setMarked((before) =>
            isMarked ? [...before, run].slice(-2) : before.filter(({ id }) => id !== run.id),
          ),
      }),
    [marked],
  );
  const [older, newer] = marked.toSorted((a, b) => ((a.created_at ?? '') < (b.created_at ?? '') ? -1 : 1));
  const isFiltered = [component, type, status, dataset].some(Boolean);
  return (
    <Page>
      <PageHeader
        title="Evals"
        description="How well agents, teams and workflows do their work."
        actions={
          <>
            <Link to="/datasets">Datasets</Link>
            <Button
              disabled={!older || !newer}
              onClick={() =>
                older &&
                newer &&
                void navigate({
                  to: '/evals/$evalId',
                  params: { evalId: newer.id },
                  search: { tab: 'compare', with: older.id },
                })
              }
            >
              Compare {marked.length}/2
            </Button>
            {canRun && (
              <Button variant="primary" onClick={() => change({ start: 'true' })}>
                Run an eval
              </Button>
            )}
          </>
        }
      />
      <FilterBar
        onClear={
          isFiltered
            ? () => change({ component: undefined, type: undefined, status: undefined, dataset: undefined })
            : undefined
        }
      >
        <Select
          aria-label="Component"
          className="max-w-52"
          value={component ?? ''}
          options={[
            { value: '', label: 'All components' },
            ...components.map(({ kind, id, name }) => ({
              value: `${kind}/${id}`,
              label: `${name} (${kind})`,
            })),
          ]}
          onChange={(event) => change({ component: event.target.value || undefined })}
        />
        <Select
          aria-label="Type"
          className="max-w-40"
          value={type ?? ''}
          options={[
            { value: '', label: 'Any type' },
            ...Object.entries(typeWords).map(([value, label]) => ({ value, label })),
          ]}
          onChange={(event) => change({ type: event.target.value || undefined })}
        />
        <Select
          aria-label="Status"
          className="max-w-40"
          value={status ?? ''}
          options={[
            { value: '', label: 'Any status' },
            ...statuses.map((value) => ({ value, label: value })),
          ]}
          onChange={(event) => change({ status: event.target.value || undefined })}
        />
      </FilterBar>
      <PagedTable
        label="Evals"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/evals/$evalId', params: { evalId: id } })}
        empty={
          isFiltered ? (
            <EmptyState title="No eval matches" />
          ) : (
            <EmptyState title="No evals yet">
              Run one here, with POST /eval-runs, or with npx runyard eval.
            </EmptyState>
          )
        }
      />
      {search.start && canRun && (
        <StartEval
          dataset={dataset}
          onClose={() => change({ start: undefined })}
          onStarted={(id) => void navigate({ to: '/evals/$evalId', params: { evalId: id } })}
        />
      )}
    </Page>
  );
}

function componentQuery(component: string | undefined) {
  const [kind, ...id] = component?.split('/') ?? [];
  if (kind === 'agent') return { agent_id: id.join('/') };
  if (kind === 'team') return { team_id: id.join('/') };
  return kind === 'workflow' ? { workflow_id: id.join('/') } : {};
}

function statusQuery(text: string | undefined) {
  const status = statuses.find((one) => one === text);
  return status ? { status } : {};
}

function columnsOf({
  isMarked,
  toggle,
}: {
  isMarked(run: EvalRun): boolean;
  toggle(run: EvalRun, isMarked: boolean): void;
}): readonly Column<EvalRun>[] {
  return [
    { id: 'name', header: 'Name', grow: true, cell: (run) => nameOf(run) },
    {
      id: 'component',
      header: 'Component',
      hideBelow: 'md',
      cell: ({ evaluated_component_name: name }) => name,
    },
    { id: 'type', header: 'Type', hideBelow: 'lg', cell: ({ eval_type }) => typeWords[eval_type] },
    {
      id: 'status',
      header: 'Status',
      cell: ({ status, progress: { done, total, failed } }) => (
        <span className="inline-flex items-center gap-1.5">
          <StatusBadge status={status} />
          {done < total && status !== 'cancelled' && (
            <span className="text-xs text-muted">
              {done}/{total}
            </span>
          )}
          {failed > 0 && <span className="text-xs text-danger">{failed} failed</span>}
        </span>
      ),
    },
    {
      id: 'result',
      header: 'Result',
      hideBelow: 'sm',
      cell: (run) => (
        <span className="text-xs">
          {measuresOf(run)
            .slice(0, 3)
            .map(({ name, text }) => `${name} ${text}`)
            .join(' · ')}
        </span>
      ),
    },
    {
      id: 'created',
      header: 'Started',
      hideBelow: 'sm',
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: 'compare',
      header: 'Compare',
      align: 'right',
      cell: (run) => (
        <input
          type="checkbox"
          aria-label={`Compare ${nameOf(run)}`}
          className="relative z-10 block size-4 accent-accent ml-auto"
          checked={isMarked(run)}
          onChange={(event) => toggle(run, event.target.checked)}
        />
      ),
    },
  ];
}
