import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent, step, team, workflow } from '../../../src/index.js';
import type { ScriptedTurn } from '../../../src/testing.js';
import { knowledgeDouble } from '../../support/components/knowledge-double.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';

const { knowledge, searches } = knowledgeDouble([
  { name: 'moons', content: 'Mars has two moons.', metadata: { planet: 'mars' } },
  { name: 'rings', content: 'Saturn has rings.', metadata: { planet: 'saturn' } },
]);
const search = (query: string): ScriptedTurn => ({
  toolCalls: [{ name: 'search_knowledge_base', arguments: { query } }],
});
const rings = { name: 'rings', content: 'Saturn has rings.', meta_data: { planet: 'saturn' } };

const book = new ScriptBook();
let service: TestService;

beforeAll(async () => {
  const knowing = {
    model: book.model,
    knowledge,
    knowledgeFilters: { planet: 'saturn' },
    agenticKnowledgeFilters: true,
    updateKnowledge: true,
    referencesFormat: 'yaml' as const,
  };
  const plain = agent({ id: 'plain', model: book.model, knowledge });
  service = await TestService.start({
    agents: [agent({ id: 'a', ...knowing }), plain],
    teams: [team({ id: 't', ...knowing, members: [plain] })],
    workflows: [workflow({ id: 'w', steps: [step({ name: 's', agent: plain })] })],
  });
});
afterAll(() => service.stop());

test('an agent and a team show their knowledge', async () => {
  for (const path of ['/agents/a', '/teams/t']) {
    const { body } = await service.get(path);
    expect(body.knowledge).toEqual({
      db_id: body.db_id,
      knowledge_table: 'knowledge_contents',
      names: ['pages'],
      enable_agentic_knowledge_filters: true,
      knowledge_filters: { planet: 'saturn' },
      references_format: 'yaml',
    });
    expect(body.default_tools).toMatchObject({ update_knowledge: true });
    const names = body.tools.tools.map(({ name }: Body) => name);
    expect(names).toEqual(expect.arrayContaining(['search_knowledge_base', 'add_to_knowledge']));
  }
  const { body } = await service.get('/agents/plain');
  expect(body.knowledge).toEqual({
    db_id: body.db_id,
    knowledge_table: 'knowledge_contents',
    names: ['pages'],
  });
  expect(body.default_tools).toBeUndefined();
});

test('a run has its references, as it is answered, stored and listed', async () => {
  const message = book.write('Which have rings?', search('rings'), 'Saturn.');
  const { body } = await service.run('a', { message, session_id: 's' });
  const references = [{ query: 'rings', references: [rings], time: expect.any(Number) }];
  expect(body).toMatchObject({ content: 'Saturn.', references });
  const stored = await service.get(`/agents/a/runs/${body.run_id}?session_id=s`);
  expect(stored.body.references).toEqual(body.references);
  const listed = await service.get('/agents/a/runs?session_id=s');
  expect(listed.body[0].references).toEqual(body.references);
  const without = await service.run('a', { message: 'Hello' });
  expect(without.body).not.toHaveProperty('references');
});

test('a stream has the references once before its end, with the first content after the search', async () => {
  const message = book.write('Stream', search('rings'), 'It is the planet Saturn.');
  const stream = await (await service.stream('a', { message })).end();
  const carrying: Body[] = stream.events.filter(({ references }) => references !== undefined);
  expect(carrying.map(({ event, references }) => [event, references])).toEqual([
    ['RunContent', [expect.objectContaining({ query: 'rings' })]],
    ['RunCompleted', [expect.objectContaining({ query: 'rings' })]],
  ]);
  const content = stream.all('RunContent');
  expect(content.length).toBeGreaterThan(2);
  expect(carrying[0]).toBe(content[0]);
});

test('the runs inside a team and a workflow have theirs', async () => {
  const task = book.write('Look it up', search('x'), 'Found.');
  const ask = { name: 'delegate_task_to_member', arguments: { member_id: 'plain', task } };
  const message = book.write('Ask', { toolCalls: [ask] }, 'Done.');
  const asked = await service.submit('/teams/t/runs', { message, stream: false });
  expect(asked.body.references).toBeUndefined();
  expect(asked.body.member_responses[0].references).toMatchObject([{ query: 'x' }]);
  book.write('Flow', search('y'), 'Found.');
  const flow = await service.submit('/workflows/w/runs', { message: 'Flow', stream: false });
  expect(flow.body.step_executor_runs[0].references).toMatchObject([{ query: 'y' }]);
});

test('a filter of the caller restricts the search, and one that cannot be read starts nothing', async () => {
  const message = book.write('Filtered', search('x'), 'Done.');
  const filter = { op: 'EQ', key: 'planet', value: 'mars' };
  const { body } = await service.run('plain', { message, knowledge_filters: JSON.stringify(filter) });
  expect(body.references[0].references.map(({ name }: Body) => name)).toEqual(['moons']);
  const before = [searches.length, book.model.requests.length];
  for (const unreadable of [
    '{"op":"LIKE","key":"planet","value":"m"}',
    '[{"planet":"mars"}]',
    '7',
    '{"a":',
  ]) {
    const answer = await service.run('plain', {
      message: 'x',
      session_id: 'no',
      knowledge_filters: unreadable,
    });
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(['body', 'knowledge_filters']);
  }
  expect([searches.length, book.model.requests.length]).toEqual(before);
  expect((await service.get('/sessions/no')).status).toBe(404);
});
