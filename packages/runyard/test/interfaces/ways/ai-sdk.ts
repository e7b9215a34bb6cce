import {
  APICallError,
  DefaultChatTransport,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';
import { call } from '../../support/clients/call.js';
import type { Body } from '../../support/service.js';
import { until } from '../../support/until.js';
import {
  type Asked,
  type Client,
  type Following,
  type Person,
  Refused,
  type Seen,
  type Way,
} from '../way.js';

/** The default transport of `useChat`. What a run waits for is in the metadata of its message. */
export const aiSdkWay: Way = {
  name: 'AI SDK',
  news: ['text', 'tool'],
  open: (person) => new AiSdkClient(person),
};

const metadataIn = (message: UIMessage) => message.metadata as Body;

class AiSdkClient implements Client {
  /** What the page shows, by run. */
  private readonly shown = new Map<string, UIMessage>();

  constructor(private readonly person: Person) {}

  start(asked: Asked): Following {
    const connection = new AbortController();
    const received: UIMessageChunk[] = [];
    const parts = [{ type: 'text' as const, text: asked.message }];
    const message: UIMessage = { id: `m-${asked.message}`, role: 'user', parts };
    const { factoryInput } = asked;
    const rested = this.send(asked, message, { factoryInput }, received, connection.signal);
    rested.catch(() => {});
    const news = { text: 'text-delta', tool: 'tool-input-available' };
    return {
      rested,
      receives: (what) =>
        until(`the page receives ${what}`, () => received.some(({ type }) => type === news[what])),
      drop: () => connection.abort(),
    };
  }

  async answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    const message = this.shown.get(runId) ?? { id: runId, role: 'assistant' as const, parts: [] };
    return this.send(asked, message, { requirements }, []);
  }

  async cancel(asked: Asked, runId: string): Promise<unknown> {
    const { status, body } = await this.ask('POST', asked, 'cancel');
    if (status !== 200) throw new Refused(body.detail);
    if (body.run_id !== runId) throw new Refused('another run');
    return body;
  }

  /** A run that has ended or waits is in the messages of the chat. */
  async comeBack(asked: Asked, runId: string): Promise<Seen> {
    const stream = await refusing(() => this.transport(asked).reconnectToStream({ chatId: asked.sessionId }));
    if (stream !== null) return this.seenAtEnd(stream, []);
    const { body } = await this.ask('GET', asked, 'messages');
    const message = body.messages?.find(({ id }: UIMessage) => id === runId);
    if (message === undefined) throw new Refused('There is no such message.');
    this.shown.set(runId, message);
    return seenIn(message, '');
  }

  private transport({ plural, id }: Asked, body: object = {}) {
    const { url, headers } = this.person;
    return new DefaultChatTransport({ api: `${url}/api/chat/${plural}/${id}`, headers, body });
  }

  private async send(
    asked: Asked,
    message: UIMessage,
    body: object,
    received: UIMessageChunk[],
    abortSignal?: AbortSignal,
  ): Promise<Seen> {
    const sent = { chatId: asked.sessionId, messages: [message], messageId: undefined, abortSignal };
    const transport = this.transport(asked, body);
    const stream = await refusing(() => transport.sendMessages({ trigger: 'submit-message', ...sent }));
    return this.seenAtEnd(stream, received, message);
  }

  private async seenAtEnd(
    chunks: ReadableStream<UIMessageChunk>,
    received: UIMessageChunk[],
    sent?: UIMessage,
  ): Promise<Seen> {
    const errors: string[] = [];
    const heard = chunks.pipeThrough(
      new TransformStream<UIMessageChunk, UIMessageChunk>({
        transform(chunk, controller) {
          received.push(chunk);
          if (chunk.type === 'error') errors.push(chunk.errorText);
          else controller.enqueue(chunk);
        },
      }),
    );
    let last: UIMessage | undefined;
    const message = sent?.role === 'assistant' ? structuredClone(sent) : undefined;
    const onError = (error: unknown) => errors.push(String(error));
    for await (const grown of readUIMessageStream({ message, stream: heard, onError })) last = grown;
    if (last === undefined) throw new Error('The stream had no message.');
    this.shown.set(last.id, last);
    return seenIn(last, errors.join(''));
  }

  private async ask(method: string, { plural, id, sessionId }: Asked, below: string) {
    const { url, headers } = this.person;
    const { status, text } = await call(`${url}/api/chat/${plural}/${id}/${sessionId}/${below}`, {
      method,
      headers,
    });
    return { status, body: JSON.parse(text) as Body };
  }
}

function seenIn(message: UIMessage, error: string): Seen {
  const { runId, status, requirements } = metadataIn(message);
  const texts = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return { runId, status, content: error || texts.at(-1) || '', requirements };
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // the transport makes the body of an error its message
    if (APICallError.isInstance(error)) throw new Refused(JSON.parse(error.message).detail);
    throw error;
  }
}
