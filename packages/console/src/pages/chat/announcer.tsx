import { useEffect, useRef, useState } from 'react';
import { isWorking, type Turn } from './conversation/turn.js';

/** Says to those who do not see it that an answer has begun or ended: not each word of it. */
export function Announcer({ turn }: { readonly turn: Turn | undefined }) {
  const [text, setText] = useState('');
  const before = useRef<boolean>(undefined);
  const working = turn !== undefined && isWorking(turn);
  const said = turn && endOf(turn);
  useEffect(() => {
    // what was there when the page was opened is not news
    if (before.current !== undefined && before.current !== working)
      setText(working ? 'Working' : (said ?? ''));
    before.current = working;
  }, [working, said]);
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {text}
    </p>
  );
}

function endOf({ view, phase }: Turn): string {
  if (phase === 'failed') return 'The message was not sent';
  const ends: Readonly<Record<string, string>> = {
    completed: `${view.name} has answered`,
    paused: `${view.name} waits for you`,
    error: 'The run failed',
    cancelled: 'Stopped',
  };
  return ends[view.status] ?? '';
}
