import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  agentFactory,
  type Json,
  RunOutputError,
  step,
  team,
  teamFactory,
  tool,
  workflow,
  workflowFactory,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { startService } from '../../support/service.js';

const Answer = z.object({ answer: z.number() });

test('runOrThrow() of a factory returns the content that was asked for, and rejects without it', async () => {
  const texts = ['{"answer":42}', 'no JSON', 'still none'];
  const oracle = agentFactory({
    id: 'oracle',
    inputSchema: z.object({ fails: z.boolean() }),
    build: ({ input }) =>
      agent({
        id: 'x',
        outputSchema: Answer,
        retries: 0,
        model: scriptedModel(() => (input.fails ? { error: new Error('out of order') } : texts.shift()!)),
      }),
  });
  const output = await oracle.runOrThrow('What?', { factoryInput: { fails: false } });
  expectTypeOf(output.content).toEqualTypeOf<{ answer: number }>();
  expectTypeOf(output.status).toEqualTypeOf<'completed'>();
  expect(output).toMatchObject({ content: { answer: 42 }, messages: expect.any(Array) });
  const misfit = await oracle.runOrThrow('What?', { factoryInput: { fails: false } }).catch((error) => error);
  expect(misfit).toBeInstanceOf(RunOutputError);
  expect(misfit).toMatchObject({ code: 'output_schema_mismatch', output: { status: 'completed' } });
  const failed = oracle.runOrThrow('What?', { factoryInput: { fails: true } });
  await expect(failed).rejects.toMatchObject({ output: { status: 'error' } });
  // @ts-expect-error the schema asks for true or false
  await expect(oracle.runOrThrow('What?', { factoryInput: { fails: 'no' } })).rejects.toThrow('does not fit');

  const desk = teamFactory({
    id: 'desk',
    build: () => team({ id: 'x', model: scriptedModel(['done']), members: [agent({ id: 'm' })] }),
  });
  const { content } = await desk.runOrThrow('Go');
  expectTypeOf(content).toEqualTypeOf<string>();
  expect(content).toBe('done');

  const pipeline = workflowFactory({
    id: 'pipeline',
    build: ({ input }) =>
      workflow({
        id: 'x',
        steps: [step({ name: 'asks', review: { requiresConfirmation: input.asks === true }, run: () => 7 })],
      }),
  });
  const made = await pipeline.runOrThrow('Go');
  expectTypeOf(made.content).toEqualTypeOf<Json>();
  expect(made).toMatchObject({ content: 7, stepResults: [{ step_name: 'asks' }] });
  const paused = pipeline.runOrThrow('Go', { factoryInput: { asks: true } });
  await expect(paused).rejects.toMatchObject({ code: 'run_paused' });
});

test.each(['without a service', 'in a service'])(
  'continue() of a factory builds its component once, %s',
  async (where) => {
    let built = 0;
    let isOpen = false;
    const gates = agentFactory({
      id: 'gates',
      build: () => {
        built += 1;
        const open = tool({
          name: 'open',
          description: 'Opens',
          requiresConfirmation: true,
          execute: () => 'opened',
        });
        const model = scriptedModel(({ messages }) => {
          if (messages.at(-1)?.role === 'user') return { toolCalls: [{ name: 'open', id: 'c' }] };
          return isOpen ? 'done' : { error: new Error('closed') };
        });
        return agent({ id: 'x', model, tools: [open], retries: 0 });
      },
    });
    if (where === 'in a service') await startService({ agents: [gates] });
    const { runId } = await gates.run('Go');
    const builtBy = async (work: () => Promise<{ readonly status: string }>) => {
      const before = built;
      const { status } = await work();
      return [status, built - before];
    };
    const answers = { c: { confirmed: true } };
    expect(await builtBy(() => gates.continue(runId, { answers }))).toEqual(['error', 1]);
    isOpen = true;
    // a failed run, and a copy of a completed one
    expect(await builtBy(() => gates.continue(runId))).toEqual(['completed', 1]);
    expect(await builtBy(() => gates.continue(runId, { input: 'And again' }))).toEqual(['paused', 1]);
  },
);

test('what a factory builds for a paused run has to fit it, before its answer is used up', async () => {
  let names = ['one', 'two'];
  const pipeline = workflowFactory({
    id: 'pipeline',
    build: () =>
      workflow({
        id: 'x',
        steps: names.map((name) => step({ name, review: { requiresConfirmation: true }, run: () => name })),
      }),
  });
  const { runId } = await pipeline.run('Go');
  const answers = { one: { confirmed: true } };
  names = ['uno', 'two'];
  await expect(pipeline.continue(runId, { answers })).rejects.toMatchObject({ code: 'definition_changed' });
  names = ['one', 'two'];
  expect(await pipeline.continue(runId, { answers })).toMatchObject({
    status: 'paused',
    requirements: [{ stepName: 'two' }],
  });
});
