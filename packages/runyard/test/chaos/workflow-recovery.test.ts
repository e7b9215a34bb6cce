import { expect, test } from 'vitest';
import type { Body } from '../support/service.js';
import { Place, startAll } from './inside/runs.js';
import { onEveryDatabase } from './places.js';
import { playSideBySide } from './side-by-side.js';

const names = (run: Body) => run.step_results.map(({ step_name }: Body) => step_name);
const completions = (run: Body, name: string) =>
  run.events.filter(({ event, step_name }: Body) => event === 'StepCompleted' && step_name === name).length;

interface Kind {
  /** What the process dies in. */
  readonly held: string;
  /** What else is done, beside the first and the last step. */
  readonly others: Readonly<Record<string, number>>;
  readonly step: string;
  /** What has ended before that. */
  readonly ended: (event: Body) => boolean;
}

const completed = (name: string) => (event: Body) =>
  event.event === 'StepCompleted' && event.step_name === name;
const ran = (agent: string) => (event: Body) => event.event === 'RunCompleted' && event.agent_id === agent;
const called = ({ event, agent_id, tool }: Body) =>
  event === 'ToolCallCompleted' && agent_id === 'bob' && tool.tool_name === 'begin';
const ada = { 'ada begin': 1, 'ada finish': 1 };

const kinds: Readonly<Record<string, Kind>> = {
  function: { held: 'held', others: {}, step: 'held', ended: completed('first') },
  agent: { held: 'bob finish', others: { 'bob begin': 1 }, step: 'agent', ended: called },
  team: { held: 'bob finish', others: { ...ada, 'bob begin': 1 }, step: 'team', ended: called },
  workflow: { held: 'held', others: { one: 1, two: 1 }, step: 'inner', ended: completed('one') },
  steps: { held: 'held', others: { one: 1, two: 1 }, step: 'group', ended: completed('one') },
  condition: { held: 'held', others: { one: 1 }, step: 'if', ended: completed('one') },
  router: { held: 'held', others: {}, step: 'way', ended: completed('first') },
  parallel: { held: 'held', others: { one: 1, ...ada }, step: 'both', ended: ran('ada') },
};

type Review = readonly [
  answer: (paused: Body) => Record<string, unknown>,
  before: Readonly<Record<string, number>>,
];

const aboutStep =
  (answer: object) =>
  ({ step_requirements: [asked] }: Body) => ({ step_requirements: [{ ...asked, ...answer }] });

/** How a person answers what each workflow asks, and what was done before it asked. */
const reviews: Readonly<Record<string, Review>> = {
  confirmed: [aboutStep({ confirmed: true }), {}],
  filled: [aboutStep({ user_input: { seat: 1 } }), {}],
  chosen: [aboutStep({ selected_choices: ['held'] }), {}],
  reviewed: [aboutStep({ confirmed: true }), { held: 1 }],
  iterated: [aboutStep({ confirmed: true }), { held: 1 }],
  mended: [
    ({ error_requirements: [failed] }) => ({ error_requirements: [{ ...failed, decision: 'retry' }] }),
    { held: 1 },
  ],
  executor: [
    ({ step_requirements: [asked] }) => {
      const [call] = asked.executor_requirements;
      const executor_requirements = [{ ...call, confirmation: true }];
      return { step_requirements: [{ ...asked, executor_requirements }] };
    },
    {},
  ],
};

