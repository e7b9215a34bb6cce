import { Badge } from '../../../ui/badge.js';
import { CodeBlock } from '../../../ui/content/code-block.js';
import { JsonView } from '../../../ui/content/json-view.js';
import { Markdown } from '../../../ui/content/markdown.js';

export interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
}

/** The messages in the input or the output of a model call; undefined if the text is no such list. */
export function messagesIn(text: string | undefined): readonly Message[] | undefined {
  const value = jsonIn(text);
  const list = Array.isArray(value) ? value : isRecord(value) ? value.messages : undefined;
  if (!Array.isArray(list)) return undefined;
  const messages = list.map(messageOf);
  return messages.every((one) => one !== undefined) ? messages : undefined;
}

/** A trace has what a provider wrote: a field may be missing, null or of another type. */
function messageOf(value: unknown): Message | undefined {
  if (!isRecord(value) || typeof value.role !== 'string') return undefined;
  const calls: unknown[] = Array.isArray(value.tool_calls) ? value.tool_calls : [];
  return {
    role: value.role,
    content: value.content,
    calls: calls.map((call) => {
      const { function: called } = isRecord(call) ? call : {};
      const { name, arguments: given } = isRecord(called) ? called : {};
      return { name: String(name ?? 'a tool'), arguments: given };
    }),
  };
}

/** Undefined if the text is no JSON, such as a value that the service has cut. */
function jsonIn(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function Messages({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <ol className="flex flex-col gap-3">
      {messages.map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the messages of a call keep their places.
        <li key={at} className="min-w-0">
          <Badge tone={message.role === 'assistant' ? 'accent' : 'neutral'}>{message.role}</Badge>
          <div className="mt-1 min-w-0">
            <Content message={message} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function Content({ message: { role, content, calls } }: { readonly message: Message }) {
  return (
    <div className="flex flex-col gap-2">
      {typeof content === 'string' && content !== '' && <Text role={role} text={content} />}
      {typeof content === 'object' && content !== null && <JsonView value={content} depth={2} />}
      {calls.map((call, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the calls of a message keep their places.
        <div key={at} className="min-w-0">
          <p className="pb-1 text-xs text-muted">
            calls <code className="text-text">{call.name}</code>
          </p>
          <Value value={call.arguments} />
        </div>
      ))}
    </div>
  );
}

/** Models write Markdown. What people and tools write is shown as it is. */
function Text({ role, text }: { readonly role: string; readonly text: string }) {
  if (role === 'assistant') return <Markdown text={text} />;
  if (role === 'tool') return <Value value={text} />;
  return <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</p>;
}

/** JSON as a tree, other texts as they are. */
export function Value({ value }: { readonly value: unknown }) {
  const read = typeof value === 'string' ? jsonIn(value) : value;
  if (typeof read === 'object' && read !== null) return <JsonView value={read} depth={2} />;
  return <CodeBlock wraps code={typeof value === 'string' ? value : String(value)} />;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
