import { answer, instructions } from './lib/answer.mjs';
import { serveCommands } from './lib/commands.mjs';
import { agentsWithALife, readyModel, words } from './lib/life-agents.mjs';

/**
 * Runyard as it is delivered: the default settings, except where to store and how little to log. `files` is `dist` for
 * profiles, which need to know the source of each function.
 */
const {
  modelPort,
  dataDir,
  withKnowledge = false,
  files = 'bundle',
  ...settings
} = JSON.parse(process.argv[2]);
const { agent, knowledge, Runyard, tool } = await import(`../packages/runyard/${files}/index.js`);
const { openAICompatible } = await import(`../packages/runyard/${files}/models.js`);

const model = (path) =>
  openAICompatible({ id: 'bench', provider: 'Bench', baseUrl: `http://127.0.0.1:${modelPort}/${path}/v1` });

let releaseAnswers;
const released = new Promise((resolve) => {
  releaseAnswers = resolve;
});

const emptyAnswer = {
  content: 'done',
  toolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  finishReason: 'stop',
};

/** Says nothing until it is released, and needs no connection of its own until then. */
const waitingModel = {
  id: 'waiting',
  provider: 'Bench',
  name: 'WaitingModel',
  capabilities: { structuredOutput: 'native', tools: true },
  async generate() {
    await released;
    return emptyAnswer;
  },
  async *stream() {
    await released;
    yield { type: 'response', response: emptyAnswer };
  },
};

/** Notes how long after the time in the message it is called. */
const late = [];
const punctualModel = readyModel('punctual', ({ messages }) => {
  late.push(Date.now() - Number(messages.at(-1).content));
  return words('done');
});

/** Once asked to begin, emits the current time, as often and at the interval that the message asks for. */
const tickers = [];
const tickingModel = {
  ...readyModel('ticking', () => words('')),
  async *stream({ messages }) {
    const [count, gapMs] = messages.at(-1).content.split(' ').map(Number);
    await new Promise((resolve) => tickers.push(resolve));
    for (let position = 0; position < count; position += 1) {
      await new Promise((resolve) => setTimeout(resolve, gapMs));
      yield { type: 'text', text: `at ${performance.timeOrigin + performance.now()}` };
    }
    yield { type: 'response', response: words('done') };
  },
};

const app = new Runyard({
  port: 0,
  logLevel: 'warn',
  ...settings,
  dataDir,
  autoMigrate: true,
  ...(withKnowledge && { knowledge: [knowledge({ name: 'pages' })] }),
  agents: [
    agent({ id: 'plain', name: 'Plain', model: model('plain'), instructions }),
    agent({ id: 'burst', name: 'Burst', model: model('burst'), instructions }),
    agent({ id: 'history', name: 'History', model: model('plain'), instructions, addHistoryToContext: true }),
    agent({ id: 'waiting', name: 'Waiting', model: waitingModel, instructions }),
    agent({ id: 'ticking', name: 'Ticking', model: tickingModel }),
    agent({ id: 'punctual', name: 'Punctual', model: punctualModel }),
    agent({ id: 'direct', name: 'Direct', model: readyModel('direct', () => words(answer)), instructions }),
    ...agentsWithALife({ agent, tool, model }),
  ],
});

const { port } = await app.listen();
const commands = {
  port: () => port,
  release: () => releaseAnswers(),
  tick: () => tickers.splice(0).forEach((begin) => void begin()),
  callsAtTicks: () => late.length,
  lateness: () => late.splice(0),
};
serveCommands(commands, () => app.close({ graceMs: 1000 }));
