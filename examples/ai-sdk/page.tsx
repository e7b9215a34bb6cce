import { type UIMessage, useChat } from '@ai-sdk/react';
import {
  type DynamicToolUIPart,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type ToolUIPart,
} from 'ai';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

// The chat has an id in the address, so a page that is loaded again shows the same chat.
const isNew = location.hash === '';
if (isNew) history.replaceState(null, '', `#${crypto.randomUUID()}`);
const id = location.hash.slice(1);

function Chat({ messages }: { messages: UIMessage[] }) {
  const [draft, setDraft] = useState('');
  const chat = useChat({
    id,
    messages,
    resume: true, // follows the answer that is still being written
    // Answers of the person and of the page are sent as soon as none is missing.
    sendAutomaticallyWhen: (chat) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(chat) ||
      lastAssistantMessageIsCompleteWithToolCalls(chat),
    onToolCall: ({ toolCall }) => {
      if (toolCall.toolName !== 'paint_page') return;
      const { colour } = toolCall.input as { colour: string };
      document.body.style.background = colour;
      chat.addToolOutput({
        tool: 'paint_page',
        toolCallId: toolCall.toolCallId,
        output: `It is ${colour} now.`,
      });
    },
  });
  // `chat.stop()` would only close the connection: the run continues, and a reload shows it again. Stop cancels the run.
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';

  return (
    <main data-status={chat.status}>
      <h1>Shop</h1>
      <p>Try “Count to 20”, “Where is order 1001?”, “Refund 20 euros” or “Paint the page green”.</p>
      {chat.messages.map((message) => (
        <article key={message.id} className={message.role}>
          {message.parts.map((part, index) => {
            const key = `${message.id}-${index}`;
            if (part.type === 'text') return <span key={key}>{part.text}</span>;
            if (part.type === 'reasoning') return <em key={key}>{part.text}</em>;
            if (isToolUIPart(part))
              return <ToolCall key={key} part={part} answer={chat.addToolApprovalResponse} />;
            return null;
          })}
        </article>
      ))}
      {chat.error && <p className="error">{chat.error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (draft.trim() === '') return;
          void chat.sendMessage({ text: draft });
          setDraft('');
        }}
      >
        <input aria-label="Message" value={draft} onChange={(event) => setDraft(event.target.value)} />
        {isBusy ? (
          <button
            type="button"
            className="plain"
            onClick={() => fetch(`/api/chat/${id}/cancel`, { method: 'POST' })}
          >
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
    </main>
  );
}

interface ToolCallProps {
  part: ToolUIPart | DynamicToolUIPart;
  answer: (answer: { id: string; approved: boolean }) => void;
}

function ToolCall({ part, answer }: ToolCallProps) {
  return (
    <div className="tool">
      {getToolName(part)} {JSON.stringify(part.input)}
      {part.state === 'output-available' && <div>→ {String(part.output)}</div>}
      {part.state === 'output-error' && <div className="error">{part.errorText}</div>}
      {part.state === 'output-denied' && <div>denied</div>}
      {part.state === 'approval-requested' && (
        <div>
          <button type="button" onClick={() => answer({ id: part.approval.id, approved: true })}>
            Approve
          </button>
          <button
            type="button"
            className="plain"
            onClick={() => answer({ id: part.approval.id, approved: false })}
          >
            Deny
          </button>
        </div>
      )}
    </div>
  );
}

/** The service keeps the chat: the page stores nothing. */
async function storedMessages(): Promise<UIMessage[]> {
  if (isNew) return [];
  const response = await fetch(`/api/chat/${id}/messages`);
  return response.ok ? (await response.json()).messages : [];
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<Chat messages={await storedMessages()} />);
