import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { promptInjectionGuardrail } from '../../../src/guardrails.js';
import { agent, knowledge, step, team, tool, toolkit, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { Gatehouse, type Holder } from '../../support/clients/tokens.js';
import type { Body } from '../../support/service.js';

const secret = 'sk-0123456789abcdefghijklmnop';
const model = scriptedModel([]);
const lookUp = tool({
  name: 'look_up',
  description: 'Looks a city up.',
  inputSchema: z.object({ city: z.string(), days: z.number().optional() }),
  outputSchema: z.object({ sun: z.boolean() }),
  requiresConfirmation: true,
  execute: () => {
    void secret;
    return { sun: true };
  },
});
const add = tool({ name: 'add', description: 'Adds.', execute: () => 1 });

let house: Gatehouse;
let admin: Holder;
beforeAll(async () => {
  const plain = agent({
    id: 'plain',
    name: 'Plain',
    description: 'Answers.',
    model,
    tools: [lookUp],
    outputSchema: z.object({ answer: z.string() }).meta({ title: 'Answer' }),
    preHooks: [promptInjectionGuardrail(), { name: 'trim', run: () => undefined }],
    updateMemoryOnRun: true,
    enableSessionSummaries: true,
    knowledge: knowledge({ name: 'handbook', embedder: 'offline', maxResults: 4 }),
  });
  const hidden = agent({ id: 'hidden', name: 'Hidden', model: 'openai:gpt-5-mini' });
  house = await Gatehouse.shared({
    agents: [plain, hidden],
    teams: [team({ id: 'desk', name: 'Desk', model, members: [plain] })],
    workflows: [workflow({ id: 'w', steps: [step({ name: 's', run: function research() {} })] })],
    registry: {
      tools: [toolkit({ name: 'sums', tools: [add] })],
      functions: {
        isEnough: (_a: unknown, _b: unknown) => true,
        Ähnlich: () => 1,
        '😀': () => 1,
        '\uffee': () => 1,
      },
    },
  });
  admin = await house.admin();
});
afterAll(() => house.service.stop());

const read = async (query = '', holder = admin): Promise<Body> =>
  (await holder.get(`/registry?limit=100${query}`)).body;
const one = async (type: string, name: string): Promise<Body> =>
  (await read(`&resource_type=${type}`)).data.find((entry: Body) => entry.name === name);

describe('GET /registry', () => {
  test('lists what the code registers and uses, by type and name', async () => {
    const { data, meta } = await read();
    const shown = data.map(({ type, name }: Body) => `${type} ${name}`);
    expect(shown).toEqual([
      'agent Hidden',
      'agent Plain',
      'db default',
      'embedder offline',
      'function isEnough',
      'function research',
      'function Ähnlich',
      'function \uffee',
      'function 😀',
      'guardrail prompt_injection_guardrail',
      'hook trim',
      'knowledge handbook',
      'memory_manager plain',
      'model gpt-5-mini',
      'model scripted',
      'schema Answer',
      'session_summary_manager plain',
      'team Desk',
      'tool look_up',
      'tool sums',
      'vector_db default',
    ]);
    expect(meta).toMatchObject({ page: 1, limit: 100, total_pages: 1, total_count: shown.length });
    expect(meta.search_time_ms).toBeGreaterThan(0);
  });

  test('says of each what a client needs to refer to it', async () => {
    expect(await one('tool', 'look_up')).toEqual({
      name: 'look_up',
      type: 'tool',
      description: 'Looks a city up.',
      metadata: {
        class_path: 'runyard.Tool',
        is_toolkit: false,
        module: 'application',
        qualname: 'look_up',
        has_entrypoint: true,
        parameters: expect.objectContaining({ type: 'object', required: ['city'] }),
        signature: '(city: string, days?: number)',
        return_annotation: 'object',
        requires_confirmation: true,
      },
    });
    const kit = await one('tool', 'sums');
    expect(kit.metadata).toMatchObject({
      is_toolkit: true,
      functions: [{ name: 'add', description: 'Adds.', signature: '()' }],
    });
    expect((await one('model', 'gpt-5-mini')).metadata).toMatchObject({
      model_id: 'gpt-5-mini',
      provider: 'OpenAI',
    });
    expect((await one('schema', 'Answer')).metadata.schema).toMatchObject({
      properties: { answer: { type: 'string' } },
    });
    expect((await one('function', 'isEnough')).metadata).toMatchObject({
      has_entrypoint: true,
      signature: '(argument1: unknown, argument2: unknown)',
    });
    expect(await one('agent', 'Plain')).toMatchObject({
      id: 'plain',
      description: 'Answers.',
      metadata: { id: 'plain' },
    });
    expect((await one('knowledge', 'handbook')).metadata).toMatchObject({
      max_results: 4,
      vector_db_class: expect.any(String),
    });
    expect((await one('memory_manager', 'plain')).metadata).toMatchObject({
      owner_id: 'plain',
      owner_type: 'agent',
      add_memories: true,
    });
    expect((await one('session_summary_manager', 'plain')).metadata).toMatchObject({ model_id: 'scripted' });
  });

  test('shows neither code nor secrets nor where a database is', async () => {
    const { text } = await admin.get('/registry?limit=100');
    expect(text).not.toMatch(/sk-0123|=>|function research|sqlite:|runyard\.db|"owner"/);
  });

  test('filters by type and by a part of the name, in pages', async () => {
    const names = async (query: string) => (await read(query)).data.map(({ name }: Body) => name);
    expect(await names('&resource_type=model')).toEqual(['gpt-5-mini', 'scripted']);
    expect(await names('&name=%20LOOK%20')).toEqual(['look_up']);
    expect(await names('&name=add')).toEqual([]);
    const { data, meta } = (await admin.get('/registry?resource_type=function&limit=2&page=2')).body;
    expect(data.map(({ name }: Body) => name)).toEqual(['Ähnlich', '\uffee']);
    expect(meta).toMatchObject({ page: 2, limit: 2, total_pages: 3, total_count: 5 });
    const { status, body } = await admin.get('/registry?resource_type=robot');
    expect([status, body.detail[0]]).toMatchObject([422, { type: 'enum', loc: ['query', 'resource_type'] }]);
    expect((await admin.get('/registry?limit=101')).status).toBe(422);
  });

  test('needs registry:read, and shows the agents and teams that the caller may see or run', async () => {
    const without = await (await house.person('eve', ['config:read'])).get('/registry');
    expect([without.status, without.body.detail]).toEqual([403, expect.stringContaining('registry:read')]);
    const ada = await house.person('ada', ['registry:read', 'agents:plain:run']);
    const { data, meta } = await read('', ada);
    const owned = data
      .filter(({ type }: Body) => /agent|team|manager/.test(type))
      .map(({ name }: Body) => name);
    expect(owned).toEqual(['Plain', 'plain', 'plain']);
    expect(meta.total_count).toBe(data.length);
  });
});
