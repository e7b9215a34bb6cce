import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../../src/core/json.js';
import { RunSlots } from '../../../src/core/runs/leases/run-slots.js';
import type { Timers } from '../../../src/core/timers.js';
import {
  AnswerRejected,
  agent,
  condition,
  loop,
  parallel,
  router,
  type StepContext,
  step,
  tool,
  type Workflow,
  workflow,
} from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { scriptedModel } from '../../../src/testing.js';
import { begin, changed, engineOver, freshStore, gate, goOn } from '../harness.js';
import { diesAndRecovers, ran } from './workflow-runs.js';

const talker = (...says: string[]) => agent({ id: 'talker', model: scriptedModel(says) });

describe('run()', () => {
  test('runs an agent as a part of the step, in its results, events and metrics', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 'both',
          run: async ({ run }) =>
            `${await run(talker('one'), 'a')} ${await run(talker('two'), 'b', 'second')}`,
        }),
      ],
    });
    const run = await ran(flow);
    const { results, runs, states, run: ended } = await run.look();
    expect(results[0]).toMatchObject({ content: 'one two', success: true });
    const stepId = results[0]!.step_id;
    expect(runs.map((inside) => [inside.run.input.content, inside.stepId])).toEqual([
      ['a', stepId],
      ['b', stepId],
    ]);
    expect(states[0]!.run_ids).toHaveLength(2);
    const { both } = (ended.result!.metrics as { steps: Record<string, { metrics: JsonObject }> }).steps;
    expect(both!.metrics.total_tokens).toBeGreaterThan(0);
    const started = (await run.events()).filter(({ event }) => event === 'RunStarted');
    expect(started.map(({ step_name, step_id }) => [step_name, step_id])).toEqual([
      ['both', stepId],
      ['both', stepId],
    ]);
  });

  test('a retry keeps what succeeded and repeats what failed', async () => {
    const sure = scriptedModel(['sure']);
    const flaky = scriptedModel([{ error: 'gone' }, 'back']);
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 's',
          maxRetries: 1,
          backoff: { delayMs: 0 },
          run: async ({ run }) => [
            await run(agent({ id: 'sure', model: sure }), 'x'),
            await run(agent({ id: 'flaky', model: flaky, retries: 0 }), 'x'),
          ],
        }),
      ],
    });
    const { results, runs } = await (await ran(flow)).look();
    expect(results[0]!.content).toEqual(['sure', 'back']);
    expect(runs.map(({ run }) => [run.componentId, run.status])).toEqual([
      ['sure', 'completed'],
      ['flaky', 'error'],
      ['flaky', 'completed'],
    ]);
  });

  test('a run whose time was up in one try is made again in the next', async () => {
    const model = scriptedModel((_request, call) =>
      call === 0
        ? {
            waitFor: (signal) =>
              new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
          }
        : 'in time',
    );
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 's',
          maxRetries: 1,
          backoff: { delayMs: 0 },
          timeoutMs: 1_000,
          run: ({ run }) => run(agent({ id: 'slow', model }), 'x'),
        }),
      ],
    });
    const { run, runs } = await (await ran(flow)).look();
    expect(run.result!.content).toBe('in time');
    expect(runs).toHaveLength(2);
  });

  test('the component gets the media, the dependencies and the metadata of the run, and its own schema reads the input', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel(({ messages }) => {
      seen.push([messages.at(-1)!.content, messages.at(-1)!.media?.map(({ kind }) => kind)]);
      return 'ok';
    });
    const inputSchema = z.object({ n: z.number(), unit: z.string().default('m') });
    const inner = workflow({
      id: 'inner',
      inputSchema,
      steps: [
        ({ input, dependencies, metadata }) => {
          seen.push([input, dependencies, metadata]);
          return 'ok';
        },
      ],
    });
    const flow = workflow({
      id: 'w',
      steps: [async ({ run }) => [await run(agent({ id: 'a', model }), 'look'), await run(inner, { n: 1 })]],
    });
    await flow.runOrThrow('x', {
      files: [{ bytes: new TextEncoder().encode('hello'), mimeType: 'text/plain' }],
      dependencies: { city: 'Rome' },
      metadata: { plan: 'pro' },
    });
    expect(seen).toEqual([
      ['look', ['file']],
      [{ n: 1, unit: 'm' }, { city: 'Rome' }, { plan: 'pro' }],
    ]);
  });

  test('workflows that run each other without end are stopped', async () => {
    const depths: unknown[] = [];
    const endless: Workflow = workflow({
      id: 'w',
      steps: [step({ name: 's', run: async ({ run }) => run(endless, 'again') })],
    });
    const run = await ran(endless);
    expect((await run.look()).run).toMatchObject({
      status: 'error',
      result: { error: { type: 'nesting_too_deep', message: expect.stringContaining('20 levels deep') } },
    });
    for (const { event, nested_depth } of await run.events())
      if (event === 'WorkflowStarted') depths.push(nested_depth);
    expect(depths).toEqual(Array.from({ length: 21 }, (_, depth) => depth));
  });

  test('what the function does not wait for ends before the step, and nothing begins after it', async () => {
    let late: StepContext['run'] | undefined;
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 's',
          run: ({ run }) => {
            late = run;
            void run(talker('left alone'), 'x');
            return 'done';
          },
        }),
        // it has paused all the same
        step({
          name: 'asks',
          run: ({ suspend }) => {
            void suspend('Sure?');
            return 'not yet';
          },
        }),
      ],
    });
    const run = await ran(flow);
    const { runs, run: paused } = await run.look();
    expect(runs.map((inside) => inside.run.status)).toEqual(['completed']);
    expect(paused.status).toBe('paused');
    await expect(late!(talker('too late'), 'x')).rejects.toThrow("The function of 's' has ended.");
    expect((await run.answer({ confirmed: true })).run.result!.content).toBe('not yet');
  });

  test('after a crash the function is executed again and gets what it got before', async () => {
    const reached = gate();
    const model = vi.fn(() => 'said');
    let executions = 0;
    const make = () =>
      workflow({
        id: 'w',
        steps: [
          step({
            name: 's',
            run: async ({ run }) => {
              executions += 1;
              const said = await run(agent({ id: 'a', model: scriptedModel(model) }), 'x');
              if (executions > 1) return `${said} ${executions}`;
              reached.open();
              return new Promise<string>(() => {});
            },
          }),
        ],
      });
    const run = await diesAndRecovers(make, reached.promise, (keys) => keys.includes('node:0:run:1:a'));
    expect((await run.look()).results[0]!.content).toBe('said 2');
    expect(model).toHaveBeenCalledTimes(1);
  });

  test.each([
    [
      'the same name twice',
      async ({ run }: StepContext) => [await run(talker('a'), 'x'), await run(talker('b'), 'x')],
      "'s' runs 'talker' twice",
    ],
    [
      'what is no component',
      async ({ run }: StepContext) => run({} as never, 'x'),
      'other than an agent, a team or a workflow',
    ],
    [
      'two waits of one name',
      async ({ sleep }: StepContext) => {
        await sleep(1, { name: 'same' });
        await sleep(1, { name: 'same' });
        return 'never';
      },
      "'s' waits for 'same' twice",
    ],
    [
      'an empty name',
      async ({ run }: StepContext) => run(talker('a'), 'x', ''),
      'a name that is not a text of 1 to 200 characters',
    ],
  ])('refuses %s, and does not retry', async (_, work, message) => {
    const flow = workflow({ id: 'w', steps: [step({ name: 's', run: work, backoff: { delayMs: 60_000 } })] });
    const { run } = await (await ran(flow)).look();
    expect(run.result!.error!.message).toContain(message);
  });
});

