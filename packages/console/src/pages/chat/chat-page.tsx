import type { Kind } from '@runyard/client';
import { useRun } from '@runyard/client/react';
import { useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient } from '../../connection/use-connection.js';
import { useComponents } from '../../data/components.js';
import { Button } from '../../ui/button.js';
import { Markdown } from '../../ui/content/markdown.js';
import { Textarea } from '../../ui/forms/inputs.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { ErrorLine } from '../../ui/states.js';

const kinds: readonly Kind[] = ['agent', 'team', 'workflow'];

export function ChatPage() {
  const { kind, componentId } = useParams({ from: '/chat/$kind/$componentId' });
  const known = kinds.find((one) => one === kind) ?? 'agent';
  return <Chat key={`${kind} ${componentId}`} kind={known} id={componentId} />;
}

function Chat({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const client = useClient();
  const { components } = useComponents();
  const component = components.find((one) => one.kind === kind && one.id === id);
  const chat = useRun<Kind>(client[`${kind}s`], id);
  const [message, setMessage] = useState('');
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (message.trim() === '') return;
    void chat.send({ message, session_id: chat.sessionId ?? null });
    setMessage('');
  };
  const running = chat.status === 'running' || chat.status === 'reconnecting';
  return (
    <Page>
      <PageHeader title={component?.name ?? id} description={component?.description} />
      <div aria-live="polite">
        <Markdown text={chat.text} />
      </div>
      {chat.error !== undefined && <ErrorLine error={chat.error} />}
      <form className="mt-4 flex items-end gap-2" onSubmit={send}>
        <Textarea
          aria-label="Message"
          placeholder="Write a message"
          rows={2}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
        />
        {running ? (
          <Button onClick={() => void chat.cancel()}>Stop</Button>
        ) : (
          <Button type="submit" variant="primary">
            Send
          </Button>
        )}
      </form>
    </Page>
  );
}
