import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { agent, type Model, type ModelChunk, type ModelRequest, type ModelResponse, Runyard } from 'runyard';

/** A service whose model gives answers of many megabytes, all of which end when the test says so. */
const { CHAOS_FOLDER: folder = '.', CHAOS_DATABASE: database, CHAOS_SETTINGS: settings = '{}' } = process.env;

/** As long as what a model sends at once. */
const piece = 'A sentence that says as much as this one, and no more. '.repeat(60);

/** The message is how many kilobytes to say. */
function piecesOf({ messages }: ModelRequest): number {
  return Math.ceil((Number(messages.at(-1)?.content) * 1024) / piece.length);
}

async function released(): Promise<void> {
  while (!existsSync(join(folder, 'release-end'))) await new Promise((resolve) => setTimeout(resolve, 20));
}

function responseOf(content: string): ModelResponse {
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  return { content, toolCalls: [], usage, finishReason: 'stop' };
}

let spoken = 0;

const talkative: Model = {
  id: 'talkative',
  provider: 'Test',
  name: 'Talkative',
  capabilities: { structuredOutput: 'native', tools: true },
  async generate(request) {
    let content = '';
    // each piece is a string of its own, as a socket brings it
    for (let said = piecesOf(request); said > 0; said -= 1) content += Buffer.from(piece).toString();
    spoken += 1;
    await released();
    return responseOf(content);
  },
  async *stream(request): AsyncGenerator<ModelChunk> {
    let content = '';
    for (let said = piecesOf(request); said > 0; said -= 1) {
      const text = Buffer.from(piece).toString();
      content += text;
      yield { type: 'text', text };
      if (said % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    spoken += 1;
    await released();
    yield { type: 'response', response: responseOf(content) };
  },
};

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What is held now, and the most that the process ever had. */
function memory(): object {
  const { maxRSS } = process.resourceUsage();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { held: heapUsed + external, rss, highest: maxRSS * 1024 };
}

export const app = new Runyard({
  port: 0,
  dataDir: folder,
  ...(database !== undefined && { database }),
  autoMigrate: true,
  logFormat: 'json',
  logLevel: 'warn',
  agents: [agent({ id: 'talkative', model: talkative })],
  routes: (server) => {
    server.get('/memory', async () => memory());
    server.get('/spoken', async () => ({ spoken }));
  },
  ...(JSON.parse(settings) as object),
});