const Refund = z.object({ euros: z.number().max(50), why: z.enum(['late', 'broken']).optional() });

describe('suspend()', () => {
  test('asks in the middle of the work, several times, and executes the function again up to there', async () => {
    let executions = 0;
    const flow = workflow({
      id: 'w',
      steps: [
        loop({
          name: 'rounds',
          maxIterations: 2,
          steps: [
            step({
              name: 'ask',
              run: async ({ suspend, state }) => {
                executions += 1;
                state.set('asked', Number(state.get('asked') ?? 0) + 1);
                const { confirmed, feedback } = await suspend('Really?');
                if (!confirmed) return `no: ${feedback}`;
                const { euros, why } = await suspend('How much?', Refund);
                return `${euros} ${why}`;
              },
            }),
          ],
        }),
      ],
    });
    const run = await ran(flow);
    const first = await run.look();
    expect(first.run.status).toBe('paused');
    expect(first.requirements.open[0]!.body).toMatchObject({
      step_name: 'ask',
      requires_confirmation: true,
      confirmation_message: 'Really?',
    });
    const second = await run.answer({ confirmed: true });
    expect(second.requirements.open[0]!.body.user_input_schema).toMatchObject([
      { name: 'euros', field_type: 'float', required: true },
      { name: 'why', field_type: 'str', required: false, allowed_values: ['late', 'broken'] },
    ]);
    await expect(run.answer({ user_input: { euros: 'many' } })).rejects.toThrow(
      "'user_input.euros' must be a number",
    );
    const again = await run.answer({ user_input: { euros: 80 } });
    expect(again.requirements.open[0]!.body.user_input_message).toMatch(
      /^How much\?\nThe last answer does not fit: euros/,
    );
    await run.answer({ user_input: { euros: '20', why: 'late' } });
    const done = await run.answer({ confirmed: false, rejection_feedback: 'enough' });
    expect(done.run).toMatchObject({
      status: 'completed',
      result: { content: 'no: enough', sessionState: { asked: 2 } },
    });
    expect(executions).toBe(6);
    expect((await run.names()).filter((name) => name === 'StepPaused')).toHaveLength(4);
  });

  test('in parallel branches and side by side in one function, in code', async () => {
    const executed: string[] = [];
    const asks = (name: string) =>
      step({
        name,
        run: async ({ suspend }) => {
          executed.push(name);
          const [left, right] = await Promise.all([
            suspend('Left?', z.boolean(), { name: 'left' }),
            suspend('Right?', z.string(), { name: 'right' }),
          ]);
          return `${left} ${right}`;
        },
      });
    const flow = workflow({ id: 'w', steps: [parallel([asks('a'), asks('b')])] });
    let output = await flow.run('go');
    if (output.status !== 'paused') throw new Error('it waits');
    expect(output.requirements.map(({ requirement }) => requirement.question_name)).toEqual([
      'left',
      'right',
      'left',
      'right',
    ]);
    const id = (position: number) =>
      String(output.status === 'paused' && output.requirements[position]!.requirement.requirement_id);
    const ids = [0, 1, 2, 3].map(id);
    output = await flow.continue(output.runId, { answers: { [ids[1]!]: { userInput: { answer: 'r' } } } });
    // b has no answer yet: it is not executed again
    expect(executed).toEqual(['a', 'b', 'a']);
    output = await flow.continue(output.runId, {
      answers: {
        [ids[0]!]: { confirmed: true },
        [ids[2]!]: { confirmed: false },
        [ids[3]!]: { userInput: { answer: 'q' } },
      },
    });
    expect(output.stepResults[0]!.steps!.map(({ content }) => content)).toEqual(['true r', 'false q']);
  });

  test('a rejected form is an error that the function can catch', async () => {
    const seen: unknown[] = [];
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 's',
          run: async ({ suspend }) => {
            try {
              await suspend('How much?', Refund);
            } catch (error) {
              seen.push(error);
              throw error;
            }
            return 'never';
          },
        }),
      ],
    });
    const run = await ran(flow);
    const { run: failed } = await run.answer({ confirmed: false, rejection_feedback: 'no money' });
    expect(failed.result!.error).toMatchObject({
      type: 'step_rejected',
      message: "Step 's' failed: The question of 's' was rejected: no money.",
    });
    expect(seen.at(-1)).toBeInstanceOf(AnswerRejected);
  });

  test('an answer to another question is not taken for the answer to this one', async () => {
    let subject = 'A';
    const flow = workflow({
      id: 'w',
      steps: [
        step({ name: 's', run: async ({ suspend }) => (await suspend(`Delete ${subject}?`)).confirmed }),
      ],
    });
    const run = await ran(flow);
    subject = 'B';
    const { run: ended } = await run.answer({ confirmed: true });
    expect(ended.result!.error!.type).toBe('definition_changed');
  });

  test('a question, and a run that waits, which the function no longer has end the run: the answer would go unheard', async () => {
    let asks = true;
    const gated = agent({
      id: 'gated',
      model: scriptedModel([{ toolCalls: [{ id: 'c', name: 'open' }] }, 'opened']),
      tools: [tool({ name: 'open', description: 'x', requiresConfirmation: true, execute: () => 'open' })],
    });
    const questions = workflow({
      id: 'w',
      steps: [
        step({ name: 's', run: async ({ suspend }) => (asks ? (await suspend('Sure?')).confirmed : 'no') }),
      ],
    });
    const run = await ran(questions);
    asks = false;
    const { run: ended } = await run.answer({ confirmed: true });
    expect(ended.result!.error!.type).toBe('definition_changed');
    asks = true;
    const runs = workflow({
      id: 'w',
      steps: async ({ run: begin, suspend }) => {
        const [, answer] = await Promise.all([asks ? begin(gated, 'x') : 'no', suspend('Sure?')]);
        return String(answer.confirmed);
      },
    });
    const waiting = await runs.run('x');
    asks = false;
    const asked = (waiting.status === 'paused' ? waiting.requirements : [])
      .map(({ requirement }) => requirement)
      .find(({ confirmation_message }) => confirmation_message === 'Sure?');
    const id = String(asked?.requirement_id);
    const output = await runs.continue(waiting.runId, { answers: { [id]: { confirmed: true } } });
    expect(output).toMatchObject({ status: 'error', error: { code: 'definition_changed' } });
  });

  test('a name that looks like a number is not the place of another wait, and the schema makes the value', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 's',
          run: async ({ suspend }) => {
            const Size = z.object({ size: z.string().trim(), unit: z.string().default('cm') });
            const [named, first] = await Promise.all([
              suspend('Named?', undefined, { name: '1' }),
              suspend('First?', Size),
            ]);
            return [named.confirmed, first];
          },
        }),
      ],
    });
    const paused = await flow.run('x');
    const ids = (paused.status === 'paused' ? paused.requirements : []).map(({ requirement }) =>
      String(requirement.requirement_id),
    );
    expect(new Set(ids).size).toBe(2);
    const output = await flow.continue(paused.runId, {
      answers: { [ids[0]!]: { confirmed: true }, [ids[1]!]: { userInput: { size: ' 5 ' } } },
    });
    expect(output.content).toEqual([true, { size: '5', unit: 'cm' }]);
  });

  test('a step that a person has done again asks again', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 's',
          run: async ({ suspend }) => String((await suspend('Sure?')).confirmed),
          review: { requiresOutputReview: true },
        }),
      ],
    });
    const run = await ran(flow);
    await run.answer({ confirmed: true });
    const again = await run.answer({ confirmed: false, rejection_feedback: 'no' });
    expect(again.requirements.open[0]!.body.confirmation_message).toBe('Sure?');
    await run.answer({ confirmed: false });
    const done = await run.answer({ confirmed: true });
    expect(done.run.result!.content).toBe('false');
  });

  test('ten answers that do not fit end the step', async () => {
    const flow = workflow({
      id: 'w',
      steps: [step({ name: 's', run: async ({ suspend }) => (await suspend('How much?', Refund)).euros })],
    });
    const run = await ran(flow);
    for (let answer = 0; answer < 9; answer += 1) await run.answer({ user_input: { euros: 80 } });
    expect((await run.look()).run.status).toBe('paused');
    const { run: failed } = await run.answer({ user_input: { euros: 80 } });
    expect(failed.result!.error!.message).toContain('had 10 answers that do not fit its schema');
  });

  test('is undefined when the time is up', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 's',
          run: async ({ suspend }) => String(await suspend('Yes?', z.boolean(), { timeoutMs: 1_000 })),
        }),
      ],
    });
    const run = await ran(flow);
    expect((await run.look()).requirements.open[0]!.body.timeout_at).toEqual(expect.any(String));
    expect(await later(flow, run)).toMatchObject({ result: { content: 'undefined' } });
  });

  test('in a workflow that is one function, with what it runs', async () => {
    const flow = workflow({
      id: 'w',
      steps: async ({ run, suspend }) => {
        const [said, answer] = await Promise.all([run(talker('hello'), 'x'), suspend('Send it?')]);
        return `${said} ${answer.confirmed}`;
      },
    });
    const run = await ran(flow);
    expect((await run.look()).requirements.open[0]).toMatchObject({ stepName: 'w', topIndex: 0 });
    const { run: ended } = await run.answer({ confirmed: true });
    expect(ended.result!.content).toBe('hello true');
  });

  test.each([
    [(context: StepContext) => context.suspend(''), 'the question is'],
    [(context: StepContext) => context.suspend('?', 7 as never), 'the schema is 7'],
    [(context: StepContext) => context.suspend('?', undefined, { timeout: 1 } as never), 'timeout'],
    [(context: StepContext) => context.sleep('soon' as never), 'milliseconds or a date'],
    [(context: StepContext) => context.sleep(-1), 'milliseconds or a date'],
    // ends later than any date
    [(context: StepContext) => context.sleep(8.64e15), 'milliseconds or a date'],
  ])('names a wrong option: %#', async (call, message) => {
    const flow = workflow({
      id: 'w',
      steps: [
        step({ name: 's', run: async (context) => void (await call(context)), backoff: { delayMs: 60_000 } }),
      ],
    });
    const { run } = await (await ran(flow)).look();
    expect(run.result!.error!.message).toContain(message);
  });
});

