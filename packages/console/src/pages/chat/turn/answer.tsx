import { Button } from '../../../ui/button.js';
import { Spinner } from '../../../ui/spinner.js';
import { explained } from '../../../ui/states.js';
import { useChat } from '../chat-context.js';
import { isWorking, type Turn } from '../conversation/turn.js';
import { useBusy } from '../pause/pause-card.js';
import { Pauses } from '../pause/pauses.js';
import { AnswerFooter, type AnswerProps } from './answer-footer.js';
import { MediaGallery } from './media.js';
import { Note } from './note.js';
import { Parts } from './parts.js';
import { CitationList, References } from './sources.js';

/** The run that answers a message. */
export function Answer({ turn, isLast, pager }: AnswerProps) {
  const { view, phase } = turn;
  const { status, references, citations, media, ending, followups } = view;
  return (
    <div className="group/answer flex min-w-0 flex-col gap-2">
      <h2 className="sr-only">{view.name} answered</h2>
      <Parts run={view} />
      {media && <MediaGallery media={media} runId={view.runId} side="output" />}
      {references && <References searches={references} />}
      {citations && <CitationList citations={citations} />}
      {ending && <Note tone="warning">{ending}</Note>}
      <Progress turn={turn} />
      <Failure turn={turn} />
      <Pauses turn={turn} />
      {status === 'cancelled' && <Note>Stopped</Note>}
      {phase === 'settled' && <AnswerFooter turn={turn} isLast={isLast} pager={pager} />}
      {isLast && followups && phase === 'settled' && <Followups texts={followups} />}
    </div>
  );
}

/** What is happening, while there is nothing else to see. */
function Progress({ turn }: { readonly turn: Turn }) {
  const { phase, sent, view } = turn;
  if (!isWorking(turn)) return null;
  if (phase === 'reconnecting')
    return (
      <Note tone="warning">
        <Spinner /> The connection was lost. The answer continues when the service is back.
      </Note>
    );
  if (phase === 'sending' && sent !== undefined && sent < 1)
    return (
      <Note>
        <Spinner /> Sending files: {Math.round(sent * 100)} %
      </Note>
    );
  const last = view.parts.at(-1);
  const isShown =
    last !== undefined && (last.type === 'text' || ('isLive' in last && last.isLive) || last.type === 'step');
  if (isShown && phase === 'live') return null;
  return (
    <Note>
      <Spinner />{' '}
      {phase === 'sending' ? 'Sending …' : view.status === 'pending' ? 'Waiting to start …' : 'Working …'}
    </Note>
  );
}

function Failure({ turn }: { readonly turn: Turn }) {
  const { again, store, isReadOnly } = useChat();
  const { busy, error, run } = useBusy();
  const { view, phase, key, error: failure } = turn;
  if (phase === 'failed' || (failure !== undefined && phase === 'settled')) {
    const { title, detail, facts } = explained(failure);
    const isLost = phase === 'settled';
    return (
      <div
        role="alert"
        className="flex flex-col items-start gap-1.5 rounded-lg bg-danger-soft px-3 py-2 text-danger"
      >
        <p className="font-medium">{isLost ? 'The connection to the run was lost' : title}</p>
        <p className="text-xs [overflow-wrap:anywhere]">{[detail, ...facts].join(' · ')}</p>
        <div className="flex gap-2">
          {isLost ? (
            <Button size="small" busy={busy} onClick={() => run(() => store.follow(key))}>
              Connect again
            </Button>
          ) : (
            <>
              <Button size="small" disabled={isReadOnly} onClick={() => again(turn)}>
                Send again
              </Button>
              <Button size="small" onClick={() => store.remove(key)}>
                Discard
              </Button>
            </>
          )}
        </div>
      </div>
    );
  }
  if (view.error === undefined || view.status !== 'error') return null;
  return (
    <div
      role="alert"
      className="flex flex-col items-start gap-1.5 rounded-lg bg-danger-soft px-3 py-2 text-danger"
    >
      <p className="font-medium">The run failed{view.error.type && ` (${view.error.type})`}</p>
      <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{view.error.text}</p>
      {error !== undefined && <p className="text-xs">{explained(error).detail}</p>}
      {!isReadOnly && (
        <Button size="small" busy={busy} onClick={() => run(() => store.continue(key, {}))}>
          Retry
        </Button>
      )}
    </div>
  );
}

function Followups({ texts }: { readonly texts: readonly string[] }) {
  const { say, isReadOnly } = useChat();
  return (
    <div className="flex flex-wrap gap-2">
      {texts.map((text) => (
        <Button
          key={text}
          size="small"
          disabled={isReadOnly}
          className="h-auto! min-h-7 py-1 text-left whitespace-normal!"
          onClick={() => say(text)}
        >
          {text}
        </Button>
      ))}
    </div>
  );
}
