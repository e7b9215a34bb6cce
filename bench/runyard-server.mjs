import { agent, knowledge, Runyard, tool } from '../packages/runyard/bundle/index.js';
import { openAICompatible } from '../packages/runyard/bundle/models.js';
import { instructions } from './lib/answer.mjs';
import { serveCommands } from './lib/commands.mjs';
import { agentsWithALife } from './lib/life-agents.mjs';

/** Runyard as it is delivered: the default settings, except where to store and how little to log. */
const { modelPort, dataDir, withKnowledge = false, ...settings } = JSON.parse(process.argv[2]);

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
    ...agentsWithALife({ agent, tool, model }),
  ],
});

const { port } = await app.listen();
serveCommands({ port: () => port, release: () => releaseAnswers() }, () => app.close({ graceMs: 1000 }));
