import type { EvalResult, EvalRun } from '@runyard/client';
import { useState } from 'react';
import { useClient } from '../../../connection/use-connection.js';
import { usePaged } from '../../../data/paged.js';
import { Badge, StatusBadge } from '../../../ui/badge.js';
import { Button } from '../../../ui/button.js';
import { JsonView } from '../../../ui/content/json-view.js';
import { Markdown } from '../../../ui/content/markdown.js';
import { formatCost, formatDuration, formatTokens } from '../../../ui/format/numbers.js';
import { KeyValue } from '../../../ui/key-value.js';
import { Link } from '../../../ui/link.js';
import { Drawer } from '../../../ui/overlay/dialog.js';
import { EmptyState } from '../../../ui/states.js';
import type { Column } from '../../../ui/table/data-table.js';
import { PagedTable } from '../../../ui/table/paged-table.js';
import { componentOf } from '../measures.js';

type Score = EvalResult['scores'][string];

/** Each execution of each case. */
export function Results({ run }: { readonly run: EvalRun }) {
  const client = useClient();
  const [opened, setOpened] = useState<EvalResult>();
  const list = usePaged<EvalResult>({
    // there are more when the progress says so
    key: ['eval-results', run.id, run.progress.done],
    load: (page, signal) => client.evals.getResults(run.id, page, { signal }),
  });
  const many = (list.rows ?? []).some(({ iteration }) => iteration > 1);
  const columns: readonly Column<EvalResult>[] = [
    {
      id: 'case',
      header: 'Case',
      cell: ({ case_id, iteration }) => (
        <>
          <code className="text-xs">{case_id.slice(0, 30)}</code>
          {many && <span className="text-xs text-muted"> no. {iteration}</span>}
        </>
      ),
    },
    {
      id: 'output',
      header: 'Output',
      grow: true,
      hideBelow: 'md',
      cell: ({ output, error }) => (
        <span
          className={error && !output ? 'line-clamp-1 text-danger' : 'line-clamp-1 [overflow-wrap:anywhere]'}
        >
          {output ?? error}
        </span>
      ),
    },
    {
      id: 'scores',
      header: 'Scores',
      cell: ({ scores, status }) =>
        status === 'completed' ? (
          <span className="flex flex-wrap gap-1">
            {Object.entries(scores).map(([name, score]) => (
              <ScoreBadge key={name} name={name} score={score} />
            ))}
          </span>
        ) : (
          <StatusBadge status={status} />
        ),
    },
    {
      id: 'duration',
      header: 'Duration',
      align: 'right',
      hideBelow: 'sm',
      cell: ({ duration }) => formatDuration(duration === null ? null : duration * 1_000),
    },
    {
      id: 'tokens',
      header: 'Tokens',
      align: 'right',
      hideBelow: 'lg',
      cell: ({ usage }) => formatTokens(usage?.total_tokens),
    },
    {
      id: 'open',
      header: 'Details',
      align: 'right',
      cell: (result) => (
        <Button size="small" onClick={() => setOpened(result)}>
          Open
        </Button>
      ),
    },
  ];
  return (
    <>
      <PagedTable
        label="Results"
        columns={columns}
        list={list}
        rowKey={({ case_id, iteration }) => `${case_id} ${iteration}`}
        empty={<EmptyState title="No results yet">They appear here as the cases are executed.</EmptyState>}
      />
      <Drawer
        open={opened !== undefined}
        title={opened ? `Case ${opened.case_id}` : ''}
        onClose={() => setOpened(undefined)}
      >
        {opened && <Result result={opened} run={run} />}
      </Drawer>
    </>
  );
}

function ScoreBadge({ name, score }: { readonly name: string; readonly score: Score }) {
  const { score: value, passed, reason } = score;
  const tone = passed === null ? 'neutral' : passed ? 'success' : 'danger';
  return (
    <Badge tone={tone}>
      <span title={reason}>
        {name} {value === null ? (passed ? 'passed' : 'failed') : Number(value.toFixed(3))}
      </span>
    </Badge>
  );
}

function Result({ result, run }: { readonly result: EvalResult; readonly run: EvalRun }) {
  const component = componentOf(run);
  const { run_id: runId, duration, usage, scores } = result;
  return (
    <div className="flex flex-col gap-4">
      <KeyValue
        entries={[
          ['Status', <StatusBadge key="status" status={result.status} />],
          ['Iteration', result.iteration],
          ['Duration', duration === null ? null : formatDuration(duration * 1_000)],
          ['Tokens', usage && formatTokens(usage.total_tokens)],
          ['Cost', usage && usage.cost !== null ? formatCost(usage.cost) : null],
          [
            'Run',
            runId && component && (
              <Link
                to="/runs/$kind/$componentId/$runId"
                params={{ kind: component.kind, componentId: component.id, runId }}
              >
                {runId}
              </Link>
            ),
          ],
        ]}
      />
      {result.error && (
        <p className="rounded-md bg-danger-soft p-3 text-danger [overflow-wrap:anywhere]">{result.error}</p>
      )}
      {Object.entries(scores).map(([name, score]) => (
        <div key={name} className="min-w-0">
          <ScoreBadge name={name} score={score} />
          {score.reason && <p className="pt-1 [overflow-wrap:anywhere]">{score.reason}</p>}
          {score.details !== undefined && (
            <div className="pt-2">
              <JsonView value={score.details} />
            </div>
          )}
        </div>
      ))}
      <Part title="Input">
        <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{result.input}</p>
      </Part>
      {result.expected_output !== null && (
        <Part title="Expected output">
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{result.expected_output}</p>
        </Part>
      )}
      {result.output !== null && (
        <Part title="Output">
          <Markdown text={result.output} />
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <div className="min-w-0">
      <h3 className="pb-1 text-xs font-medium text-muted">{title}</h3>
      {children}
    </div>
  );
}
