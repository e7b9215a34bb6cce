import { expect, expectTypeOf, test } from 'vitest';
import { agent, type Model, Runyard, team, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { startService } from '../../support/service.js';
import { ask } from './team-runs.js';

const noModel = (owner: string) => new RegExp(`${owner} has no model\\. Give it one: model: 'openai`);

test('members without a model take that of their team, also in nested teams', async () => {
  const asked: string[] = [];
  const model = scriptedModel(
    ({ messages, tools }, call) => {
      asked.push(messages.at(-1)?.content ?? '');
      if (call === 0) return { toolCalls: [ask('desk', 'to the desk')] };
      if (call === 1) return { toolCalls: [ask('writer', 'to the writer')] };
      return tools.length === 0 ? 'written' : 'done';
    },
    { id: 'house model' },
  );
  const own = scriptedModel(() => 'own', { id: 'own' });
  const writer = agent({ id: 'writer' });
  const reader = agent({ id: 'reader', model: own });
  const desk = team({ id: 'desk', members: [writer, reader] });
  const house = team({ id: 'house', model, members: [desk] });
  const output = await house.run('go', { userId: 'ada' });
  expect(output).toMatchObject({ status: 'completed', content: 'done' });
  expect(asked).toEqual(['go', 'to the desk', 'to the writer', expect.anything(), expect.anything()]);
  const [inner] = house.members;
  expect(inner?.members?.map(({ model }) => model?.id)).toEqual(['house model', 'own']);
  // the agent itself is as it was: another team gives it another model
  expect(writer.model).toBeNull();
  expectTypeOf(writer.model).toEqualTypeOf<Model | null>();
});

test('an agent or a team that nobody gives a model is refused when it runs, is registered, or is a step', async () => {
  const writer = agent({ id: 'writer' });
  const desk = team({ id: 'desk', members: [writer] });
  await expect(writer.run('hello')).rejects.toThrow(noModel("Agent 'writer'"));
  await expect(desk.stream('hello').next()).rejects.toThrow(noModel("Team 'desk'"));
  expect(() => new Runyard({ agents: [writer] })).toThrow(noModel("Agent 'writer'"));
  expect(() => new Runyard({ teams: [desk] })).toThrow(noModel("Team 'desk'"));
  expect(() => workflow({ id: 'w', steps: [writer] })).toThrow(noModel("Agent 'writer'"));
});

test('a service shows members with the model that they have taken', async () => {
  const desk = team({
    id: 'desk',
    model: 'offline',
    members: [agent({ id: 'writer', updateMemoryOnRun: true })],
  });
  const service = await startService({ teams: [desk] });
  expect((await service.get('/teams/desk')).body).toMatchObject({
    members: [{ id: 'writer', model: { model: 'offline' } }],
  });
  expect((await service.get('/registry')).status).toBe(200);
  expect(await service.app.toConfig(desk)).toMatchObject({
    members: [{ type: 'agent', agent_id: 'writer' }],
  });
});
