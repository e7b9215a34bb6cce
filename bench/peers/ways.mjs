import { randomUUID } from 'node:crypto';
import { question } from '../lib/answer.mjs';

/** The ways into the peers, as their own clients ask for a run. Each run has a conversation of its own. */
export const peerWays = {
  mastra: {
    request: ({ agentId, stream }) =>
      json(`/api/agents/${agentId}/${stream ? 'stream' : 'generate'}`, {
        messages: [{ role: 'user', content: question }],
        memory: { thread: randomUUID(), resource: 'bench' },
      }),
    marks: (stream) => ['token50 ', stream ? '"type":"finish"' : '"text":"token1 '],
    firstMark: '"text":"token1 ',
  },
  voltagent: {
    request: ({ agentId, stream }) =>
      json(`/agents/${agentId}/${stream ? 'stream' : 'text'}`, {
        input: question,
        options: { userId: 'bench', conversationId: randomUUID() },
      }),
    marks: (stream) => ['token50 ', stream ? '"type":"finish"' : '"text":"token1 '],
    firstMark: '"text":"token1 ',
  },
  langgraph: {
    request: ({ agentId, stream }) =>
      json(`/runs/${stream ? 'stream' : 'wait'}`, {
        assistant_id: agentId,
        input: { messages: [{ role: 'user', content: question }] },
        ...(stream && { stream_mode: ['messages-tuple'] }),
      }),
    marks: () => ['token50 '],
    firstMark: '"token1 ',
  },
};

function json(path, body) {
  return { path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
