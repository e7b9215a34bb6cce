import type { Message, Model, ModelChunk, ModelResponse } from 'runyard';
import { callId, encouragement, failure, isPlan, lastWords, readPlan } from '../plan.js';
import { leaderTurns, type Mode, readTeamPlan } from '../team-plan.js';
import { aWhile } from './traces.js';

interface Call {
  readonly name: string;
  readonly args: object;
}

/** The calls of each turn, from the request. */
type Reading = (message: string) => { token: string; turns: readonly (readonly Call[])[] };

/** The model of an agent that goes through its plan. */
export function plannedModel(owner: string): Model {
  return modelOf(owner, (message) => {
    const { token, turns } = readPlan(message);
    return { token, turns: turns.map((calls) => calls.map((name) => ({ name, args: {} }))) };
  });
}

/** The model of the leader of a team. */
export function leadingModel(owner: string, mode: Mode): Model {
  return modelOf(owner, (message) => {
    const plan = readTeamPlan(message);
    return { token: plan.token, turns: leaderTurns(mode, plan) };
  });
}

function modelOf(owner: string, read: Reading): Model {
  return {
    id: 'planned',
    provider: 'Storm',
    name: 'Planned',
    capabilities: { structuredOutput: 'native', tools: true },
    async generate({ messages }, { signal }) {
      await aWhile(60, signal);
      return nextResponse(owner, read, messages);
    },
    async *stream({ messages }, { signal }): AsyncGenerator<ModelChunk> {
      const response = nextResponse(owner, read, messages);
      for (const text of response.content.match(/\S+\s*/g) ?? []) {
        await aWhile(20, signal);
        yield { type: 'text', text };
      }
      yield { type: 'response', response };
    },
  };
}

/** The next turn of a conversation, from its messages. */
function nextResponse(owner: string, read: Reading, messages: readonly Message[]): ModelResponse {
  const start = messages.findLastIndex(({ role, content }) => role === 'user' && isPlan(content));
  const plan = read(messages[start]?.content ?? '');
  const turn = messages
    .slice(start + 1)
    .filter(
      ({ role, content, toolCalls }) =>
        (role === 'assistant' && !!toolCalls?.length) || content === encouragement,
    ).length;
  const calls = plan.turns[turn];
  if (calls?.[0]?.name === failure) throw new Error(failure);
  return {
    content: calls === undefined ? lastWords(plan) : `Turn ${turn} of ${plan.token} comes now. `,
    toolCalls: (calls ?? []).map(({ name, args }, position) => ({
      id: callId(owner, plan.token, turn, position, name),
      name,
      arguments: JSON.stringify(args),
    })),
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    finishReason: calls === undefined ? 'stop' : 'tool_calls',
  };
}
