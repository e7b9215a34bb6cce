import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { exportService, exportTo } from '../../src/cli/transfer/export.js';
import { readThings } from '../../src/cli/transfer/folder.js';
import { importFrom, importService } from '../../src/cli/transfer/import.js';
import { inThisProcess, TransferService } from '../../src/cli/transfer/service.js';
import { chosenKinds } from '../../src/cli/transfer/transfer-kinds.js';
import { silentLog } from '../../src/core/log.js';
import { knowledge, Runyard, type RunyardOptions } from '../../src/index.js';
import { tokenSettings } from '../support/clients/tokens.js';
import { freshPostgres, preparedSqlite } from '../support/databases.js';
import { type Body, TestService } from '../support/service.js';
import { linkPackages, project, run } from './support.js';

const config = { name: 'Greeter', model: 'offline', instructions: 'Greet the user.' };
let source: TestService;
let files: string;
const texts = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

async function post(path: string, body: object): Promise<Body> {
  const headers = { 'content-type': 'application/json' };
  const answer = await source.call('POST', path, { headers, body: JSON.stringify(body) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

beforeAll(async () => {
  source = await TestService.start({ knowledge: [knowledge({ name: 'Handbook' })] });
  files = join(source.app.settings.dataDir, 'files');
  await post('/components', { name: 'Greeter', component_type: 'agent', config, stage: 'published' });
  await post('/components/greeter/configs', {
    config: { ...config, role: 'Host' },
    stage: 'published',
    notes: 'Has a role.',
  });
  await post('/components', {
    ...{
      name: 'A desk',
      component_id: 'desk',
      component_type: 'team',
      description: 'Answers.',
      stage: 'published',
    },
    config: { model: 'offline', members: [{ type: 'agent', agent_id: 'greeter' }] },
  });
  await post('/components', {
    ...{ name: 'Flow', component_id: 'flow', component_type: 'workflow' },
    config: { steps: [{ name: 'ask', team_id: 'desk' }] },
  });
  await post('/schedules', {
    ...{ name: 'New year', cron_expr: '0 0 1 1 *', endpoint: '/agents/greeter/runs' },
    payload: { message: 'Hello' },
  });
  const { id } = await post('/datasets', { name: 'questions', description: 'Asked in May' });
  await post(`/datasets/${id}/cases`, {
    cases: [
      { id: 'a', input: 'Hi?', expected_output: 'Hi!' },
      { id: 'b', input: 'Bye?' },
    ],
  });
  await source.submit('/knowledge/content', {
    url: 'http://127.0.0.1:9/page',
    name: 'page',
    metadata: { lang: 'en' },
  });
  await quietly(() => exportService(files, { url: source.url }));
});
afterAll(() => source.stop());

/** What a command prints. */
async function quietly(work: () => Promise<void>): Promise<string[]> {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  try {
    await work();
    return printed.mock.calls.map(([line]) => String(line));
  } finally {
    printed.mockRestore();
  }
}

/** Another stage, as a command that has the entry of the service opens it. */
async function stage(
  options: RunyardOptions = {},
): Promise<{ app: Runyard; service: TransferService; folder: string }> {
  const folder = project({});
  writeFileSync(join(folder, 'runyard.db'), await preparedSqlite());
  const app = new Runyard({
    knowledge: [knowledge({ name: 'Handbook' })],
    dataDir: folder,
    log: silentLog,
    ...options,
  });
  const service = new TransferService(inThisProcess(app));
  onTestFinished(() => service.close());
  return { app, service, folder: join(folder, 'files') };
}

const kinds = chosenKinds(undefined);
const all = { dryRun: false, prune: false };
const got = async (service: TransferService, path: string): Promise<Body> => service.get(path);

describe('runyard export and import', () => {
  test('an export is a readable file for each thing, without ids of the stage', () => {
    const exported = texts(files);
    expect(Object.keys(exported)).toEqual([
      'components/desk.json',
      'components/flow.json',
      'components/greeter.json',
      'datasets/questions.json',
      'knowledge/Handbook--page.json',
      'schedules/New-year.json',
    ]);
    expect(JSON.parse(exported['components/greeter.json'] ?? '')).toEqual({
      component_id: 'greeter',
      component_type: 'agent',
      name: 'Greeter',
      versions: [
        { current: true, stage: 'published', notes: 'Has a role.', config: { ...config, role: 'Host' } },
      ],
    });
    expect(JSON.parse(exported['components/desk.json'] ?? '').versions[0].links).toEqual([
      {
        ...{ link_kind: 'member', link_key: 'member_0', child_component_id: 'greeter' },
        child_config_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(JSON.parse(exported['knowledge/Handbook--page.json'] ?? '')).toEqual({
      knowledge: 'Handbook',
      name: 'page',
      metadata: { lang: 'en' },
      from: { url: 'http://127.0.0.1:9/page' },
    });
    expect(exported['schedules/New-year.json']).toMatch(/^\{\n {2}"name": "New year",\n {2}"cron_expr"/);
    expect(Object.values(exported).join()).not.toMatch(/created_at|revision|"id": "[0-9a-f-]{36}"/);
  });

  test('an import brings everything to another stage, once, and an export from there is the same', async () => {
    const { service, folder } = await stage();
    const dry = await quietly(() => importFrom(files, service, kinds, { ...all, dryRun: true }));
    expect(dry).toContain('components: team desk: would be created');
    expect(dry.at(-1)).toBe('Dry run: 6 created, 0 changed, 0 unchanged.');
    expect((await got(service, '/components')).data).toEqual([]);

    const first = await quietly(() => importFrom(files, service, kinds, all));
    expect(first).toEqual([
      'components: agent greeter: created',
      'components: team desk: created',
      'components: workflow flow: created',
      'knowledge: Handbook: page: created',
      'datasets: questions: created',
      'schedules: New year: created',
      '6 created, 0 changed, 0 unchanged.',
    ]);
    const second = await quietly(() => importFrom(files, service, kinds, all));
    expect(second).toEqual(['0 created, 0 changed, 6 unchanged.']);
    await quietly(() => exportTo(folder, service, kinds, { allVersions: false, prune: false }));
    expect(texts(folder)).toEqual(texts(files));
    expect(await got(service, '/components/greeter')).toMatchObject({ current_version: 1 });
  });

  test('an import that was interrupted in a team is completed by the next one, on PostgreSQL too', async () => {
    const { service, folder } = await stage({ database: (await freshPostgres()).url });
    // as if the process had ended before it pinned the members: nothing is tidied up
    const dead = vi.spyOn(service, 'send').mockImplementation(async (method, path, ...rest) => {
      if (method !== 'POST' && path.startsWith('/components/desk')) throw new Error('killed');
      return TransferService.prototype.send.call(service, method, path, ...rest);
    });
    await quietly(() => expect(importFrom(files, service, kinds, all)).rejects.toThrow('killed'));
    dead.mockRestore();
    expect((await got(service, '/components/desk')).current_version).toBeUndefined();
    await quietly(() => importFrom(files, service, kinds, all));
    expect(await got(service, '/components/desk/configs')).toMatchObject([
      { version: 1, stage: 'published' },
    ]);
    const again = await quietly(() => importFrom(files, service, kinds, all));
    expect(again).toEqual(['0 created, 0 changed, 6 unchanged.']);
    await quietly(() => exportTo(folder, service, kinds, { allVersions: false, prune: false }));
    expect(texts(folder)).toEqual(texts(files));
  });

  test('all versions are moved with the one that is current', async () => {
    const { service, folder } = await stage();
    await quietly(() => exportService(folder, { url: source.url, allVersions: true, only: 'components' }));
    await quietly(() => importFrom(folder, service, kinds, all));
    const versions: Body[] = await got(service, '/components/greeter/configs');
    expect(versions.map(({ version, config: { role } }) => [version, role])).toEqual([
      [2, 'Host'],
      [1, undefined],
    ]);
    const chosen = chosenKinds('components');
    // the newest version of the team pins nothing, and an older one of the agent is current
    const { config: team } = await got(service, '/components/desk/configs/1');
    await service.send('POST', '/components/desk/configs', { config: team, stage: 'published' });
    await service.send('POST', '/components/greeter/configs/1/set-current');
    // what is a draft there is to be published
    const flow = readFileSync(join(folder, 'components/flow.json'), 'utf8');
    writeFileSync(join(folder, 'components/flow.json'), flow.replace('"draft"', '"published"'));
    expect(await quietly(() => importFrom(folder, service, chosen, all))).toEqual([
      'components: agent greeter: changed: current version 2',
      'components: team desk: changed: current version 1',
      'components: workflow flow: changed: a new version',
      '0 created, 3 changed, 0 unchanged.',
    ]);
    expect(await got(service, '/components/greeter')).toMatchObject({ current_version: 2 });
    const desk = readFileSync(join(folder, 'components/desk.json'), 'utf8');
    writeFileSync(
      join(folder, 'components/also.json'),
      readFileSync(join(folder, 'components/greeter.json')),
    );
    writeFileSync(
      join(folder, 'components/desk.json'),
      desk.replace(/"child_config_sha256": "\w+"/, '"child_config_sha256": "0"'),
    );
    await quietly(async () => {
      const faulty = importFrom(folder, service, chosen, all);
      await expect(faulty).rejects.toThrow(/greeter\.json: is about the same as components\/also\.json/);
      const again = importFrom(folder, service, chosen, all);
      await expect(again).rejects.toThrow(
        /desk\.json: .* pins a version of greeter that the service does not/,
      );
    });
    // more than a page of them
    for (let version = 3; version <= 22; version += 1)
      await service.send('POST', '/components/greeter/configs', {
        config: { ...config, role: `${version}` },
      });
    const again = join(folder, 'again');
    await quietly(() => exportTo(again, service, chosen, { allVersions: true, prune: false }));
    const { versions: exported } = JSON.parse(texts(again)['components/greeter.json'] ?? '');
    expect(exported.map((one: Body) => one.config.role)).toEqual([
      ...[undefined, 'Host'],
      ...Array.from({ length: 20 }, (_, index) => `${index + 3}`),
    ]);
  });

  test('what differs is changed, what has a fault is named, and nothing is deleted unasked', async () => {
    const { service, folder } = await stage();
    await quietly(() => exportService(folder, { url: source.url }));
    await quietly(() => importFrom(folder, service, kinds, all));
    const edit = (name: string, change: (content: Body) => void) => {
      const content = JSON.parse(readFileSync(join(folder, name), 'utf8'));
      change(content);
      writeFileSync(join(folder, name), JSON.stringify(content));
    };
    edit('components/greeter.json', (content) => {
      content.versions[0].config.instructions = 'Be brief.';
      content.description = 'Greets.';
    });
    edit('components/desk.json', (content) => {
      content.versions[0].config.membrs = [];
    });
    edit('datasets/questions.json', (content) => content.cases.pop());
    edit('schedules/New-year.json', (content) => {
      content.cron = '* * * * *';
    });
    const broken = [
      { component_id: 'x', component_type: 'robot', versions: [{ config: {} }] },
      {
        component_id: 'y',
        component_type: 'agent',
        versions: [{ config: {}, stage: 'draft', current: true }],
      },
    ];
    for (const [index, content] of broken.entries())
      writeFileSync(join(folder, `components/z${index}.json`), JSON.stringify(content));
    rmSync(join(folder, 'components/flow.json'));
    await quietly(async () => {
      const dry = importFrom(folder, service, kinds, { ...all, dryRun: true });
      await expect(dry).rejects.toThrow(
        /^components\/desk\.json: versions\.0\.config\.membrs: is not a key of a team/,
      );
    });
    const lines: string[] = [];
    const failed = await quietly(async () => {
      await expect(importFrom(folder, service, kinds, all)).rejects.toThrow(
        /^components\/desk\.json: .*membrs.*Did you mean members.*\n.*z0\.json: component_type.*\n.*z1\.json: versions: at most one.*\nschedules\/New-year\.json: .*cron.*\n4 not imported\.$/,
      );
    });
    lines.push(...failed);
    expect(lines).toEqual([
      'components: agent greeter: changed: description, a new version (instructions)',
      'datasets: questions: changed: cases (2 before, 1 after)',
      '0 created, 2 changed, 1 unchanged.',
    ]);
    expect(await got(service, '/components/greeter')).toMatchObject({
      current_version: 2,
      description: 'Greets.',
    });
    expect(await got(service, '/components/desk')).toMatchObject({ current_version: 1 });
    for (const index of broken.keys()) rmSync(join(folder, `components/z${index}.json`));

    // a fault anywhere keeps what has no file
    const failing = (fault: RegExp) =>
      quietly(async () => {
        const pruning = importFrom(folder, service, chosenKinds('components'), { ...all, prune: true });
        await expect(pruning).rejects.toThrow(fault);
      });
    const flow = () => got(service, '/components/flow');
    const twice = join(folder, 'components/twice.json');
    const versions = ['one', 'two'].map((role) => ({ label: 'same', config: { ...config, role } }));
    writeFileSync(twice, JSON.stringify({ component_id: 'twice', component_type: 'agent', versions }));
    await failing(/twice\.json: Label 'same' already exists for twice\n2 not imported\.$/);
    await expect(got(service, '/components/twice')).rejects.toThrow('Component twice not found');
    expect(await flow()).toMatchObject({ component_id: 'flow' });
    rmSync(join(folder, 'components/desk.json'));
    writeFileSync(twice, '{');
    const greeter = readFileSync(join(folder, 'components/greeter.json'));
    edit('components/greeter.json', (content) => {
      Object.assign(content, { component_type: 'workflow', versions: [{ config: { name: 'Greeter' } }] });
    });
    await failing(
      /twice\.json: is not JSON.*\ncomponents\/greeter\.json: component_type is workflow, and that/,
    );
    expect(await flow()).toMatchObject({ component_id: 'flow' });
    rmSync(twice);
    writeFileSync(join(folder, 'components/greeter.json'), greeter);

    edit('schedules/New-year.json', (content) => {
      delete content.cron;
    });
    const pruned = await quietly(() => importFrom(folder, service, kinds, { dryRun: false, prune: true }));
    expect(pruned).toEqual([
      'components: workflow flow: deleted',
      'components: team desk: deleted',
      '0 created, 0 changed, 4 unchanged, 2 deleted.',
    ]);
  });

  test('files that are none, or in another encoding, are named, and their neighbours are read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'runyard-files-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const at = (name: string) => join(folder, 'components', name);
    mkdirSync(at('folder.json'), { recursive: true });
    // without an end
    symlinkSync('/dev/zero', at('link.json'));
    symlinkSync('nowhere', at('nowhere.json'));
    writeFileSync(at('bom.json'), '\ufeff{"name":"ü"}');
    writeFileSync(at('latin.json'), Buffer.from('{"name":"ü"}', 'latin1'));
    const noFile = 'is not a file. Links are not followed.';
    expect(await readThings(folder, 'components')).toEqual({
      files: [{ path: 'components/bom.json', content: { name: 'ü' } }],
      faults: [
        { path: 'components/folder.json', message: noFile },
        { path: 'components/latin.json', message: 'is not in UTF-8.' },
        { path: 'components/link.json', message: noFile },
        { path: 'components/nowhere.json', message: noFile },
      ],
    });
  });

  test('datasets keep their owners, and schedules call with the rights of the service', async () => {
    const [one, other] = [await stage(tokenSettings), await stage(tokenSettings)];
    await one.service.send('POST', '/datasets', { name: 'hers' }, 'ada');
    await quietly(() => exportTo(one.folder, one.service, kinds, { allVersions: false, prune: false }));
    await quietly(() => importFrom(one.folder, other.service, kinds, all));
    await quietly(() => importFrom(files, other.service, chosenKinds('components,schedules'), all));
    expect((await got(other.service, '/datasets')).data).toMatchObject([{ name: 'hers', user_id: 'ada' }]);
    expect((await got(other.service, '/schedules')).data).toMatchObject([
      { name: 'New year', created_by: '__scheduler__', enabled: true },
    ]);
    const again = await quietly(() => importFrom(one.folder, other.service, kinds, all));
    expect(again).toEqual(['0 created, 0 changed, 1 unchanged.']);
  });

  test('a secret is not written', async () => {
    const { service, folder } = await stage();
    await service.send('POST', '/schedules', {
      ...{ name: 'leaky', cron_expr: '@daily', endpoint: '/agents/x/runs' },
      payload: { api_key: 'sk-0123456789abcdefghijklmnop' },
    });
    await quietly(async () => {
      await expect(exportTo(folder, service, kinds, { allVersions: false, prune: false })).rejects.toThrow(
        /^schedules: leaky: payload\.api_key holds a secret.*\n1 not exported\.$/,
      );
    });
    expect(texts(folder)).toEqual({});
    // what was written before stays, also where things that are gone are removed
    mkdirSync(join(folder, 'schedules'), { recursive: true });
    for (const name of ['leaky', 'gone']) writeFileSync(join(folder, `schedules/${name}.json`), '{}');
    await quietly(async () => {
      const pruning = exportTo(folder, service, kinds, { allVersions: false, prune: true });
      await expect(pruning).rejects.toThrow(/1 not exported/);
    });
    expect(texts(folder)).toEqual({ 'schedules/leaky.json': '{}' });
  });

  test('the commands open the databases of the entry', async () => {
    const folder = project({
      'agents.mjs': `import { knowledge, Runyard } from 'runyard';
export const app = new Runyard({ knowledge: [knowledge({ name: 'Handbook' })] });`,
    });
    linkPackages(folder);
    const words = ['--entry', 'agents.mjs', '--data-dir', 'data'];
    const imported = await run(['import', files, ...words, '--only', 'components,schedules'], {
      cwd: folder,
    });
    expect([imported.code, imported.stderr]).toEqual([0, '']);
    expect(imported.stdout).toContain('4 created, 0 changed, 0 unchanged.');
  });

  test('a service elsewhere that refuses or is not there is named', async () => {
    await expect(importService(files, { url: 'http://127.0.0.1:9' })).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:9 cannot be reached/,
    );
    await expect(importService('nowhere', {})).rejects.toThrow(
      'There is no folder nowhere. Create one with: runyard export nowhere',
    );
    await expect(importService(files, { url: 'ftp://x' })).rejects.toThrow(/flag --url is "ftp:\/\/x"/);
    await expect(exportService(files, { url: source.url, only: 'componets' })).rejects.toThrow(/flag --only/);
  });
});
