import { expect, test } from 'vitest';
import { z } from 'zod';
import { agent } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { Gatehouse } from '../../support/clients/tokens.js';

const schema = z.object({ city: z.string(), days: z.number() });

test('people read and set the working memory as a learning, each their own', async () => {
  const model = scriptedModel((request) =>
    request.messages.at(-1)?.content === 'three days'
      ? { toolCalls: [{ name: 'update_working_memory', arguments: { days: 3 } }] }
      : 'ok',
  );
  const guide = agent({ id: 'guide', model, workingMemory: { schema, scope: 'user' } });
  const house = await Gatehouse.open({ agents: [guide] });
  const [ada, eve] = [await house.person('ada'), await house.person('eve')];
  const identity = { learning_type: 'working_memory', entity_type: 'agent', entity_id: 'guide' };
  const create = (by: typeof ada, more: object) => by.send('POST', '/learnings', { ...identity, ...more });

  const made = await create(ada, { user_id: 'ada', content: { city: 'Rome', mood: 'good' } });
  expect(made.status).toBe(201);
  expect((await create(ada, { user_id: 'ada', content: {} })).status).toBe(409);
  expect((await create(eve, { user_id: 'ada', content: {} })).status).toBe(403);
  // a record without an owner would be that of runs without a user
  for (const more of [{}, { session_id: 's' }])
    expect((await create(eve, { ...more, content: {} })).status).toBe(422);

  await ada.run('guide', { message: 'three days' });
  const system = model.requests[0]!.messages[0]!.content;
  expect(system).toContain('"city": "Rome"');
  expect(system).not.toContain('mood');
  const found = await ada.get('/learnings?learning_type=working_memory&entity_id=guide');
  expect(found.body.data).toEqual([
    expect.objectContaining({
      learning_id: made.body.learning_id,
      user_id: 'ada',
      content: { city: 'Rome', mood: 'good', days: 3 },
    }),
  ]);
  expect((await eve.get('/learnings?learning_type=working_memory')).body.data).toEqual([]);
  await eve.run('guide', { message: 'hello' });
  expect(model.requests.at(-1)!.messages[0]!.content).toContain('<working_memory>\n{}');
});
