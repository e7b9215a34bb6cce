import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { agent, agentFactory, FactoryRefusal, type JsonObject, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { startService } from '../../support/service.js';

const requests: unknown[] = [];

function tutors() {
  return agentFactory({
    id: 'tutor',
    name: 'Tutor',
    inputSchema: z.object({ subject: z.string().min(2), level: z.number().default(1) }),
    build: ({ input, userId, claims, sessionId, state }) => {
      expectTypeOf(input.level).toEqualTypeOf<number>();
      requests.push({ input, userId, claims, sessionId, state });
      if (userId === null) throw new FactoryRefusal('Tell us who you are.');
      return agent({
        id: 'inside',
        model: scriptedModel(({ messages }) =>
          input.subject === 'gates' && messages.at(-1)?.role === 'user'
            ? { toolCalls: [{ name: 'open', id: 'c' }] }
            : `${input.subject} ${input.level} of ${claims?.school ?? 'no school'}`,
        ),
        tools: [
          tool({ name: 'open', description: 'Opens', requiresConfirmation: true, execute: () => 'opened' }),
        ],
        addHistoryToContext: true,
      });
    },
  });
}

test('code runs, streams and continues what a factory builds, under the name of the factory', async () => {
  const tutor = tutors();
  const given = { userId: 'ada', sessionId: 's', claims: { school: 'Oak' } };
  const first = await tutor.run('Hello', {
    ...given,
    factoryInput: { subject: 'logic' },
    sessionState: { n: 1 },
  });
  expect(first).toMatchObject({ status: 'completed', content: 'logic 1 of Oak', sessionId: 's' });
  expect(requests.at(-1)).toMatchObject({
    input: { subject: 'logic', level: 1 },
    claims: { school: 'Oak' },
    state: { n: 1 },
  });
  const ids = new Set<unknown>();
  for await (const event of tutor.stream('Hello', {
    ...given,
    factoryInput: { subject: 'music', level: 2 },
  })) {
    ids.add('agent_id' in event ? event.agent_id : undefined);
  }
  expect([...ids]).toEqual(['tutor']);
  const paused = await tutor.run('Hello', { ...given, factoryInput: { subject: 'gates', level: 3 } });
  if (paused.status !== 'paused') throw new Error(`The run is ${paused.status}`);
  const [requirement] = paused.requirements;
  const built = requests.length;
  const done = await tutor.continue(paused.runId, { answers: { [requirement!.id]: { confirmed: true } } });
  expect(done).toMatchObject({ status: 'completed', content: 'gates 3 of Oak' });
  // also the claims and the state that the run began with
  expect(requests.slice(built)).toContainEqual(
    expect.objectContaining({
      input: { subject: 'gates', level: 3 },
      claims: { school: 'Oak' },
      state: { n: 1 },
      userId: 'ada',
    }),
  );
  const other = agentFactory({ id: 'other', build: () => agent({ id: 'x', model: 'offline' }) });
  await expect(other.continue(paused.runId)).rejects.toThrow('Run not found');
});

test('what is wrong is said before there is a run', async () => {
  const tutor = tutors();
  await expect(tutor.run('Hello', { factoryInput: { subject: 'logic' } })).rejects.toThrow(
    'Tell us who you are.',
  );
  await expect(tutor.run('Hello', { userId: 'ada', factoryInput: { subject: 'x' } })).rejects.toThrow(
    /factory_input does not fit/,
  );
  await expect(
    tutor.run('Hello', { userId: 'ada', ...{ claims: 5 as unknown as JsonObject } }),
  ).rejects.toThrow('claims is 5');
  await expect(tutor.continue('nothing')).rejects.toThrow('Run not found');
  // @ts-expect-error the schema asks for a text
  await expect(tutor.run('Hello', { userId: 'ada', factoryInput: { subject: 5 } })).rejects.toThrow();
});

test('a service stores the runs of a factory that code starts', async () => {
  const tutor = tutors();
  const service = await startService({ agents: [tutor] });
  const run = await tutor.start('Hello', {
    userId: 'ada',
    factoryInput: { subject: 'logic' },
    sessionState: { secret: 'of ada' },
    background: true,
  });
  expect(await run.result()).toMatchObject({ status: 'completed', content: 'logic 1 of no school' });
  // a session of another user is refused, and its state reaches nobody
  const before = requests.length;
  const given = { sessionId: run.sessionId, userId: 'eve', factoryInput: { subject: 'logic' } };
  await expect(tutor.run('Hello', given)).rejects.toMatchObject({ code: 'session_of_another_user' });
  expect(requests.slice(before)).toEqual([]);
  const elsewhere = agentFactory({
    id: 'elsewhere',
    build: () => agent({ id: 'x', model: 'offline', database: 'archive' }),
  });
  await expect(elsewhere.run('Hello')).rejects.toMatchObject({ code: 'factory_failed' });
  const { body } = await service.get(`/agents/tutor/runs/${run.runId}`);
  expect(body).toMatchObject({ agent_id: 'tutor', status: 'completed', content: 'logic 1 of no school' });
});
