import type { EvalRun } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useClient, useMay } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { StatusBadge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Time } from '../../ui/format/time.js';
import { Field } from '../../ui/forms/field.js';
import { Input } from '../../ui/forms/inputs.js';
import { Link } from '../../ui/link.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { Menu } from '../../ui/overlay/menu.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { Comparison } from './detail/comparison.js';
import { History } from './detail/history.js';
import { Results } from './detail/results.js';
import { useEval } from './detail/use-eval.js';
import { isMoving, measuresOf, nameOf, typeWords } from './measures.js';

export function EvalPage() {
  const { evalId } = useParams({ from: '/evals/$evalId' });
  const { query, message } = useEval(evalId);
  return (
    <Page>
      {query.data === undefined && <PageHeader title="Eval" parent={<Link to="/evals">Evals</Link>} />}
      <Loaded query={query}>{(run) => <LoadedEval key={run.id} run={run} message={message} />}</Loaded>
    </Page>
  );
}

function LoadedEval({ run, message }: { readonly run: EvalRun; readonly message: string | undefined }) {
  const client = useClient();
  const may = useMay();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [search, change] = useSearchState();
  const [open, setOpen] = useState<'cancel' | 'delete' | 'rename'>();
  const [name, setName] = useState(run.name ?? '');
  const reload = () => queries.invalidateQueries({ queryKey: ['eval'] });
  const close = () => setOpen(undefined);
  const moving = isMoving(run);
  return (
    <>
      <PageHeader
        title={nameOf(run)}
        parent={<Link to="/evals">Evals</Link>}
        actions={
          <>
            {moving && may('evals:write') && <Button onClick={() => setOpen('cancel')}>Cancel</Button>}
            <Menu
              items={[
                { label: 'Rename', disabled: !may('evals:write'), onSelect: () => setOpen('rename') },
                'line',
                {
                  label: 'Delete',
                  destructive: true,
                  disabled: !may('evals:delete'),
                  onSelect: () => setOpen('delete'),
                },
              ]}
            >
              <Button>More</Button>
            </Menu>
          </>
        }
      />
      <Facts run={run} />
      {moving && <Progress run={run} message={message} />}
      {run.error && (
        <p role="alert" className="mb-4 rounded-md bg-danger-soft p-3 text-danger [overflow-wrap:anywhere]">
          {run.error}
        </p>
      )}
      <Tabs
        label="Parts of the eval"
        value={['compare', 'history', 'json'].find((one) => one === search.tab) ?? 'results'}
        onChange={(tab) => change({ tab: tab === 'results' ? undefined : tab })}
        tabs={[
          { id: 'results', label: 'Results', content: <Results run={run} /> },
          {
            id: 'compare',
            label: 'Compare',
            content: (
              <Comparison run={run} other={search.with} onOther={(id) => change({ with: id || undefined })} />
            ),
          },
          { id: 'history', label: 'History', content: <History run={run} /> },
          { id: 'json', label: 'JSON', content: <JsonView value={run} depth={2} /> },
        ]}
      />
      <ConfirmDialog
        open={open === 'cancel'}
        onClose={close}
        title="Cancel the eval?"
        action="Cancel eval"
        destructive
        onConfirm={() => client.evals.cancel(run.id).then(reload)}
      >
        Its runs in progress end. The results so far stay.
      </ConfirmDialog>
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        title="Delete the eval?"
        action="Delete eval"
        destructive
        onConfirm={async () => {
          await client.evals.deleteMany({ eval_run_ids: [run.id] });
          await navigate({ to: '/evals' });
        }}
      >
        Its results and the sessions of its runs are deleted with it. This cannot be undone.
      </ConfirmDialog>
      <ConfirmDialog
        open={open === 'rename'}
        onClose={close}
        title="Rename the eval"
        action="Rename"
        onConfirm={() => client.evals.update(run.id, { name: name.trim() }).then(reload)}
      >
        <Field label="Name">
          <Input value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
        </Field>
      </ConfirmDialog>
    </>
  );
}

function Facts({ run }: { readonly run: EvalRun }) {
  const { progress, dataset_id: dataset } = run;
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Status', <StatusBadge key="status" status={run.status} />],
    ...measuresOf(run).map(({ name, text }) => [name, <strong key={name}>{text}</strong>] as const),
    ['Type', typeWords[run.eval_type]],
    ['Component', run.evaluated_component_name],
    ['Model', run.model_id],
    [
      'Dataset',
      dataset && (
        <Link to="/datasets/$datasetId" params={{ datasetId: dataset }}>
          Open
        </Link>
      ),
    ],
    ['Executions', `${progress.done} of ${progress.total}`],
    ['Failed', progress.failed > 0 ? progress.failed : null],
    ['Started', <Time key="start" at={run.created_at} style="absolute" />],
  ];
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-2 pb-4">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

function Progress({ run, message }: { readonly run: EvalRun; readonly message: string | undefined }) {
  const { done, total } = run.progress;
  return (
    <div className="pb-4">
      <progress
        aria-label="Progress"
        className="h-1.5 w-full accent-accent"
        max={Math.max(1, total)}
        value={done}
      />
      <p aria-live="polite" className="text-xs text-muted">
        {done} of {total} executed{message ? ` · ${message}` : ''}
      </p>
    </div>
  );
}
