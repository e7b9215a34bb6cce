import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent, Memory, VoltAgent } from '@voltagent/core';
import { LibSQLMemoryAdapter } from '@voltagent/libsql';
import { createPinoLogger } from '@voltagent/logger';
import { honoServer } from '@voltagent/server-hono';

/** As `create-voltagent-app` begins a project: an agent with memory, stored by LibSQL in a file. */
const { MODEL_URL: baseURL, INSTRUCTIONS: instructions, DATA_FOLDER: folder, PORT: port } = process.env;
const plain = new Agent({
  name: 'plain',
  instructions,
  model: createOpenAICompatible({ name: 'bench', baseURL })('bench'),
  memory: new Memory({ storage: new LibSQLMemoryAdapter({ url: `file:${folder}/memory.db` }) }),
});

new VoltAgent({
  agents: { plain },
  server: honoServer({ port: Number(port), hostname: '127.0.0.1' }),
  logger: createPinoLogger({ name: 'voltagent', level: 'warn' }),
});
