import { describe, expect, test } from 'vitest';
import { agent, team, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';

const sessionId = 'our-session';
const userId = 'ada';

/** Says which words of users it was shown. */
function listener() {
  return agent({
    id: 'listener',
    addHistoryToContext: true,
    model: scriptedModel(({ messages }) =>
      messages.flatMap(({ role, content }) => (role === 'user' ? [content] : [])).join('|'),
    ),
  });
}

describe('components without a service', () => {
  test('have sessions of their own, also under one name and one session id', async () => {
    const [first, second] = [listener(), listener()];
    const { runId } = await first.run('one', { sessionId, userId, sessionState: { secret: 1 } });
    const elsewhere = await second.run('two', { sessionId, userId });
    expect(elsewhere).toMatchObject({ sessionId, content: 'two', sessionState: {} });
    expect((await second.run('three', { sessionId, userId })).content).toBe('two|three');
    expect((await first.run('four', { sessionId, userId })).content).toBe('one|four');
    await expect(second.continue(runId)).rejects.toMatchObject({ code: 'run_not_found' });
    expect((await first.continue(runId, { input: 'five' })).status).toBe('completed');
  });

  test('have memories and learnings of their own', async () => {
    const learned = JSON.stringify({ user_profile: [{ field: 'drink', value: 'green tea' }] });
    const memory = { updateMemoryOnRun: true, memoryModel: 'offline' };
    const learning = { learning: { model: scriptedModel(() => learned) } };
    for (const kept of [memory, learning]) {
      const shown = scriptedModel(({ messages }) => messages.map(({ content }) => content).join('\n'));
      const [first, second] = [
        agent({ id: 'a', model: shown, ...kept }),
        agent({ id: 'a', model: shown, ...kept }),
      ];
      await first.run('I like green tea', { userId });
      const asked = [first, second].map(async (one) => (await one.run('What?', { userId })).content);
      expect(await Promise.all(asked)).toEqual([expect.stringContaining('green tea'), 'What?']);
    }
  });

  test('let members and steps work in the space of the outermost component', async () => {
    const member = listener();
    const step = listener();
    const leader = () =>
      scriptedModel(({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? 'done'
          : {
              toolCalls: [
                { name: 'delegate_task_to_member', arguments: { member_id: 'listener', task: 'go' } },
              ],
            },
      );
    const teams = [1, 2].map(() => team({ id: 't', model: leader(), members: [member] }));
    for (const one of teams) {
      const { memberResponses } = await one.run('hi', { sessionId, userId });
      expect(memberResponses).toMatchObject([{ content: expect.not.stringContaining('|') }]);
    }
    const flow = workflow({ id: 'w', steps: [step] });
    expect((await flow.run('hello', { sessionId, userId })).content).toBe('hello');
    for (const inside of [member, step]) {
      expect((await inside.run('alone', { sessionId, userId })).content).toBe('alone');
    }
  });
});