/** The run as it ends in a process whose clock is a day ahead. */
async function later(flow: Workflow, { store, runId }: Awaited<ReturnType<typeof ran>>) {
  const leases = changed(store.leases, { now: async () => Date.now() + 86_400_000 });
  const engine = engineOver(store, [flow], { leases });
  return (await (await engine.answer(runId, { answers: new Map(), continuation: goOn })).ended).run;
}

describe('sleep()', () => {
  test('a short one stays in the process; a long one pauses the run until then', async () => {
    let executions = 0;
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 's',
          run: async ({ sleep }) => {
            executions += 1;
            await sleep(5);
            await sleep(new Date(Date.now() + 3_600_000));
            return 'awake';
          },
        }),
      ],
    });
    const run = await ran(flow);
    const { run: asleep, steps } = await run.look();
    expect(asleep.status).toBe('paused');
    expect(asleep.wakeAt! - Date.now()).toBeGreaterThan(3_000_000);
    expect(steps.filter(({ kind }) => kind === 'wait').map(({ key, status }) => [key, status])).toEqual([
      ['node:0:sleep:1', 'completed'],
      ['wait:node:0:sleep:2', 'running'],
    ]);
    expect(await later(flow, run)).toMatchObject({ result: { content: 'awake' } });
    expect(executions).toBe(2);
  });

  test('a long one whose time is not up stays asleep, however often the run is looked at', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 's',
          run: async ({ sleep }) => {
            await sleep(3_600_000);
            return 'awake';
          },
        }),
      ],
    });
    const run = await ran(flow);
    const { wakeAt } = (await run.look()).run;
    const engine = engineOver(run.store, [flow]);
    const looked = await engine.answer(run.runId, { answers: new Map(), continuation: goOn });
    expect((await looked.ended).run).toMatchObject({ status: 'paused', wakeAt });
    expect(await later(flow, run)).toMatchObject({ status: 'completed', result: { content: 'awake' } });
  });

  test('a long one is not over when the function is executed again for something else', async () => {
    const done: string[] = [];
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 's',
          run: async ({ sleep, suspend }) => {
            const asleep = sleep(3_600_000).then(() => done.push('awake'));
            const asked = suspend('Go?').then(() => done.push('answered'));
            await Promise.allSettled([asleep, asked]);
            return done.join(' ');
          },
        }),
      ],
    });
    const run = await ran(flow);
    const { wakeAt } = (await run.look()).run;
    expect((await run.answer({ confirmed: true })).run).toMatchObject({ status: 'paused', wakeAt });
    expect(done).toEqual(['answered']);
    expect(await later(flow, run)).toMatchObject({ status: 'completed' });
    expect(done.sort()).toEqual(['answered', 'answered', 'awake']);
  });

  test('a short one stays in its process until its time, and lends its slot meanwhile', async () => {
    const sleepMs = 57_123;
    const wakes: (() => void)[] = [];
    const timers: Timers = {
      ...systemTimers,
      after: (ms, work) => {
        if (ms > sleepMs || ms < sleepMs - 5_000) return systemTimers.after(ms, work);
        wakes.push(work);
        return () => {};
      },
    };
    const sleeper = workflow({
      id: 'sleeper',
      steps: [
        async ({ sleep }) => {
          await sleep(sleepMs);
          return 'awake';
        },
      ],
    });
    const store = await freshStore();
    const slots = new RunSlots({ executing: 1, waiting: 1 });
    const engine = engineOver(store, [sleeper], { slots, timers });
    const handles = [await begin(engine, sleeper), await begin(engine, sleeper)];
    await expect.poll(() => wakes.length).toBe(2);
    for (const wake of wakes) wake();
    for (const { ended } of handles) expect((await ended).run.result!.content).toBe('awake');
  });

  test('after a crash the time that was recorded counts', async () => {
    const reached = gate();
    let isFirst = true;
    const make = () =>
      workflow({
        id: 'w',
        steps: [
          step({
            name: 's',
            run: async ({ sleep }) => {
              const long = sleep(isFirst ? 977 : 3_000_000);
              await sleep(1);
              if (isFirst) {
                isFirst = false;
                reached.open();
                await new Promise(() => {});
              }
              await long;
              return 'awake';
            },
          }),
        ],
      });
    // in the process that dies it never ends
    const after: Timers['after'] = (ms, work) =>
      ms > 900 && ms <= 977 ? () => {} : systemTimers.after(ms, work);
    const timers = { ...systemTimers, after };
    const isStored = (keys: readonly string[]) => keys.includes('node:0:sleep:2');
    const run = await diesAndRecovers(make, reached.promise, isStored, { timers });
    expect((await run.look()).run.result!.content).toBe('awake');
  });
});

