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

/** The Responses API with the official client and its stream helper. */
export const openaiResponses: Way = {
  name: 'OpenAI responses',
  news: ['text', 'tool'],
  open({ url, headers }: Person) {
    const apiKey = String(headers.authorization).replace('Bearer ', '');
    return new ResponsesClient(new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }));
  },
};

type Event = OpenAI.Responses.ResponseStreamEvent;

class ResponsesClient implements Client {
  constructor(private readonly client: OpenAI) {}

  start({ plural, id, message, sessionId, factoryInput }: Asked): Following {
    const received: Event[] = [];
    const stream = this.client.responses.stream({
      model: `${plural.slice(0, -1)}:${id}`,
      input: message,
      metadata: { session_id: sessionId },
      ...(factoryInput && { runyard: { factory_input: factoryInput } }),
    });
    stream.on('event', (event) => received.push(event));
    const rested = refusing(async () => seenIn(await stream.finalResponse()));
    rested.catch(() => {});
    return {
      rested,
      receives: (news) => until(`the client receives ${news}`, () => received.some(isNews[news])),
      drop: () => stream.abort(),
    };
  }

  async answer(_asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    return refusing(async () =>
      seenIn(
        await this.client.responses.create({
          previous_response_id: `resp_${runId}`,
          input: requirements.flatMap((one) => answerItems(runId, one)),
        }),
      ),
    );
  }

  async cancel(_asked: Asked, runId: string): Promise<unknown> {
    return refusing(async () => seenIn(await this.client.responses.cancel(`resp_${runId}`)));
  }

  async comeBack(_asked: Asked, runId: string): Promise<Seen> {
    return refusing(async () => {
      let last: Body;
      const events = await this.client.responses.retrieve(`resp_${runId}`, { stream: true });
      for await (const event of events) last = event;
      return seenIn(last.response);
    });
  }
}

const isNews = {
  text: ({ type }: Event) => type === 'response.output_text.delta',
  tool: ({ type }: Event) => type === 'response.mcp_call.in_progress',
};

/** The answers that a requirement holds, as items of the protocol; none for one that an administrator answers. */
function answerItems(runId: string, one: Body): OpenAI.Responses.ResponseInputItem[] {
  const id = `call_${runId}_${one.tool_execution?.tool_call_id ?? one.step_id}`;
  const approve = one.confirmation ?? one.confirmed;
  if (typeof approve === 'boolean')
    return [{ type: 'mcp_approval_response', approval_request_id: `mcpr_${id}`, approve }];
  const output = one.external_execution_result ?? valuesIn(one.user_input_schema);
  return output === undefined ? [] : [{ type: 'function_call_output', call_id: id, output }];
}

function valuesIn(fields: Body): string | undefined {
  if (!Array.isArray(fields)) return undefined;
  return JSON.stringify(Object.fromEntries(fields.map(({ name, value }) => [name, value])));
}

function seenIn(response: Body): Seen {
  const { run_id: runId, status, requirements = [] } = response.runyard;
  return { runId, status, content: response.error?.message ?? textOf(response), requirements };
}

function textOf({ output }: Body): string {
  return output.findLast(({ type }: Body) => type === 'message')?.content[0]?.text ?? '';
}

async function refusing(work: () => Promise<Seen>): Promise<Seen> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof APIError) || error.name === 'AbortError') throw error;
    throw new Refused(error.message);
  }
}
