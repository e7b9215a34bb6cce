import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { type Embedder, knowledge, Runyard, step, workflow } from '../../src/index.js';
import { startService } from '../support/service.js';
import { gate } from '../support/until.js';
import { linkPackages, project, run } from './support.js';

const earlier: Embedder = {
  id: 'earlier',
  provider: 'test',
  async embed(texts) {
    const vectors = texts.map((text) => Float32Array.from([text.length, 1, 2]));
    return { vectors, usage: { inputTokens: 1, outputTokens: 0, totalTokens: 1 } };
  },
};

/** The entry of the command: the same knowledge bases with another embedder, and a run that would leave a file behind. */
const entry = `
import { writeFileSync } from 'node:fs';
import { knowledge, Runyard, step, workflow } from 'runyard';
const slow = step({ name: 'wait', run: () => writeFileSync('executed', '') });
export const app = new Runyard({
  knowledge: [knowledge({ name: 'Notes' }), knowledge({ name: 'Papers' })],
  workflows: [workflow({ id: 'slow', steps: [slow] })],
});
`;

/** A folder whose database has contents of the earlier embedder, and a run that waits for a service. */
async function embeddedEarlier(): Promise<string> {
  const folder = project({ 'agents.mjs': entry });
  linkPackages(folder);
  const begun = gate();
  const endless = () => {
    begun.open();
    return new Promise<string>(() => {});
  };
  const slow = workflow({ id: 'slow', steps: [step({ name: 'wait', run: endless })] });
  const bases = ['Notes', 'Papers'].map((name) => knowledge({ name, embedder: earlier }));
  const dataDir = join(folder, 'data');
  const app = new Runyard({ knowledge: bases, workflows: [slow], dataDir, log: silentLog });
  for (const base of bases) {
    const { id } = await base.add({ name: 'moons', from: { text: 'Mars has two moons.' } });
    await base.processed(id);
  }
  const released = slow.run('x').catch(() => 'released');
  await begun.opened;
  await app.close({ graceMs: 0 });
  await released;
  return folder;
}

test('after the embedder changed, searches name the command, which embeds everything anew and executes no run', async () => {
  const folder = await embeddedEarlier();
  const reembed = (...words: string[]) =>
    run(['knowledge', 'reembed', 'agents.mjs', '--data-dir', 'data', ...words], { cwd: folder });

  const one = await reembed('--knowledge', 'Papers');
  expect([one.code, one.stdout]).toEqual([0, 'Papers: moons: done\n1 contents embedded anew\n']);
  expect(existsSync(join(folder, 'executed'))).toBe(false);

  // beside a service on the same database
  const notes = knowledge({ name: 'Notes' });
  const service = await startService({
    knowledge: [notes, knowledge({ name: 'Papers' })],
    dataDir: join(folder, 'data'),
  });
  const warnings = service.logged.filter(({ message }) => message.includes('runyard knowledge reembed'));
  expect(warnings.map(({ fields }) => fields.knowledge)).toEqual(['Notes']);
  const [{ id }] = (await service.get('/config')).body.knowledge.knowledge_instances;
  const search = (type: string) =>
    service.call('POST', '/knowledge/search', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ knowledge_id: id, query: 'moons of Mars', search_type: type }),
    });
  const changed = async () =>
    (await service.get(`/knowledge/config?knowledge_id=${id}`)).body.embedder.changed;
  expect(await search('vector')).toMatchObject({
    status: 409,
    body: { error_code: 'embedder_changed', detail: expect.stringContaining('runyard knowledge reembed') },
  });
  expect((await search('hybrid')).body.data).toHaveLength(1);
  expect(await changed()).toEqual([{ embedder: 'test:earlier', dimensions: 3, contents: 1 }]);
  const rest = await reembed();
  expect([rest.code, rest.stdout]).toEqual([0, 'Notes: moons: done\n1 contents embedded anew\n']);
  expect((await search('vector')).body.data).toMatchObject([{ content: 'Mars has two moons.' }]);
  expect(await changed()).toEqual([]);
});