test('what a condition, a selector and the end of a loop set in the state is kept', async () => {
  const flow = workflow({
    id: 'w',
    steps: [
      condition({ name: 'c', when: ({ state }) => state.set('c', 1) === undefined, steps: [() => 'x'] }),
      router({
        name: 'r',
        select: ({ state }) => {
          state.set('r', state.get('c')!);
          return 'a';
        },
        choices: [step({ name: 'a', run: () => 'a' })],
      }),
      loop({ name: 'l', until: ({ state }) => state.set('l', 3) === undefined, steps: [() => 'x'] }),
    ],
  });
  const { run } = await (await ran(flow)).look();
  expect(run.result!.sessionState).toEqual({ c: 1, r: 1, l: 3 });
});

test('a step reads the bytes of media, and hands the media on as it is', async () => {
  const flow = workflow({
    id: 'w',
    steps: [
      step({ name: 'read', run: async ({ media }) => new TextDecoder().decode(await media[0]!.bytes()) }),
      step({
        name: 'count',
        run: ({ media }) => JSON.stringify(media.map((item) => Object.keys(item).includes('bytes'))),
      }),
    ],
  });
  const output = await flow.run('x', {
    files: [{ bytes: new TextEncoder().encode('hello'), mimeType: 'text/plain' }],
  });
  expect(output.stepResults.map(({ content }) => content)).toEqual(['hello', '[false]']);
});
