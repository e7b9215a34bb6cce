import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agent, knowledge, Runyard } from '../../../src/index.js';
import { recordingLog } from '../../support/clients/http-server.js';

test('an agent answers from the contents that its knowledge has from the start, also after one has changed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-knowledge-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const page = join(folder, 'moons.md');
  const answered = async (question: string) => {
    const logged: { readonly message: string }[] = [];
    const planets = knowledge({
      name: 'planets',
      contents: [
        { name: 'moons.md', from: { path: page } },
        { name: 'rings.md', from: { text: 'Saturn has rings of ice.' } },
        { name: 'missing.md', from: { path: join(folder, 'missing.md') } },
      ],
    });
    const component = agent({ id: 'a', model: 'offline', knowledge: planets });
    const app = new Runyard({ agents: [component], dataDir: folder, log: recordingLog(logged as never) });
    const { content, references } = await component.run(question);
    await app.close({ graceMs: 0 });
    expect(logged.map(({ message }) => message)).toContain('a content of the settings could not be added');
    return [content, references[0]?.references.map(({ name }) => name).sort()];
  };
  writeFileSync(page, '# Moons\n\nMars has two moons.\n');
  const both = ['moons.md', 'rings.md'];
  expect(await answered('How many moons has Mars?')).toEqual([
    'Mars has two moons.\n\nSources: moons.md',
    both,
  ]);
  writeFileSync(page, '# Moons\n\nMars has three moons.\n');
  expect(await answered('How many moons has Mars?')).toEqual([
    'Mars has three moons.\n\nSources: moons.md',
    both,
  ]);
});
