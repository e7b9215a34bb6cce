import { createElement as h, StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createClient } from '../dist/index.js';
import { useApprovals, useRun, useSession } from '../dist/react.js';

declare const document: { getElementById(id: string): Element };
declare const location: { hash: string };

/** How often the list of events was another one, and since when. */
const updates = { count: 0, since: performance.now() };
Object.assign(globalThis, { updates });

const client = createClient({ baseUrl: '' });

function Page() {
  const [before] = useState(location.hash.slice(1) || undefined);
  const [message, setMessage] = useState('');
  const chat = useRun(client.agents, 'clerk', { runId: before });
  const ended = chat.status === 'completed' ? chat.sessionId : undefined;
  const session = useSession(client, ended);
  const approvals = useApprovals(client, { intervalMs: 200 });
  useEffect(() => {
    if (chat.runId !== undefined) location.hash = chat.runId;
  }, [chat.runId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each list is counted
  useEffect(() => {
    updates.count += 1;
  }, [chat.events]);
  const waiting = (chat.run?.tools ?? []).filter(({ requires_confirmation }) => requires_confirmation);
  const button = (name: string, onClick: () => unknown) =>
    h('button', { type: 'button', key: name, onClick }, name);
  return h(
    'main',
    null,
    h('input', {
      'aria-label': 'Message',
      value: message,
      onChange: ({ target }: { target: { value: string } }) => setMessage(target.value),
    }),
    button('Send', () => chat.send({ message })),
    button('Cancel', chat.cancel),
    button('Continue', () => chat.answer({})),
    h('p', null, `status: ${chat.status}`),
    h('p', null, `text: ${chat.text}`),
    h('p', null, `events: ${chat.events.length}`),
    h('p', null, `runs of the session: ${session.data?.length ?? '?'}`),
    h('p', null, `approvals: ${approvals.data?.length ?? '?'}`),
    chat.status === 'paused' &&
      waiting.map(({ tool_name, tool_call_id }) =>
        button(`Confirm ${tool_name}`, () => chat.answer({ tools: [{ tool_call_id, confirmed: true }] })),
      ),
    approvals.data?.map(({ id, tool_name }) =>
      button(`Approve ${tool_name}`, () => approvals.resolve(id, { status: 'approved' })),
    ),
  );
}

createRoot(document.getElementById('root')).render(h(StrictMode, null, h(Page)));
