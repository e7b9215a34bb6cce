/**
 * The components whose runs fill the database. What is said in their runs are marks that each seeded run replaces with
 * texts of its own; `script` decides what the next run does.
 */
export const marks = {
  question: '«question»',
  answer: '«answer»',
  result: '«result»',
  session: '«session»',
  user: '«user»',
};

const models = [
  ['OpenAI', 'gpt-5-mini'],
  ['OpenAI', 'gpt-5'],
  ['Anthropic', 'claude-sonnet-4-5'],
  ['Google', 'gemini-2.5-flash'],
  ['Mistral', 'mistral-large'],
];

const agentNames = [
  ...['Support', 'Research', 'Writer', 'Planner', 'Analyst', 'Translator'],
  ...['Reviewer', 'Tutor', 'Concierge', 'Recruiter', 'Lawyer', 'Chef'],
];
const teamNames = ['Help desk', 'Newsroom', 'Travel bureau', 'Studio'];
const workflowNames = ['Newsletter', 'Onboarding', 'Invoice check', 'Release notes'];

/** Agents, teams and workflows, and the script that their models and tools follow. */
export function seedComponents({ agent, team, workflow, tool, step }) {
  const script = { rounds: 0, calls: 1, fails: undefined };
  const model = (position) => scriptedModel(models[position % models.length], script);
  const tools = ['search_documents', 'look_up_order', 'send_message'].map((name) =>
    newTool(tool, name, script),
  );
  const agents = agentNames.map((name, position) =>
    agent({ id: name.toLowerCase(), name, model: model(position), tools, instructions: 'Answer briefly.' }),
  );
  const teams = teamNames.map((name, position) =>
    team({
      id: idOf(name),
      name,
      mode: 'broadcast',
      model: delegatingModel(models[position]),
      members: [agents[position], agents[position + 4]],
    }),
  );
  const workflows = workflowNames.map((name, position) =>
    workflow({
      id: idOf(name),
      name,
      steps: [
        step({ name: 'prepare', run: ({ input }) => `About ${String(input)}` }),
        step({ name: 'draft', agent: agents[position + 2], maxRetries: 0, onError: 'fail' }),
        step({ name: 'publish', run: ({ previousStepContent }) => String(previousStepContent) }),
      ],
    }),
  );
  return { agents, teams, workflows, script };
}

function idOf(name) {
  return name.toLowerCase().replaceAll(' ', '-');
}

function newTool(tool, name, script) {
  return tool({
    name,
    description: `Does what ${name} says`,
    inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
    execute: () => {
      if (script.fails === 'tool') throw new Error('The service is not available');
      return marks.result;
    },
  });
}

/** Calls tools for as many rounds as the script says, and then answers. */
function scriptedModel([provider, id], script) {
  return readyModel(provider, id, ({ messages, tools }) => {
    if (script.fails === 'model') throw new Error('The model is overloaded');
    const begun = messages.findLastIndex(({ role }) => role === 'user');
    const rounds = messages.slice(begun).filter(({ role }) => role === 'assistant').length;
    if (rounds >= script.rounds) return answer({ content: marks.answer });
    return answer({
      toolCalls: Array.from({ length: script.calls }, (_, call) => ({
        id: `call_${rounds}_${call}`,
        name: tools[(rounds + call) % tools.length].name,
        arguments: JSON.stringify({ query: marks.question }),
      })),
    });
  });
}

/** Asks all members once, and answers then. */
function delegatingModel([provider, id]) {
  return readyModel(provider, id, ({ messages }) =>
    messages.at(-1).role === 'tool'
      ? answer({ content: marks.answer })
      : answer({
          toolCalls: [
            {
              id: 'call_members',
              name: 'delegate_task_to_members',
              arguments: JSON.stringify({ task: marks.question }),
            },
          ],
        }),
  );
}

function answer({ content = '', toolCalls = [] }) {
  const usage = { inputTokens: 412, outputTokens: 87, totalTokens: 499, cacheReadTokens: 128 };
  return { content, toolCalls, usage, finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop' };
}

function readyModel(provider, id, answerTo) {
  return {
    id,
    provider,
    name: 'SeedModel',
    capabilities: { structuredOutput: 'native', tools: true },
    generate: async (request) => answerTo(request),
    async *stream(request) {
      yield { type: 'response', response: answerTo(request) };
    },
  };
}
