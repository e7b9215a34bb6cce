import ArrowDown from 'lucide-react/icons/arrow-down';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../../ui/button.js';
import { ErrorState, Skeleton } from '../../ui/states.js';
import type { ConversationState } from './conversation/conversation-store.js';
import { useStickToBottom } from './stick-to-bottom.js';
import { TurnItem } from './turn/turn-item.js';

export interface LogProps {
  readonly state: ConversationState;
  readonly label: string;
  /** A run that the address names. */
  readonly runId: string | undefined;
  readonly intro: ReactNode;
  onOlder(): Promise<void>;
}

/** The turns of a conversation. It stays at its end while a person has not scrolled away from it. */
export function Log({ state, label, runId, intro, onOlder }: LogProps) {
  const { turns, earlier, history, historyError } = state;
  const scroll = useStickToBottom();
  const [isLoading, setIsLoading] = useState(false);
  const isFirst = useRef(true);
  /** How far the end was from the top of what is visible, while earlier turns are loaded. */
  const toEnd = useRef<number>(undefined);
  const older = async () => {
    const { scrollHeight = 0, scrollTop = 0 } = scroll.container.current ?? {};
    toEnd.current = scrollHeight - scrollTop;
    setIsLoading(true);
    await onOlder();
    setIsLoading(false);
  };
  const oldest = turns[0]?.key;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what comes above moves what is read.
  useLayoutEffect(() => {
    const { current: element } = scroll.container;
    if (element && toEnd.current !== undefined) element.scrollTop = element.scrollHeight - toEnd.current;
    toEnd.current = undefined;
  }, [oldest]);
  const found = runId !== undefined && turns.some(({ view }) => view.runId === runId);
  useLayoutEffect(() => {
    if (turns.length === 0 || !isFirst.current) return;
    if (found) {
      isFirst.current = false;
      const isNewest = turns.at(-1)?.view.runId === runId;
      if (!isNewest) scroll.release();
      document.getElementById(`run-${runId}`)?.scrollIntoView({ block: isNewest ? 'end' : 'start' });
    }
  }, [turns, found, runId, scroll.release]);
  // a run that the address names may be further up
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the turns is what matters.
  useEffect(() => {
    if (runId !== undefined && isFirst.current && !found && history === 'partial' && !isLoading) void older();
  }, [turns, runId, found, history]);
  if (history === 'failed' && turns.length === 0)
    return (
      <div className="flex-1 overflow-y-auto">
        <ErrorState error={historyError} onRetry={() => void older()} />
      </div>
    );
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroll.container}
        role="log"
        aria-label={label}
        aria-live="off"
        tabIndex={0}
        className="h-full overflow-y-auto overscroll-contain focus-visible:-outline-offset-2"
        onScroll={scroll.onScroll}
      >
        <div ref={scroll.content} className="mx-auto w-full max-w-3xl px-4 py-4">
          {history === 'loading' && <Loading />}
          {(history === 'partial' || (history === 'failed' && turns.length > 0)) && (
            <div className="flex justify-center pb-2">
              <Button size="small" busy={isLoading} onClick={() => void older()}>
                Show earlier messages
              </Button>
            </div>
          )}
          {history === 'whole' && turns.length === 0 && historyError !== undefined && (
            <p className="text-center text-xs text-warning">
              There is no session with this id. Your next message begins it.
            </p>
          )}
          {history !== 'loading' && turns.length === 0 && intro}
          {turns.map((turn, at) => (
            <TurnItem
              key={turn.key}
              turn={turn}
              earlier={earlier.get(turn.view.runId)}
              isLast={at === turns.length - 1}
            />
          ))}
        </div>
      </div>
      {!scroll.isAtEnd && (
        <IconButton
          variant="secondary"
          label="Go to the latest message"
          className="absolute bottom-2 left-1/2 -translate-x-1/2 rounded-full! shadow-raised"
          onClick={scroll.toEnd}
        >
          <ArrowDown aria-hidden className="size-4" />
        </IconButton>
      )}
    </div>
  );
}

function Loading() {
  return (
    <div aria-busy className="flex flex-col gap-4 py-4">
      <Skeleton className="h-9 w-1/2 self-end" />
      <Skeleton className="h-24" />
    </div>
  );
}
