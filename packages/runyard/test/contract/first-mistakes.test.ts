import { expect, test } from 'vitest';
import { agent, step, team, workflow } from '../../src/index.js';
import { startService } from '../support/service.js';

const writer = agent({ id: 'writer', model: 'offline' });
const components = {
  agents: [writer, agent({ id: 'editor', model: 'offline' })],
  teams: [team({ id: 'crew', model: 'offline', members: [writer] })],
  workflows: [workflow({ id: 'flow', steps: [step({ name: 'write', agent: writer })] })],
};

test('a component that is not there: the answer names those that are', async () => {
  const service = await startService(components);
  for (const [path, hint] of [
    ['/agents/writr', 'Agents here: writer, editor'],
    ['/teams/none', 'Teams here: crew'],
    ['/workflows/none/runs/x', 'Workflows here: flow'],
  ] as const) {
    expect(await service.get(path)).toMatchObject({ status: 404, body: { hint } });
  }
  const run = await service.run('writr', { message: 'Hello' });
  expect(run).toMatchObject({
    status: 404,
    body: { detail: 'Agent not found', hint: 'Agents here: writer, editor' },
  });
});

test('a misspelt field: a header says what was meant, also when the request has no other fault', async () => {
  const service = await startService(components);
  const hint = async (form: object) =>
    (await service.run('writer', { stream: false, ...form })).headers.get('x-runyard-hint');
  expect(await hint({ mesage: 'Hello' })).toBe('unknown field "mesage": did you mean "message"?');
  expect(await hint({ message: 'Hello', sesion_id: 's' })).toBe(
    'unknown field "sesion_id": did you mean "session_id"?',
  );
  expect(await hint({ message: 'Hello', colour: 'red' })).toBeNull();
});

test('the service says what it is', async () => {
  const service = await startService(components);
  expect((await service.get('/info')).body).toMatchObject({
    product: 'Runyard',
    version: expect.any(String),
  });
});
