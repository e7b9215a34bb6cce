import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Embedder, knowledge, Runyard } from 'runyard';

/** A service whose embedder takes its time and writes down each text that it embeds. */
const { CHAOS_FOLDER: folder = '.' } = process.env;

const embedder: Embedder = {
  id: 'slow',
  provider: 'test',
  async embed(texts) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    appendFileSync(join(folder, 'effects'), texts.map((text) => `${text}\t\t${process.pid}\n`).join(''));
    const usage = { inputTokens: 1, outputTokens: 0, totalTokens: 1 };
    return { vectors: texts.map((text) => Float32Array.from([text.length, 1, 2])), usage };
  },
};

export const app = new Runyard({
  port: 0,
  dataDir: folder,
  leaseMs: 2_000,
  knowledge: [knowledge({ name: 'Rows', embedder })],
});
