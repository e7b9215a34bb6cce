import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { UploadStore } from '../../../src/capabilities/knowledge/uploads/upload-store.js';
import { RetentionService } from '../../../src/capabilities/retention/service.js';
import { agent, type KnowledgeSearch, knowledge, Runyard } from '../../../src/index.js';
import { recordingLog } from '../../support/clients/http-server.js';
import { WritingThreads } from '../../support/writing-threads.js';

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

test('a start stores no file that has not changed, not even one that changed while it was added', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-knowledge-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const page = join(folder, 'moons.md');
  writeFileSync(page, 'Mars has two moons.');
  const { write } = UploadStore.prototype;
  const stored = vi.spyOn(UploadStore.prototype, 'write').mockImplementation(function (
    this: UploadStore,
    bytes,
  ) {
    writeFileSync(page, 'Mars has two moons, and Venus has none.');
    return write.call(this, bytes);
  });
  onTestFinished(() => stored.mockRestore());
  const started = async () => {
    stored.mockClear();
    const planets = knowledge({ name: 'planets', contents: [{ name: 'moons.md', from: { path: page } }] });
    const component = agent({ id: 'a', model: 'offline', knowledge: planets });
    const app = new Runyard({ agents: [component], dataDir: folder, logLevel: 'silent' });
    const { content } = await component.run('Has Venus moons?');
    await app.close({ graceMs: 0 });
    return [stored.mock.calls.length, content];
  };
  const answer = 'Mars has two moons, and Venus has none.\n\nSources: moons.md';
  expect(await started()).toEqual([1, answer]);
  expect(await started()).toEqual([0, answer]);
});

test('a service on existing data starts no writing thread', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-idle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const page = join(folder, 'moons.md');
  writeFileSync(page, 'Mars has two moons.');
  const started = async (waits: boolean) => {
    const planets = knowledge({ name: 'planets', contents: [{ name: 'moons.md', from: { path: page } }] });
    const component = agent({ id: 'a', model: 'offline', knowledge: planets });
    const threads = new WritingThreads();
    const sweeps = vi.spyOn(RetentionService.prototype, 'begin').mockImplementation(function (
      this: RetentionService,
    ) {
      swept = this.sweep();
    });
    onTestFinished(() => sweeps.mockRestore());
    let swept: Promise<void> | undefined;
    const app = new Runyard({ agents: [component], dataDir: folder, port: 0, logLevel: 'silent' });
    const { url } = await app.listen();
    expect((await fetch(`${url}/knowledge/content`)).status).toBe(200);
    await swept;
    expect(swept).toBeDefined();
    if (waits) await component.run('How many moons has Mars?');
    await app.close({ graceMs: 0 });
    return threads.started.length;
  };
  // the first one indexes the page
  expect(await started(true)).toBe(1);
  expect(await started(false)).toBe(0);
});

test('code searches with the filters of requests and with those that were read, and receives the error', async () => {
  const years = knowledge({ name: 'years' });
  const added = await Promise.all(
    [2020, 2024].map((year) =>
      years.add({
        metadata: { year },
        from: { bytes: Buffer.from(`Report of ${year}`), filename: `${year}.md` },
      }),
    ),
  );
  const contents = await Promise.all(added.map(({ id }) => years.processed(id)));
  expect(contents.map((content) => content?.type)).toEqual(['text/markdown', 'text/markdown']);
  expect(Object.keys(contents[0] ?? {})).not.toContain('jobId');
  const names = async (filter: KnowledgeSearch['filter']) =>
    (await years.search('report', { filter })).map(({ name }) => name);
  expect(await names({ year: 2024 })).toEqual(['2024.md']);
  expect(await names([{ op: 'LT', key: 'year', value: 2023 }])).toEqual(['2020.md']);
  expect(await names({ op: 'NOT', condition: { op: 'CONTAINED', value: { year: 2024 } } })).toEqual([
    '2020.md',
  ]);
  await expect(names({ op: 'LESS', key: 'year', value: 2023 })).rejects.toThrow(
    'search(): filter.op is no operator. Operators: EQ',
  );
  const misspelt = { filters: { year: 2024 } } as KnowledgeSearch;
  await expect(years.search('report', misspelt)).rejects.toThrow('Did you mean filter?');
  await expect(years.search('report', { limit: 0 })).rejects.toThrow('limit is 0');
  await expect(years.add({ from: { txt: 'a' } as never })).rejects.toThrow(
    'add(): from.txt is not an option. Did you mean text?',
  );
});
