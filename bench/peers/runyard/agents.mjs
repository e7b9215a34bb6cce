import { agent, Runyard } from '../../../packages/runyard/bundle/index.js';
import { openAICompatible } from '../../../packages/runyard/bundle/models.js';

/** As `runyard init` begins a project: an agent, stored in an SQLite file. */
const { MODEL_URL: baseUrl, INSTRUCTIONS: instructions } = process.env;
const model = openAICompatible({ id: 'bench', provider: 'Bench', baseUrl });

export const app = new Runyard({
  logLevel: 'warn',
  agents: [agent({ id: 'plain', name: 'Plain', model, instructions })],
});
