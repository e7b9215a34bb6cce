import { memo, useState } from 'react';
import { useChat } from '../chat-context.js';
import { isWorking, type Turn } from '../conversation/turn.js';
import type { RunView } from '../run/run-view.js';
import { Answer } from './answer.js';
import { AnswerPager } from './answer-pager.js';
import { UserMessage } from './user-message.js';

export interface TurnItemProps {
  readonly turn: Turn;
  /** The answers that were made before this one, the oldest first. */
  readonly earlier: readonly RunView[] | undefined;
  readonly isLast: boolean;
}

/** A message and its answer. Drawn again only when they have changed. */
export const TurnItem = memo(({ turn, earlier = [], isLast }: TurnItemProps) => {
  const { isReadOnly } = useChat();
  const count = earlier.length + 1;
  // another answer is shown when it begins
  const [chosen, choose] = useState({ of: count, at: count - 1 });
  const at = chosen.of === count ? chosen.at : count - 1;
  const older = isWorking(turn) ? undefined : earlier[at];
  return (
    <article
      id={`run-${turn.view.runId}`}
      aria-busy={isWorking(turn)}
      className="flex min-w-0 scroll-mt-4 flex-col gap-3 py-3"
    >
      <UserMessage turn={turn} canEdit={!isReadOnly && turn.phase === 'settled'} />
      <Answer
        turn={older ? { ...turn, view: older, error: undefined } : turn}
        isLast={isLast && older === undefined}
        pager={
          count > 1 && (
            <AnswerPager at={at} count={count} onChange={(next) => choose({ of: count, at: next })} />
          )
        }
      />
    </article>
  );
});
