import { expect, test } from 'vitest';
import { InProcessMemories } from '../../../src/core/memory/in-process-memories.js';
import { agent, step, type TeamSettings, team, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore } from '../harness.js';

const add = (memory: string) => ({ toolCalls: [{ name: 'add_memory', arguments: { memory, topics: [] } }] });

/** A team that asks its one member, who remembers by itself what it is asked. */
async function run(settings: Partial<TeamSettings>) {
  const memberMemory = scriptedModel([add('From the member')]);
  const member = agent({
    id: 'm',
    model: scriptedModel(['Asked.']),
    updateMemoryOnRun: true,
    memoryModel: memberMemory,
  });
  const leader = scriptedModel([
    {
      toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: 'm', task: 'Greet the user' } }],
    },
    'Done.',
  ]);
  const component = team({ id: 't', model: leader, members: [member], ...settings });
  const memories = new InProcessMemories();
  const store = await freshStore();
  const engine = engineOver(store, [component], { ports: { memories } });
  const handle = await begin(engine, component, { userId: 'ada' });
  expect((await handle.ended).run.result?.content).toBe('Done.');
  const events = (await allEvents(handle)).map(({ name }) => name);
  return { memories: await memories.list('ada', 10), memberMemory, events };
}

test('a team that remembers does so for its members', async () => {
  const memoryModel = scriptedModel([add('From the team')]);
  const { memories, memberMemory, events } = await run({ updateMemoryOnRun: true, memoryModel });
  expect(memories).toMatchObject([{ memory: 'From the team', teamId: 't', agentId: null }]);
  expect(memberMemory.requests).toHaveLength(0);
  expect(memoryModel.requests[0]!.messages.at(-1)!.content).toContain('<message>\nhello\n</message>');
  expect(events.slice(-3)).toEqual([
    'TeamMemoryUpdateStarted',
    'TeamMemoryUpdateCompleted',
    'TeamRunCompleted',
  ]);
  expect(events.filter((name) => name.startsWith('Memory'))).toEqual([]);
});

test('a member remembers by itself in a team that does not', async () => {
  const { memories, memberMemory, events } = await run({});
  expect(memories).toMatchObject([{ memory: 'From the member', agentId: 'm', teamId: null }]);
  expect(memberMemory.requests[0]!.messages.at(-1)!.content).toContain('Greet the user');
  expect(events.filter((name) => name.includes('Memory'))).toEqual([
    'MemoryUpdateStarted',
    'MemoryUpdateCompleted',
  ]);
});

test('an agent remembers as a step of a workflow too', async () => {
  const memoryModel = scriptedModel([add('From the step')]);
  const reader = agent({ id: 'r', model: scriptedModel(['Read.']), updateMemoryOnRun: true, memoryModel });
  const component = workflow({ id: 'w', steps: [step({ name: 'read', agent: reader })] });
  const memories = new InProcessMemories();
  const store = await freshStore();
  const engine = engineOver(store, [component], { ports: { memories } });
  await (await begin(engine, component, { userId: 'ada' })).ended;
  expect(await memories.list('ada', 10)).toMatchObject([{ memory: 'From the step', agentId: 'r' }]);
});
