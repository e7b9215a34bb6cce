import { useNavigate } from '@tanstack/react-router';
import RotateCcw from 'lucide-react/icons/rotate-ccw';
import type { ReactNode } from 'react';
import { useClient, useMay } from '../../../connection/use-connection.js';
import { useDatabases } from '../../../data/databases.js';
import { IconButton } from '../../../ui/button.js';
import { CopyButton } from '../../../ui/copy-button.js';
import { formatCost, formatDuration, formatTokens } from '../../../ui/format/numbers.js';
import { Link } from '../../../ui/link.js';
import { toast } from '../../../ui/overlay/toasts.js';
import { explained } from '../../../ui/states.js';
import { useChat } from '../chat-context.js';
import type { Turn } from '../conversation/turn.js';
import { useBusy } from '../pause/pause-card.js';
import { answerText } from '../run/run-view.js';

export interface AnswerProps {
  readonly turn: Turn;
  readonly isLast: boolean;
  /** Leads to other answers to the same message. */
  readonly pager: ReactNode;
}

/** What an answer took, and what can be done with it. */
export function AnswerFooter({ turn, isLast, pager }: AnswerProps) {
  const { kind, componentId } = useChat();
  const { view } = turn;
  const { metrics, runId, model } = view;
  const text = answerText(view);
  return (
    <footer className="-ml-1.5 flex min-h-7 flex-wrap items-center gap-x-1 text-xs text-muted">
      {text !== '' && <CopyButton text={text} label="Copy answer" />}
      {isLast && view.status !== 'paused' && <Again turn={turn} />}
      {pager}
      <Facts>
        {model}
        {metrics?.totalTokens !== undefined && `${formatTokens(metrics.totalTokens)} tokens`}
        {metrics?.cost !== undefined && formatCost(metrics.cost)}
        {metrics?.seconds !== undefined && formatDuration(metrics.seconds * 1_000)}
        <Link
          key="run"
          to="/runs/$kind/$componentId/$runId"
          params={{ kind, componentId, runId }}
          className="text-muted!"
        >
          Run
        </Link>
        <TraceLink key="trace" runId={runId} />
      </Facts>
    </footer>
  );
}

function Facts({ children }: { readonly children: readonly ReactNode[] }) {
  return (
    <p className="flex flex-wrap items-center gap-x-2 px-1.5">
      {children.filter(Boolean).map((fact, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they keep their order.
        <span key={at}>{fact}</span>
      ))}
    </p>
  );
}

/** A completed answer is made again in its place; after a failure or a stop, the message is sent again. */
function Again({ turn }: { readonly turn: Turn }) {
  const { store, again, isReadOnly, kind } = useChat();
  const { busy, run } = useBusy();
  const isReplaced = kind !== 'workflow' && turn.view.status === 'completed';
  if (isReadOnly) return null;
  return (
    <IconButton
      size="small"
      label={isReplaced ? 'Regenerate' : 'Run again'}
      busy={busy}
      onClick={() =>
        isReplaced
          ? run(() =>
              store
                .regenerate(turn.key)
                .catch((error) => toast({ title: explained(error).detail, tone: 'danger' })),
            )
          : again(turn)
      }
    >
      <RotateCcw aria-hidden className="size-3.5" />
    </IconButton>
  );
}

/** The trace of a run has an id of its own, which is asked for when a person wants it. */
function TraceLink({ runId }: { readonly runId: string }) {
  const client = useClient();
  const { dbId } = useChat();
  const { ids } = useDatabases();
  const may = useMay();
  const navigate = useNavigate();
  if (!may('traces:read')) return null;
  const open = async () => {
    try {
      const { data } = await client.traces.list({ run_id: runId, limit: 1, ...(dbId && { db_id: dbId }) });
      const [trace] = data;
      if (trace)
        await navigate({
          to: '/traces/$traceId',
          params: { traceId: trace.trace_id },
          search: dbId && ids.length > 0 ? { db: dbId } : {},
        });
      else toast({ title: 'This run has no trace yet.' });
    } catch (error) {
      toast({ title: explained(error).detail, tone: 'danger' });
    }
  };
  return (
    <button
      type="button"
      className="underline decoration-1 underline-offset-2 hover:decoration-2"
      onClick={() => void open()}
    >
      Trace
    </button>
  );
}
