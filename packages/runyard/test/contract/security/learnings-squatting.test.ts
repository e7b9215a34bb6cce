import { expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { everydayScopes, Gatehouse, type Holder } from '../../support/clients/tokens.js';
import { until } from '../../support/until.js';

const learned = {
  user_profile: [],
  user_memory: [],
  session_context: { summary: 'Greetings.', goal: '', plan: [], progress: [] },
};

async function yard() {
  const model = scriptedModel(() => 'Hello');
  const learner = scriptedModel(() => JSON.stringify(learned));
  const house = await Gatehouse.open({ agents: [agent({ id: 'a', model, learning: { model: learner } })] });
  return { house, ada: await house.person('ada'), eve: await house.person('eve') };
}

async function created(by: Holder, learning: object): Promise<unknown[]> {
  const { status, body } = await by.send('POST', '/learnings', { content: { text: 'x' }, ...learning });
  return [status, body.error_code ?? body.learning_id];
}

test('only its user can write the context of a session', async () => {
  const { house, ada, eve } = await yard();
  const context = { learning_type: 'session_context', session_id: 's' };
  // neither before there is such a session, nor when it belongs to another user
  for (let round = 0; round < 2; round++) {
    for (const owner of [{ user_id: 'eve' }, {}, { user_id: null }])
      expect(await created(eve, { ...context, ...owner })).toEqual([404, 'session_not_found']);
    expect(await created(await house.nobody(), context)).toEqual([404, 'session_not_found']);
    if (round === 0) await ada.run('a', { message: 'Hi', session_id: 's' });
  }
  const found = await until('the context is learned', async () => {
    const { status, body } = await ada.get('/learnings/session_context_s');
    return status === 200 && body;
  });
  expect(found).toMatchObject({ user_id: 'ada', content: { summary: 'Greetings.' } });
  await eve.run('a', { message: 'Hi', session_id: 'hers' });
  await until(
    'the context is learned',
    async () => (await eve.get('/learnings/session_context_hers')).status === 200,
  );
  await eve.delete('/learnings/session_context_hers');
  expect(await created(eve, { ...context, session_id: 'hers', user_id: 'eve' })).toEqual([
    201,
    'session_context_hers',
  ]);
});

test('what another user left of an earlier session does not keep the place of its context', async () => {
  const { ada, eve } = await yard();
  for (const user_id of ['eve', null]) {
    const session_id = `chat-${user_id}`;
    const id = `session_context_${session_id}`;
    await eve.send('POST', '/sessions?type=agent', { session_id, agent_id: 'a' });
    expect(await created(eve, { learning_type: 'session_context', session_id, user_id })).toEqual([201, id]);
    expect((await eve.delete(`/sessions/${session_id}`)).status).toBe(204);
    await ada.run('a', { message: 'Hi', session_id });
    const found = await until('the context is learned', async () => {
      const { body } = await ada.get(`/learnings/${id}`);
      return body.user_id === 'ada' && body;
    });
    expect(found.content).toMatchObject({ summary: 'Greetings.' });
    expect((await eve.get(`/learnings/${id}`)).status).toBe(404);
  }
});

test('the other records of an identity cannot be taken by another user either', async () => {
  const { house, eve } = await yard();
  for (const type of ['user_profile', 'user_memory'])
    expect(await created(eve, { learning_type: type, user_id: 'ada' })).toEqual([
      403,
      'learnings_of_another_user',
    ]);
  const entity = { learning_type: 'entity_memory', entity_type: 'person', entity_id: 'bob' };
  expect(await created(eve, { ...entity, user_id: 'eve' })).toEqual([403, 'shared_entity']);
  expect(await created(eve, { ...entity, user_id: 'eve', namespace: 'team' })).toEqual([
    403,
    'shared_entity',
  ]);
  expect(await created(eve, { ...entity, namespace: 'user:ada' })).toEqual([
    403,
    'learnings_of_another_user',
  ]);
  expect(await created(eve, entity)).toEqual([201, 'entity_global_person_bob']);
  // where the name of one user is the beginning of another's
  const own = { user_id: 'eve', namespace: 'user:eve' };
  expect((await created(eve, { ...entity, ...own, entity_type: 'x_person' }))[0]).toBe(201);
  const longer = await house.person('eve_x', everydayScopes);
  expect((await created(longer, { ...entity, user_id: 'eve_x', namespace: 'user:eve_x' }))[0]).toBe(201);
});
