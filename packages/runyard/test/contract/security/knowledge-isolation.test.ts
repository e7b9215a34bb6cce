import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  agent,
  agentFactory,
  step,
  knowledge as storedKnowledge,
  team,
  tool,
  workflow,
} from '../../../src/index.js';
import type { ScriptedTurn } from '../../../src/testing.js';
import { everydayScopes, Gatehouse } from '../../support/clients/tokens.js';
import { knowledgeDouble, type Page } from '../../support/components/knowledge-double.js';
import { answered } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Body } from '../../support/service.js';

const pages: Page[] = [
  { name: 'acme plan', content: 'Acme buys a ship.', metadata: { tenant: 'acme', kind: 'plan' } },
  {
    name: 'evil plan',
    content: 'Evil buys the moon.',
    metadata: { tenant: 'evil', kind: 'plan', lair: 'moon' },
  },
  { name: 'unmarked', content: 'Nobody knows.', metadata: { kind: 'plan' } },
];
const bound = { claimFilters: { tenant: 'org' } };
const { knowledge, added, searches } = knowledgeDouble(pages, bound);
const stored = storedKnowledge({
  name: 'stored',
  ...bound,
  contents: pages.map(({ content: text, ...page }) => ({ ...page, from: { text } })),
});
/** A model that tries to see the documents of another tenant, in every way that it has. */
const greedy: ScriptedTurn[] = [
  { toolCalls: [{ name: 'search_knowledge_base', arguments: { query: 'everything of tenant evil' } }] },
  {
    toolCalls: [
      {
        name: 'search_knowledge_base',
        arguments: { query: 'plans', filters: [{ key: 'tenant', value: 'evil' }] },
      },
      {
        name: 'search_knowledge_base',
        arguments: { query: 'plans', filters: [{ key: 'kind', value: 'plan' }] },
      },
    ],
  },
  'Done.',
];
const wide = {
  op: 'OR',
  conditions: [
    { op: 'EQ', key: 'tenant', value: 'evil' },
    { op: 'EQ', key: 'kind', value: 'plan' },
  ],
};

const filters: unknown[] = [];
const book = new ScriptBook();
let house: Gatehouse;

beforeAll(async () => {
  const settings = { model: book.model, knowledge, agenticKnowledgeFilters: true, updateKnowledge: true };
  const reader = agent({ id: 'a', ...settings });
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, execute: () => 'paid' });
  house = await Gatehouse.shared({
    agents: [
      reader,
      agent({ id: 'payer', ...settings, tools: [pay] }),
      agent({
        id: 'context',
        model: book.model,
        knowledge,
        searchKnowledge: false,
        addKnowledgeToContext: true,
      }),
      agent({ id: 'stored', ...settings, knowledge: stored }),
      agent({
        id: 'own-search',
        ...settings,
        agenticKnowledgeFilters: false,
        knowledgeRetriever: (_query, { filter }) => {
          filters.push(filter);
          return [];
        },
      }),
      agentFactory({ id: 'f', build: () => agent({ id: 'f', ...settings }) }),
    ],
    teams: [team({ id: 't', model: book.model, members: [reader] })],
    workflows: [workflow({ id: 'w', steps: [step({ name: 's', agent: reader })] })],
    userIsolation: true,
  });
});
afterAll(() => house.service.stop());

const claims = (sub: string, org?: unknown) => ({
  sub,
  scopes: everydayScopes,
  ...(org !== undefined && { org }),
});
const foundIn = (body: Body): string[] =>
  [
    ...new Set(
      (body.references ?? []).flatMap(({ references }: Body) => references.map(({ name }: Body) => name)),
    ),
  ] as string[];

test('a caller finds what the claim allows, whatever the caller and the model ask for', async () => {
  const ada = await house.holder(claims('ada', 'acme'));
  for (const knowledge_filters of [undefined, JSON.stringify({ tenant: 'evil' }), JSON.stringify(wide)]) {
    const { body } = await ada.run('a', { message: book.write('Show all', ...greedy), knowledge_filters });
    expect(body.status).toBe('completed');
    expect(foundIn(body)).toEqual(knowledge_filters?.includes('OR') === false ? [] : ['acme plan']);
  }
  expect(JSON.stringify(book.requests('Show all'))).not.toContain('Evil');
  const shown = await ada.run('context', { message: 'Show the plans' });
  expect(foundIn(shown.body)).toEqual(['acme plan']);
});

test('the same holds for knowledge in a database', async () => {
  const found = async (org: string | undefined, message: string) => {
    const holder = await house.holder(claims('ada', org));
    return foundIn((await holder.run('stored', { message: book.write(message, ...greedy) })).body);
  };
  expect(await found('acme', 'As acme')).toEqual(['acme plan']);
  expect(await found('evil', 'As evil')).toEqual(['evil plan']);
  const requestFor = (message: string) => JSON.stringify(book.requests(message)[0]);
  expect(requestFor('As acme')).toContain('Known keys: kind, tenant.');
  expect(requestFor('As evil')).toContain('Known keys: kind, lair, tenant.');
  expect(await found(undefined, 'As none')).toEqual([]);
  expect(requestFor('As none')).not.toContain('Known keys');
  const admin = await house.admin();
  const all = await admin.run('stored', { message: book.write('As admin of all', ...greedy) });
  expect(foundIn(all.body)).toHaveLength(3);
});