onEveryDatabase((options) => {
  test('workflows whose process was killed', async () => {
    const place = new Place(await options());
    await playSideBySide(place, {
      async *'in every kind of step only unfinished work is repeated'() {
        for (const held of ['held', 'bob finish']) place.order('hold', held);
        const started = await startAll(
          place,
          Object.keys(kinds).map((id) => `workflows/${id}`),
        );
        await Promise.all([place.begun('held', 6), place.begun('bob finish', 2)]);
        for (const [position, { ended }] of Object.values(kinds).entries()) {
          const [runs, runId] = started[position]!;
          await runs.stored(runId, 'what has ended', ({ events }) => events.some(ended));
        }
        yield;
        await Promise.all([place.begun('held', 12), place.begun('bob finish', 4)]);
        for (const held of ['held', 'bob finish']) place.order('release', held);
        for (const [position, [id, { held, others, step }]] of Object.entries(kinds).entries()) {
          const [runs, runId] = started[position]!;
          const run = await runs.settled(runId);
          expect(run, id).toMatchObject({ status: 'completed', content: 'last is done' });
          expect(names(run)).toEqual(['first', step, 'last']);
          expect(place.counts(run), id).toEqual({ first: 1, ...others, [held]: 2, last: 1 });
          expect(place.keys(run, held).size).toBe(1);
          for (const name of ['first', 'last']) expect(completions(run, name), id).toBe(1);
          if (id === 'parallel')
            expect(run.step_results[1].steps.map(({ content }: Body) => content)).toEqual([
              ...['one is done', 'held is done', 'ada is done'],
            ]);
        }
      },

      async *'a crash in the second iteration of a loop does not begin the loop again'() {
        place.order('hold', 'loop: held');
        const runs = place.runs('workflows/loop');
        const runId = await runs.start();
        await place.begun('loop: held');
        place.order('hold', 'loop: one');
        place.order('release', 'loop: held');
        await place.begun('loop: one', 2);
        await runs.stored(runId, 'the first iteration', (run) => completions(run, 'held') === 1);
        yield;
        await place.begun('loop: one', 3);
        place.order('release', 'loop: one');
        const run = await runs.settled(runId);
        expect(run.status).toBe('completed');
        expect(run.step_results[1].steps).toHaveLength(4);
        expect(place.counts(run)).toEqual({ first: 1, one: 3, held: 2, last: 1 });
        const [before, first, again] = place.effects('loop: one').map(({ idempotencyKey }) => idempotencyKey);
        expect(again).toBe(first);
        expect(before).not.toBe(first);
        const completed = run.events.filter(({ event }: Body) => event === 'LoopIterationCompleted');
        expect(completed.map(({ iteration }: Body) => iteration)).toEqual([1, 2]);
      },

      async *'a step that fails after its process died is tried again'() {
        for (const order of ['fail', 'hold'] as const) place.order(order, 'retried: held');
        const runs = place.runs('workflows/retried');
        const runId = await runs.start();
        await place.begun('retried: held');
        await runs.stored(runId, 'the first step', (run) => completions(run, 'first') === 1);
        yield;
        await place.begun('retried: held', 2);
        place.order('release', 'retried: held');
        const run = await runs.settled(runId);
        expect(run).toMatchObject({ status: 'completed', content: 'last is done' });
        expect(place.keys(run, 'retried: held').size).toBe(1);
        expect(place.counts(run)).toEqual({ first: 1, held: 3, last: 1 });
      },

      async *'questions of steps are still open after a crash, and answered once'() {
        place.order('fail', 'asked: held');
        const started = await startAll(
          place,
          Object.keys(reviews).map((id) => `workflows/${id}`),
        );
        const paused = await Promise.all(started.map(([runs, runId]) => runs.settled(runId)));
        yield;
        place.order('hold', 'asked: last');
        for (const [position, [id, [answer, before]]] of Object.entries(reviews).entries()) {
          const [runs, runId] = started[position]!;
          const again = await runs.get(runId);
          const { step_requirements, error_requirements } = paused[position]!;
          expect(again, id).toMatchObject({ status: 'paused' });
          expect(again.step_requirements).toEqual(step_requirements);
          expect(again.error_requirements).toEqual(error_requirements);
          expect(place.counts(again), id).toEqual({ first: 1, ...before });
          await runs.continue(runId, answer(again));
        }
        await place.begun('asked: last', started.length);
        for (const [position, id] of Object.keys(reviews).entries()) {
          const [runs, runId] = started[position]!;
          const ended = ({ event, step_name }: Body) =>
            (event === 'StepCompleted' || event === 'LoopExecutionCompleted') && step_name !== 'first';
          await runs.stored(runId, `the step of ${id}`, ({ events }) => events.some(ended));
        }
        yield;
        place.order('release', 'asked: last');
        for (const [position, id] of Object.keys(reviews).entries()) {
          const [runs, runId] = started[position]!;
          const run = await runs.settled(runId);
          expect(run, id).toMatchObject({ status: 'completed', content: 'last is done' });
          const { first, last, ...between } = place.counts(run);
          expect([first, last], id).toEqual([1, 2]);
          const done = id === 'executor' ? { 'kim sign': 1 } : { held: id === 'mended' ? 2 : 1 };
          expect(between, id).toEqual(done);
        }
      },
    });
  });

  test('a step whose process dies the moment it begins is begun again under the same key', async () => {
    const place = new Place(await options());
    await place.start();
    for (const id of ['function', 'workflow']) {
      place.order('die', 'held');
      const runs = place.runs(`workflows/${id}`);
      const runId = await runs.start();
      await place.died;
      await place.start();
      const run = await runs.settled(runId);
      expect(run.status).toBe('completed');
      const effectsOf = (wanted: string) => place.effectsOf(run).filter(({ name }) => name === wanted);
      const [before, after, ...more] = effectsOf('held');
      expect(after!.idempotencyKey).toBe(before!.idempotencyKey);
      expect(after!.pid).not.toBe(before!.pid);
      expect(more).toEqual([]);
      expect(effectsOf('last')).toHaveLength(1);
    }
  });

  test('the time of a review is up while no process is running or in the next one, and never when that has cancelled it', async () => {
    const place = new Place(await options());
    const runs = place.runs('workflows/timed');
    const expectTimedOut = async (runId: string) => {
      const run = await runs.stored(runId, 'the end', ({ status }) => status === 'completed');
      expect(run.step_requirements).toMatchObject([{ step_name: 'held', timed_out: true }]);
      expect(place.counts(run)).toEqual({ first: 1, held: 1, last: 1 });
    };
    await place.start();
    const missed = await runs.start();
    const { step_requirements } = await runs.settled(missed);
    await place.kill();
    const dueIn = Date.parse(step_requirements[0].timeout_at) - Date.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueIn)));
    await place.start();
    await expectTimedOut(missed);

    const [unwanted, other] = await Promise.all([runs.start(), runs.start()]);
    await Promise.all([unwanted, other].map((runId) => runs.settled(runId)));
    await place.kill();
    await place.start();
    await runs.send(`/${unwanted}/cancel`);
    // a run that is due later than both completes too: by then the time of the others was up
    const later = await runs.start();
    for (const runId of [other, later]) await expectTimedOut(runId);
    const run = await runs.get(unwanted);
    expect(run.status).toBe('cancelled');
    expect(place.counts(run)).toEqual({ first: 1 });
  });
});
