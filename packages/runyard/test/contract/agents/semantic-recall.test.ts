import { expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { Gatehouse } from '../../support/clients/tokens.js';

test('users recall their own sessions, and nothing of one that they deleted', async () => {
  const model = scriptedModel(() => 'Noted.');
  const house = await Gatehouse.open({
    agents: [
      agent({ id: 'guide', model, semanticRecall: true }),
      agent({ id: 'other', model, semanticRecall: true }),
    ],
  });
  const [ada, eve] = [await house.person('ada'), await house.person('eve')];
  const zebra = 'My zebra eats purple carrots';
  const recalls = async (by: typeof ada, agentId: string) => {
    await by.run(agentId, { message: 'What does the zebra eat?', session_id: `${agentId}-${Math.random()}` });
    return model.requests.at(-1)!.messages[0]!.content.includes(zebra);
  };
  await ada.run('guide', { message: zebra, session_id: 'monday' });
  expect(await recalls(ada, 'guide')).toBe(true);
  expect(await recalls(ada, 'other')).toBe(false);
  expect(await recalls(eve, 'guide')).toBe(false);
  expect((await ada.delete('/sessions/monday')).status).toBe(204);
  expect(await recalls(ada, 'guide')).toBe(false);
});
