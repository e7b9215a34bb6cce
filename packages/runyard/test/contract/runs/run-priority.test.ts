import { expect, onTestFinished, test } from 'vitest';
import { ModelPace } from '../../../src/core/models/pace/model-pace.js';
import { OwnModelTurns } from '../../../src/core/models/pace/model-turns.js';
import { withPaceOfJob } from '../../../src/core/models/pace/paced-model.js';
import { agent, step, workflow } from '../../../src/index.js';
import { openAICompatible } from '../../../src/models.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { Gatehouse } from '../../support/clients/tokens.js';
import { RunLife } from '../../support/components/run-life.js';
import { ask } from '../../support/providers/model-calls.js';
import { startModelServer } from '../../support/providers/model-server.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

test('a waiting run begins by its priority, which its component or its request sets', async () => {
  const book = new ScriptBook();
  const began: string[] = [];
  const noted = step({ name: 'noted', run: () => void began.push('workflow') });
  const service = await startService({
    agents: [
      agent({ id: 'plain', model: book.model }),
      agent({ id: 'patient', model: book.model, priority: 'low' }),
    ],
    workflows: [workflow({ id: 'steps', priority: 'high', steps: [noted] })],
    maxConcurrentRuns: 1,
  });
  const rest = gate();
  book.write('first', { text: 'first', waitFor: rest.opened });
  const asked = [
    ['plain', 'first'],
    ['patient', 'low by its agent'],
    ['plain', 'normal'],
    ['plain', 'high', 'high'],
    ['patient', 'raised', 'normal'],
  ] as const;
  const paths: string[] = [];
  for (const [id, message, priority] of asked) {
    const form = { message, background: true, ...(priority && { priority }) };
    paths.push(`/agents/${id}/runs/${(await service.run(id, form)).body.run_id}`);
  }
  const form = { message: 'x', stream: false, background: true };
  expect((await service.submit('/workflows/steps/runs', form)).status).toBe(202);
  expect(began).toEqual([]);
  rest.open();
  for (const path of paths)
    await until(`${path} is over`, async () => (await service.get(path)).body.status === 'completed');
  expect(began).toEqual(['workflow']);
  const order = book.model.requests.map(({ messages }) => messages.at(-1)?.content);
  expect(order.slice(0, 2)).toEqual(['first', 'high']);
  expect(order.at(-1)).toBe('low by its agent');
  const shown = await Promise.all(paths.map(async (path) => (await service.get(path)).body.priority));
  expect(shown).toEqual([undefined, 'low', undefined, 'high', 'normal']);
  const refused = await service.run('plain', { message: 'x', priority: 'urgent' });
  expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'priority']]);
});

test('only the holder of a scope puts others behind', async () => {
  const house = await Gatehouse.open({ agents: [agent({ id: 'plain', model: 'offline' })] });
  const ask = async (scopes: string[], priority: string) => {
    const person = await house.person('ada', scopes);
    return person.run('plain', { message: 'x', priority });
  };
  for (const priority of ['low', 'normal']) expect((await ask(['agents:run'], priority)).status).toBe(200);
  const refused = await ask(['agents:run'], 'high');
  expect([refused.status, refused.body.detail]).toEqual([
    403,
    'Insufficient permissions. Required scope(s): runs:prioritize',
  ]);
  expect((await ask(['agents:run', 'runs:prioritize'], 'high')).status).toBe(200);
});

