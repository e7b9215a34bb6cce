import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agent, knowledge } from '../../../src/index.js';
import { version } from '../../../src/platform/version.js';
import { scriptedModel } from '../../../src/testing.js';
import { Gatehouse } from '../../support/clients/tokens.js';
import { startService } from '../../support/service.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const someAgents = () => [
  agent({ id: 'first', name: 'First', description: 'Greets', model: scriptedModel(['hi'], { id: 'one' }) }),
  agent({
    id: 'second',
    model: scriptedModel(['hi'], { id: 'two', provider: 'Elsewhere' }),
    metadata: { team: 'red' },
    database: 'archive',
    knowledge: knowledge({ name: 'Facts' }),
  }),
  agent({ id: 'third', model: scriptedModel(['hi'], { id: 'one' }) }),
];

test('says that it is healthy and since when', async () => {
  const before = Date.now();
  const service = await startService({ agents: [] });
  const { status, body } = await service.get('/health');
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'ok', instantiated_at: expect.stringMatching(/^\d{4}-.*Z$/) });
  expect(Date.parse(body.instantiated_at)).toBeGreaterThanOrEqual(before - 1000);
  expect((await service.get('/health')).body).toEqual(body);
});

test('names itself at the root', async () => {
  const service = await startService({ name: 'Yard', id: 'yard-1', agents: [] });
  const { status, body } = await service.get('/');
  expect(status).toBe(200);
  expect(body).toEqual({ name: 'Yard API', id: 'yard-1', version });
});

test('returns the facts that a client needs before it logs in', async () => {
  const service = await startService({ name: 'Yard', agents: [agent({ id: 'a', model: 'offline' })] });
  const { body } = await service.get('/info');
  expect(body).toEqual({
    os_id: expect.stringMatching(uuid),
    name: 'Yard',
    product: 'Runyard',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    agno_version: version,
    agent_count: 1,
    team_count: 0,
    workflow_count: 0,
    mcp: { enabled: false, path: null, oauth: null },
    auth_mode: 'none',
    runs: { executing: 0, waiting: 0, max_executing: expect.any(Number), max_waiting: expect.any(Number) },
    orphaned_runs: { count: 0, components: [] },
  });
});

test('keeps its identity over restarts and has the same one everywhere', async () => {
  const ids = [];
  for (let round = 0; round < 2; round += 1) {
    const service = await startService({ name: 'Yard', agents: [] });
    ids.push((await service.get('/info')).body.os_id, (await service.get('/config')).body.os_id);
    ids.push((await service.get('/')).body.id);
  }
  expect(new Set(ids).size).toBe(1);
});

test('shows what is registered', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const databases = { archive: `sqlite://${folder}/archive.db` };
  const service = await startService({ agents: someAgents(), databases, description: 'A yard' });
  const { body: second } = await service.get('/agents/second');
  expect([second.db_id, second.knowledge.db_id]).toEqual(['archive', 'default']);
  const { body } = await service.get('/config');
  expect(body).toMatchObject({ description: 'A yard', os_database: 'default', teams: [], workflows: [] });
  expect(body.databases.sort()).toEqual(['archive', 'default']);
  expect(body.interfaces).toEqual([]);
  expect(body.agents).toEqual([
    {
      id: 'first',
      name: 'First',
      description: 'Greets',
      db_id: 'default',
      model: { id: 'one', provider: 'Runyard' },
    },
    {
      id: 'second',
      name: 'second',
      db_id: 'archive',
      model: { id: 'two', provider: 'Elsewhere' },
      metadata: { team: 'red' },
    },
    { id: 'third', name: 'third', db_id: 'default', model: { id: 'one', provider: 'Runyard' } },
  ]);
  expect(body.session.dbs).toContainEqual({
    db_id: 'default',
    domain_config: { display_name: 'default' },
    tables: expect.any(Array),
  });
  expect(JSON.stringify(body)).not.toContain(folder);
});

test('shows what clients display, as far as the caller may see it', async () => {
  const gatehouse = await Gatehouse.open({
    agents: someAgents().map(({ settings }) => agent({ ...settings, database: undefined })),
    manifest: {
      first: { description: 'Says hello', labels: ['demo'], quickPrompts: ['Hello', 'Who are you?'] },
      second: { labels: ['hidden'] },
      stored: { quickPrompts: ['Stored'] },
    },
    displayNames: { sections: { session: 'Chats', knowledge: 'Documents' }, databases: { default: 'Main' } },
    availableModels: ['one', 'large'],
  });
  const seenWith = async (...scopes: string[]) => {
    const caller = await gatehouse.person('ada', scopes);
    return { config: (await caller.get('/config')).body, info: (await caller.get('/info')).body };
  };
  const { config, info } = await seenWith('agent_os:admin');
  expect(config).toMatchObject({
    available_models: ['one', 'large'],
    chat: { quick_prompts: { first: ['Hello', 'Who are you?'], stored: ['Stored'] } },
    manifest: {
      first: { description: 'Says hello', labels: ['demo'], quick_prompts: ['Hello', 'Who are you?'] },
      second: { labels: ['hidden'] },
    },
    session: { display_name: 'Chats', dbs: [{ db_id: 'default', domain_config: { display_name: 'Main' } }] },
    knowledge: { display_name: 'Documents', dbs: [{ domain_config: { display_name: 'Main' } }] },
    memory: { dbs: [{ tables: ['memories'] }] },
  });
  expect(info.agent_count).toBe(3);
  const few = await seenWith('config:read', 'agents:first:read');
  expect(Object.keys(few.config.manifest)).toEqual(['first']);
  expect(few.config.chat.quick_prompts).toEqual({ first: ['Hello', 'Who are you?'] });
  expect(few.info.agent_count).toBe(1);
});

test('lists each model once, those of plain agents too', async () => {
  const service = await startService({
    agents: someAgents().map(({ settings }) => agent({ ...settings, database: undefined })),
  });
  const { body } = await service.get('/models');
  expect(body).toEqual([
    { id: 'one', provider: 'Runyard' },
    { id: 'two', provider: 'Elsewhere' },
  ]);
});

test('sends no null in the answers that leave nulls out', async () => {
  const service = await startService({ agents: [agent({ id: 'a', model: 'offline' })] });
  for (const path of ['/config', '/models', '/agents', '/agents/a']) {
    expect((await service.get(path)).text, path).not.toContain('null');
  }
});
