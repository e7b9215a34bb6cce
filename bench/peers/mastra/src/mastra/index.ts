import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { LibSQLStore } from '@mastra/libsql';
import { PinoLogger } from '@mastra/loggers';
import { Memory } from '@mastra/memory';

/** As `create-mastra` begins a project: an agent with memory, stored by LibSQL in a file. */
const plain = new Agent({
  id: 'plain',
  name: 'Plain',
  instructions: process.env.INSTRUCTIONS ?? '',
  model: { id: 'bench/bench', url: process.env.MODEL_URL ?? '', apiKey: 'none' },
  memory: new Memory(),
});

export const mastra = new Mastra({
  agents: { plain },
  storage: new LibSQLStore({ id: 'mastra-storage', url: `file:${process.env.DATA_FOLDER}/mastra.db` }),
  logger: new PinoLogger({ name: 'Mastra', level: 'warn' }),
});