test('a stored component does not put others behind without that scope either', async () => {
  const house = await Gatehouse.open({ agents: [agent({ id: 'plain', model: 'offline' })] });
  const writing = ['components:read', 'components:write', 'components:delete'];
  const [editor, chief] = [
    await house.person('ada', writing),
    await house.person('grace', [...writing, 'runs:prioritize']),
  ];
  const config = (priority: string) => ({ instructions: 'Answer.', priority });
  const component = (id: string, priority: string) => ({
    component_id: id,
    name: id,
    component_type: 'agent',
    config: config(priority),
  });
  const refusal = [403, 'Insufficient permissions. Required scope(s): runs:prioritize'];
  const answerOf = async (person: typeof editor, path: string, body: object, method = 'POST') => {
    const answer = await person.send(method, path, body);
    return answer.status === 403 ? [answer.status, answer.body.detail] : answer.status;
  };
  expect(await answerOf(editor, '/components', component('mine', 'high'))).toEqual(refusal);
  expect(await answerOf(editor, '/components', component('mine', 'low'))).toBe(201);
  const configs = '/components/mine/configs';
  expect(await answerOf(editor, configs, { config: config('high') })).toEqual(refusal);
  expect(await answerOf(editor, configs, { config: config('normal') })).toBe(201);
  expect(await answerOf(editor, `${configs}/2`, { config: config('high') }, 'PATCH')).toEqual(refusal);
  expect(await answerOf(chief, `${configs}/2`, { config: config('high') }, 'PATCH')).toBe(200);
  expect(await answerOf(chief, '/components', component('theirs', 'high'))).toBe(201);

  // what is stored with it does not run by the will of others either: published, made current, or restored
  expect(await answerOf(editor, `${configs}/2`, { stage: 'published' }, 'PATCH')).toEqual(refusal);
  expect(await answerOf(editor, `${configs}/2`, { notes: 'checked' }, 'PATCH')).toBe(200);
  expect(await answerOf(chief, `${configs}/2`, { stage: 'published' }, 'PATCH')).toBe(200);
  expect(await answerOf(editor, configs, { config: config('low'), stage: 'published' })).toBe(201);
  expect(await answerOf(editor, `${configs}/2/set-current`, {})).toEqual(refusal);
  expect(await answerOf(editor, '/components/mine', { current_version: 2 }, 'PATCH')).toEqual(refusal);
  expect(await answerOf(editor, `${configs}/3/set-current`, {})).toBe(200);
  expect(await answerOf(chief, `${configs}/2/set-current`, {})).toBe(200);
  expect(await answerOf(editor, '/components/mine', { name: 'Mine' }, 'PATCH')).toBe(200);
  const drafts = '/components/theirs/configs';
  expect(await answerOf(editor, drafts, { config: config('low') })).toBe(201);
  expect(await answerOf(editor, `${drafts}/2`, {}, 'DELETE')).toEqual(refusal);
  for (const id of ['mine', 'theirs']) {
    expect(await answerOf(chief, `/components/${id}`, {}, 'DELETE')).toBe(204);
    const restored = await answerOf(editor, `/components/${id}/restore`, {});
    expect(restored).toEqual(id === 'mine' ? refusal : 200);
  }
  expect(await answerOf(chief, '/components/mine/restore', {})).toBe(200);
});

test('a provider that refuses a call as one too many is left alone by all runs, for as long as it asks', async () => {
  const answer = { choices: [{ message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] };
  const server = await startModelServer((_request, index) =>
    index === 0
      ? { status: 429, headers: { 'retry-after': '50' }, body: { error: { message: 'slow down' } } }
      : { body: answer },
  );
  onTestFinished(() => server.stop());
  const model = (id: string) => openAICompatible({ id, baseUrl: server.url, apiKey: 'k' });
  const service = await startService({
    agents: ['refused', 'other'].map((id) => agent({ id, model: model(id) })),
    modelRates: { default: { requestsPerMinute: 100_000 } },
  });
  const life = new RunLife(service, 'refused');
  expect((await service.run('refused', { message: 'one' })).body.status).toBe('error');
  const { body } = await service.run('refused', { message: 'two', background: true });
  await until('it is executed', async () => (await life.stored(body.run_id)).status === 'running');
  expect((await service.run('other', { message: 'three' })).body).toMatchObject({ content: 'ok' });
  await life.cancel(body.run_id);
  expect(server.requests.map((request) => request.body.model)).toEqual(['refused', 'other']);
});

test('a refusal that an adapter retries by itself is heard while it waits, also from the judge of an eval', async () => {
  const answer = { choices: [{ message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] };
  const server = await startModelServer((_request, index) =>
    index === 0
      ? { status: 429, headers: { 'retry-after': '25' }, body: { error: { message: 'slow down' } } }
      : { body: answer },
  );
  onTestFinished(() => server.stop());
  const rates = { default: { requestsPerMinute: 100_000 } };
  const pace = new ModelPace(rates, new OwnModelTurns(systemTimers.elapsed), systemTimers);
  const rests: number[] = [];
  const wait = async () => void rests.push(pace.restMs(model));
  const model = openAICompatible({ id: 'judging', baseUrl: server.url, apiKey: 'k', wait });
  const judge = withPaceOfJob({ userId: null, ports: { pace } }, 'eval', model);
  const { content } = await judge.generate(ask(), { signal: new AbortController().signal });
  expect(content).toBe('ok');
  expect(rests).toEqual([expect.any(Number)]);
  expect(rests[0]).toBeGreaterThan(0);
});

test('calls beyond the rate of a model wait, and a cancelled run waits no longer', async () => {
  const [slow, other] = [new ScriptBook({ id: 'slow' }), new ScriptBook({ id: 'other' })];
  const service = await startService({
    agents: [agent({ id: 'a', model: slow.model }), agent({ id: 'b', model: other.model })],
    modelRates: { slow: { requestsPerMinute: 1 } },
  });
  const life = new RunLife(service, 'a');
  expect((await service.run('a', { message: 'first' })).body.status).toBe('completed');
  const { body } = await service.run('a', { message: 'second', background: true });
  await until('it is executed', async () => (await life.stored(body.run_id)).status === 'running');
  expect((await service.run('b', { message: 'third' })).body.status).toBe('completed');
  await life.cancel(body.run_id);
  expect((await life.stored(body.run_id)).status).toBe('cancelled');
  expect(slow.requests('second')).toEqual([]);
});
