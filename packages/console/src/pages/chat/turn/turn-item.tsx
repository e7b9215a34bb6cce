import { memo } from 'react';
import { useChat } from '../chat-context.js';
import { isWorking, type Turn } from '../conversation/turn.js';
import { Answer } from './answer.js';
import { UserMessage } from './user-message.js';

/** A message and its answer. Drawn again only when they have changed. */
export const TurnItem = memo(({ turn, isLast }: { readonly turn: Turn; readonly isLast: boolean }) => {
  const { isReadOnly } = useChat();
  return (
    <article
      id={`run-${turn.view.runId}`}
      aria-busy={isWorking(turn)}
      className="flex min-w-0 scroll-mt-4 flex-col gap-3 py-3"
    >
      <UserMessage turn={turn} canEdit={!isReadOnly && turn.phase === 'settled'} />
      <Answer turn={turn} isLast={isLast} />
    </article>
  );
});