test.each([
  ['no claim', claims('bob')],
  ['a claim that is a list', claims('bob', ['acme', 'evil'])],
  ['an empty claim', claims('bob', '')],
  ['a claim that is an object', claims('bob', { tenant: 'acme' })],
])('a caller with %s finds nothing and adds nothing', async (_, token) => {
  const bob = await house.holder(token);
  const before = [searches.length, added.length];
  const call = { name: 'add_to_knowledge', arguments: { query: 'q', result: 'r' } };
  const { body } = await bob.run('a', {
    message: book.write('Try', ...greedy.slice(0, 2), { toolCalls: [call] }, 'Done.'),
  });
  expect(body).not.toHaveProperty('references');
  expect(body.tools.at(-1)).toMatchObject({
    tool_call_error: true,
    result: expect.stringContaining('Not added'),
  });
  expect([searches.length, added.length]).toEqual(before);
});

test('a function that searches gets the condition of the claim, and is not asked for a caller without it', async () => {
  const asks = async (org: string | undefined, message: string) => {
    const holder = await house.holder(claims('ada', org));
    await holder.run('own-search', { message: book.write(message, greedy[0]!, 'Done.') });
  };
  await asks('acme', 'Search for acme');
  await asks(undefined, 'Search for none');
  expect(filters).toEqual([{ op: 'EQ', key: 'tenant', value: 'acme' }]);
});

test('a service account is isolated too, and an admin is not', async () => {
  const account = await house.account('robot', 'agents:run');
  const { body } = await account.run('a', { message: book.write('As robot', ...greedy) });
  expect(foundIn(body)).toEqual([]);
  const admin = await house.admin();
  const all = await admin.run('a', { message: book.write('As admin', ...greedy) });
  expect(foundIn(all.body)).toHaveLength(3);
});

test('what a run adds has the value of the claim', async () => {
  const ada = await house.holder(claims('ada', 'acme'));
  const call = { name: 'add_to_knowledge', arguments: { query: 'tenant evil', result: 'r' } };
  await ada.run('a', { message: book.write('Add', { toolCalls: [call] }, 'Done.') });
  expect(added.at(-1)?.metadata).toEqual({ tenant: 'acme' });
});

test('members, steps and agents of a factory are bound as the run around them', async () => {
  const ada = await house.holder(claims('ada', 'acme'));
  const task = book.write('Look', ...greedy);
  const ask = { name: 'delegate_task_to_member', arguments: { member_id: 'a', task } };
  const asked = await ada.submit('/teams/t/runs', {
    message: book.write('Lead', { toolCalls: [ask] }, 'Done.'),
  });
  expect(foundIn(asked.body.member_responses[0])).toEqual(['acme plan']);
  const flow = await ada.submit('/workflows/w/runs', { message: book.write('Flow', ...greedy) });
  expect(foundIn(flow.body.step_executor_runs[0])).toEqual(['acme plan']);
  const built = await ada.run('f', { message: book.write('Build', ...greedy) });
  expect(foundIn(built.body)).toEqual(['acme plan']);
});

test('a run that an admin continues stays bound to its own caller; its owner is bound by the token of now', async () => {
  const ada = await house.holder(claims('ada', 'acme'));
  const moved = await house.holder(claims('ada', 'evil'));
  const pays = async (message: string) => {
    const { body } = await ada.run('payer', {
      message: book.write(message, { toolCalls: [{ id: 'p', name: 'pay' }] }, ...greedy),
    });
    expect(body.status).toBe('paused');
    return body;
  };
  const path = ({ run_id }: Body) => `/agents/payer/runs/${run_id}/continue`;
  const first = await pays('Pay, then look');
  const byAdmin = await (await house.admin()).submit(path(first), {
    tools: answered(first, { p: { confirmed: true } }),
  });
  expect(foundIn(byAdmin.body)).toEqual(['acme plan']);
  const second = await pays('Pay, then look again');
  const byOwner = await moved.submit(path(second), { tools: answered(second, { p: { confirmed: true } }) });
  expect(foundIn(byOwner.body)).toEqual(['evil plan']);
});

test('only the claims that knowledge is bound to are stored with a run', async () => {
  const ada = await house.holder({ ...claims('ada', 'acme'), email: 'ada@secret.example' });
  const { body } = await ada.run('a', { message: 'Hello there' });
  expect(JSON.stringify(body)).not.toContain('secret.example');
  const stored = await ada.get(`/agents/a/runs/${body.run_id}?session_id=${body.session_id}`);
  expect(stored.text).not.toContain('acme');
});
