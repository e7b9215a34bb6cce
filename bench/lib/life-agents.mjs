import { instructions } from './answer.mjs';

const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
export const words = (content) => ({ content, toolCalls: [], usage, finishReason: 'stop' });

/** Answers at once and needs no connection: its input is ignored. */
export function readyModel(id, answerTo) {
  return {
    id,
    provider: 'Bench',
    name: 'ReadyModel',
    capabilities: { structuredOutput: 'native', tools: true },
    generate: async (request) => answerTo(request),
    async *stream(request) {
      yield { type: 'response', response: answerTo(request) };
    },
  };
}

/** Calls the tool of this name, and accepts any result. */
function callingModel(name) {
  return readyModel(name, ({ messages }) =>
    messages.at(-1).role === 'tool'
      ? words('done')
      : {
          content: '',
          toolCalls: [{ id: 'call_1', name, arguments: '{}' }],
          usage,
          finishReason: 'tool_calls',
        },
  );
}

/** Produces as many tokens as the message asks for, each an event of the run. */
const talkingModel = {
  ...readyModel('talking', () => words('')),
  async *stream({ messages }) {
    const count = Number(messages.at(-1).content);
    let content = '';
    for (let position = 0; position < count; position += 1) {
      const text = `token${position} `;
      content += text;
      yield { type: 'text', text };
      if (position % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    yield { type: 'response', response: words(content) };
  },
};

const untilAborted = (_words, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** Agents whose runs are long, are inside a tool, or wait for a person. */
export function agentsWithALife({ agent, tool, model }) {
  const work = tool({ name: 'work', description: 'Works and works', execute: untilAborted });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    requiresConfirmation: true,
    execute: () => 'paid',
  });
  return [
    agent({ id: 'endless', name: 'Endless', model: model('endless'), instructions }),
    agent({ id: 'stalled', name: 'Stalled', model: model('stalled'), instructions }),
    agent({ id: 'talking', name: 'Talking', model: talkingModel, instructions }),
    agent({ id: 'working', name: 'Working', model: callingModel('work'), tools: [work], instructions }),
    agent({ id: 'paying', name: 'Paying', model: callingModel('pay'), tools: [pay], instructions }),
  ];
}
