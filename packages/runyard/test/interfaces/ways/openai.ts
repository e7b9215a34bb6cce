import OpenAI, { APIError } from 'openai';
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
import { rest } from './rest.js';

/**
 * Chat completions with the official client. The protocol cannot cancel and does not show the calls of the component's
 * own tools: runs are cancelled over the run API, and text is all the news.
 */
export const openaiChat: Way = {
  name: 'OpenAI chat completions',
  news: ['text'],
  async open(person: Person) {
    const apiKey = String(person.headers.authorization).replace('Bearer ', '');
    const client = new OpenAI({ baseURL: `${person.url}/v1`, apiKey, maxRetries: 0 });
    return new ChatClient(client, await rest.open(person));
  },
};

class ChatClient implements Client {
  constructor(
    private readonly client: OpenAI,
    private readonly overRest: Client,
  ) {}

  start(asked: Asked): Following {
    const connection = new AbortController();
    const received: OpenAI.ChatCompletionChunk[] = [];
    const rested = refusing(() => this.stream(asked, connection.signal, received));
    rested.catch(() => {});
    return {
      rested,
      receives: (news) => until(`the client receives ${news}`, () => received.some(textOf)),
      drop: () => connection.abort(),
    };
  }

  private async stream(
    asked: Asked,
    signal: AbortSignal,
    received: OpenAI.ChatCompletionChunk[],
  ): Promise<Seen> {
    const stream = await this.client.chat.completions.create(
      { ...requestOf(asked), stream: true, stream_options: { include_usage: true } },
      { signal },
    );
    for await (const chunk of stream) received.push(chunk);
    const last: Body = received.findLast((chunk) => 'runyard' in chunk);
    const calls = received.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    return seenIn(last.runyard, received.map(textOf).join(''), calls);
  }

  /** Results of calls that the client executes are messages; other answers name their run. */
  async answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    const results = requirements.filter((one) => 'call' in one);
    const messages = results.map((one) => ({
      role: 'tool',
      tool_call_id: one.call.id,
      content: one.external_execution_result,
    }));
    const answers =
      messages.length > 0
        ? { messages: [...requestOf(asked).messages, ...messages] }
        : { runyard: { run_id: runId, requirements } };
    const request = { ...requestOf(asked), ...answers };
    return refusing(async () =>
      seenInCompletion(
        await this.client.chat.completions.create(request as OpenAI.ChatCompletionCreateParamsNonStreaming),
      ),
    );
  }

  async cancel(asked: Asked, runId: string): Promise<unknown> {
    return this.overRest.cancel(asked, runId);
  }

  async comeBack(_asked: Asked, runId: string): Promise<Seen> {
    return refusing(async () =>
      seenInCompletion(await this.client.chat.completions.retrieve(`chatcmpl-${runId}`)),
    );
  }
}

function requestOf({ plural, id, message, sessionId, factoryInput }: Asked) {
  return {
    model: `${plural.slice(0, -1)}:${id}`,
    messages: [{ role: 'user' as const, content: message }],
    metadata: { session_id: sessionId },
    ...(factoryInput && { runyard: { factory_input: factoryInput } }),
  };
}

function textOf({ choices }: OpenAI.ChatCompletionChunk): string {
  return choices[0]?.delta.content ?? '';
}

function seenInCompletion(completion: Body): Seen {
  const { content, tool_calls: calls = [] } = completion.choices[0].message;
  return seenIn(completion.runyard, content, calls);
}

function seenIn(runyard: Body, content: unknown, calls: readonly unknown[]): Seen {
  const requirements = [...(runyard.requirements ?? []), ...calls.map((call) => ({ call }))];
  return { runId: runyard.run_id, status: runyard.status, content, requirements };
}

/** A run that failed or was cancelled is an error that names it; other errors are refusals. */
async function refusing(work: () => Promise<Seen>): Promise<Seen> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof APIError) || error.name === 'AbortError') throw error;
    const about: Body = error.error;
    if (about?.run_id === undefined || about.status === undefined) throw new Refused(error.message);
    return { runId: about.run_id, status: about.status, content: about.message, requirements: [] };
  }
}
