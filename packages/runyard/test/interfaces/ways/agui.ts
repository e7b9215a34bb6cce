import { randomUUID } from 'node:crypto';
import { type BaseEvent, HttpAgent, type Interrupt, type RunAgentInput } from '@ag-ui/client';
import { EventSchema } from '@ag-ui/core/schemas';
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

/** The official client. It checks the form and the order of what it receives. */
export const agui: Way = {
  name: 'AG-UI 1.0',
  news: ['text', 'tool'],
  open: (person) => new AguiClient(person),
};

/** The official client with the endpoint that lets it come back, which the protocol leaves to the agent. */
class ReturningAgent extends HttpAgent {
  protected override connect(input: RunAgentInput) {
    const other = new HttpAgent({ url: `${this.url}/connect`, headers: this.headers });
    return other.run(input);
  }
}

class AguiClient implements Client {
  constructor(private readonly person: Person) {}

  start(asked: Asked): Following {
    const agent = this.agent(asked);
    const received: BaseEvent[] = [];
    agent.addMessage({ id: randomUUID(), role: 'user', content: asked.message });
    const runId = randomUUID();
    const rested = seen(runId, received, agent, () =>
      agent.runAgent(
        {
          runId,
          ...(asked.factoryInput && { forwardedProps: { factory_input: asked.factoryInput } }),
        },
        collector(received),
      ),
    );
    rested.catch(() => {});
    return {
      rested,
      receives: (news) =>
        until(`the client receives ${news}`, () => received.some(({ type }) => type === isNews[news])),
      drop: () => agent.abortRun(),
    };
  }

  /** A requirement of the run API, with its answer, as the entry that answers its interrupt. */
  async answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    const agent = this.agent(asked);
    const resume = requirements.map((one) => ({
      interruptId: `${runId}:${one.tool_execution?.tool_call_id ?? one.step_id}`,
      status: 'resolved' as const,
      payload: payloadOf(one),
    }));
    const received: BaseEvent[] = [];
    return seen(runId, received, agent, () => agent.runAgent({ resume }, collector(received)));
  }

  async cancel(asked: Asked, runId: string): Promise<void> {
    const { status, text } = await call(`${urlOf(this.person, asked)}/cancel`, {
      method: 'POST',
      headers: { ...this.person.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ threadId: asked.sessionId, runId }),
    });
    if (status !== 200) throw new Refused(JSON.parse(text).detail);
  }

  async comeBack(asked: Asked, runId: string): Promise<Seen> {
    const agent = this.agent(asked);
    const received: BaseEvent[] = [];
    const found = await seen(runId, received, agent, () => agent.connectAgent({}, collector(received)));
    // whose thread is empty has found nothing
    if (agent.messages.length === 0) throw new Refused('The thread is empty.');
    return found;
  }

  private agent(asked: Asked): ReturningAgent {
    const { headers } = this.person;
    return new ReturningAgent({
      url: urlOf(this.person, asked),
      threadId: asked.sessionId,
      headers: { ...headers },
    });
  }
}

const urlOf = ({ url }: Person, { plural, id }: Asked) => `${url}/agui/${plural}/${id}`;

const isNews = { text: 'TEXT_MESSAGE_CONTENT', tool: 'TOOL_CALL_START' } as const;

const collector = (received: BaseEvent[]) => ({
  onEvent: ({ event }: { event: BaseEvent }) => {
    EventSchema.parse(event);
    received.push(event);
  },
});

function payloadOf(one: Body): unknown {
  if (one.external_execution_result !== undefined) return one.external_execution_result;
  if (one.confirmation !== undefined) return { confirmed: one.confirmation };
  if (one.confirmed !== undefined && one.confirmed !== null) return { confirmed: one.confirmed };
  if (one.user_input_schema)
    return Object.fromEntries(one.user_input_schema.map((field: Body) => [field.name, field.value]));
  return {};
}

async function seen(
  runId: string,
  received: BaseEvent[],
  agent: HttpAgent,
  work: () => Promise<unknown>,
): Promise<Seen> {
  const error = await work().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const last: Body = received.at(-1) ?? {};
  const first: Body = received[0] ?? {};
  if (last.type === 'RUN_ERROR' && first.type === 'RUN_STARTED')
    return { runId, status: 'error', content: last.message, requirements: [] };
  if (error !== undefined || last.type !== 'RUN_FINISHED')
    throw new Refused(String(last.message ?? (error instanceof Error ? error.message : error)));
  const content = agent.messages.findLast(({ role }) => role === 'assistant')?.content;
  const { type, interrupts = [] } = last.outcome;
  const status = type === 'interrupt' ? 'paused' : type === 'cancelled' ? 'cancelled' : 'completed';
  return { runId, status, content, requirements: interrupts.map(requirementOf) };
}

/** What the scenario answers, in the words of the run API. */
function requirementOf({ id, toolCallId, reason, responseSchema, metadata }: Interrupt): Body {
  const own = id.slice(id.indexOf(':') + 1);
  if (toolCallId === undefined) return { step_id: own };
  const fields = Object.keys(responseSchema?.properties ?? {}).map((name) => ({ name }));
  return {
    tool_execution: { tool_call_id: own, approval_id: metadata?.approvalId },
    ...(reason === 'user_input' && { user_input_schema: fields }),
  };
}
