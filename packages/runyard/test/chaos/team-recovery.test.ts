import { expect, test } from 'vitest';
import type { Body } from '../support/service.js';
import { count, Place, startAll } from './inside/runs.js';
import { onEveryDatabase } from './places.js';
import { playSideBySide } from './side-by-side.js';

const members = (run: Body) =>
  run.member_responses.map((member: Body) => `${member.agent_id} ${member.status}`);
const calls = (run: Body, name: string) =>
  run.events.filter(({ event, tool }: Body) => event === 'ToolCallStarted' && tool.tool_name === name).length;

onEveryDatabase((options) => {
  test('teams whose process was killed', async () => {
    const place = new Place(await options());
    await playSideBySide(place, {
      async *'a crash in the middle of a broadcast repeats no finished member'() {
        place.order('hold', 'cleo finish');
        const runs = place.runs('teams/broadcast');
        const runId = await runs.start();
        await place.begun('cleo finish');
        const before = await runs.stored(
          runId,
          'the end of two',
          (run) => count(run, 'RunCompleted') === 2 && calls(run, 'finish') === 3,
        );
        yield;
        await place.begun('cleo finish', 2);
        place.order('release', 'cleo finish');
        const run = await runs.settled(runId);
        expect(run).toMatchObject({ status: 'completed', content: 'leader is done' });
        expect(members(run)).toEqual(['ada completed', 'dan completed', 'cleo completed']);
        expect(place.counts(run)).toEqual({
          ...{ 'ada begin': 1, 'ada finish': 1, 'dan begin': 1, 'dan finish': 1 },
          ...{ 'cleo begin': 1, 'cleo finish': 2 },
        });
        expect(place.keys(run, 'cleo finish').size).toBe(1);
        expect(count(run, 'RunCompleted')).toBe(3);
        expect(run.events.slice(0, before.events.length)).toEqual(before.events);
      },

      async *'in every mode an interrupted member resumes after its last finished call'() {
        place.order('hold', 'bob finish');
        const modes = ['coordinate', 'route', 'tasks', 'nested'];
        const started = await startAll(
          place,
          modes.map((mode) => `teams/${mode}`),
        );
        await place.begun('bob finish', 4);
        for (const [position, [runs, runId]] of started.entries()) {
          const asked = modes[position] === 'route' ? 1 : 2;
          await runs.stored(runId, 'the call', (run) => calls(run, 'finish') === asked);
        }
        yield;
        await place.begun('bob finish', 8);
        place.order('release', 'bob finish');
        for (const [position, [runs, runId]] of started.entries()) {
          const run = await runs.settled(runId);
          const isRoute = modes[position] === 'route';
          const content = isRoute ? 'bob is done' : 'leader is done';
          expect(run).toMatchObject({ status: 'completed', content });
          const others = isRoute ? {} : { 'ada begin': 1, 'ada finish': 1 };
          expect(place.counts(run)).toEqual({ ...others, 'bob begin': 1, 'bob finish': 2 });
          expect(place.keys(run, 'bob finish').size).toBe(1);
          const asked = modes[position] === 'nested' ? run.member_responses[0] : run;
          expect(members(asked)).toEqual(isRoute ? ['bob completed'] : ['ada completed', 'bob completed']);
          const ended = run.events.filter(({ event }: Body) => event === 'RunCompleted');
          expect(new Set(ended.map(({ run_id }: Body) => run_id)).size).toBe(ended.length);
        }
      },

      async *'members that wait when the process dies get each its own answer'() {
        const runs = place.runs('teams/signing');
        const runId = await runs.start();
        expect((await runs.settled(runId)).status).toBe('paused');
        yield;
        const paused = await runs.get(runId);
        const [kim, lou] = paused.requirements;
        expect([kim.member_agent_id, lou.member_agent_id]).toEqual(['kim', 'lou']);
        expect(place.effectsOf(paused)).toEqual([]);
        await runs.continue(runId, { requirements: [{ ...lou, confirmation: true }] });
        const half = await runs.stored(
          runId,
          'the second pause',
          (run) => run.status === 'paused' && count(run, 'RunCompleted') === 1,
        );
        expect(place.counts(half)).toEqual({ 'lou sign': 1 });
        expect(members(half)).toEqual(['kim paused', 'lou completed']);
        yield;
        await runs.continue(runId, { requirements: [{ ...kim, confirmation: false }] });
        const run = await runs.settled(runId);
        expect(run).toMatchObject({ status: 'completed', content: 'leader is done' });
        expect(place.counts(run)).toEqual({ 'lou sign': 1 });
        expect(members(run)).toEqual(['kim completed', 'lou completed']);
      },

      async *'a team that was taken over is cancelled with the member that is executing'() {
        place.order('hold', 'eve finish');
        const runs = place.runs('teams/cancelled');
        const runId = await runs.start();
        await place.begun('eve finish');
        await runs.stored(runId, 'the call', (run) => calls(run, 'finish') === 2);
        yield;
        await place.begun('eve finish', 2);
        await runs.send(`/${runId}/cancel`);
        const run = await runs.get(runId);
        expect(run.status).toBe('cancelled');
        place.order('release', 'eve finish');
        expect(members(run)).toEqual(['ada completed', 'eve cancelled']);
        expect(run.events.slice(-4).map(({ event }: Body) => event)).toEqual([
          ...['RunCancelled', 'RunCompleted', 'TeamRunCancelled', 'TeamRunCompleted'],
        ]);
        yield;
        expect((await runs.get(runId)).events).toEqual(run.events);
        expect(place.counts(run)).toEqual({
          ...{ 'ada begin': 1, 'ada finish': 1, 'eve begin': 1, 'eve finish': 2 },
        });
      },
    });
  });
});
