import { expect, test } from 'vitest';
import { judgeScorer } from '../../../src/core/evals/kinds/agent-as-judge.js';
import { agent, liveEval, Runyard, type Scorer } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService } from '../../support/service.js';
import { until } from '../../support/until.js';

test('grades finished runs in the background, and shows the scores on traces and in the metrics', async () => {
  const book = new ScriptBook();
  const seen: string[] = [];
  const short: Scorer = {
    // every object has a member of this name
    name: 'constructor',
    score: ({ run }) => {
      seen.push(run.input);
      if (run.input === 'unscorable') throw new Error('no idea');
      return { score: run.output.length, passed: run.output.length < 100 };
    },
  };
  const verdict = JSON.stringify({ reason: 'It is my card 4111111111111111.', passed: true });
  const judge = scriptedModel(
    Array.from({ length: 10 }, () => verdict),
    { id: 'strict' },
  );
  const writer = agent({ id: 'writer', model: book.model });
  const service = await startService({
    agents: [writer, agent({ id: 'other', model: book.model })],
    liveEvals: [
      liveEval({
        name: 'quality',
        agent: writer,
        sample: 1,
        judge,
        scorers: [short, judgeScorer({ criteria: 'Be brief.' })],
        maxPerHour: 2,
      }),
    ],
    traceRedact: ['/\\b\\d{16}\\b/'],
  });
  const evalsOfDay = async () => {
    const { metrics } = (await service.get('/metrics')).body;
    return metrics.flatMap((day: { eval_metrics?: object[] }) => day.eval_metrics ?? []);
  };
  const untilCounted = (fields: object) =>
    until(`the metrics have ${JSON.stringify(fields)}`, async () => {
      const [found] = await evalsOfDay();
      return Object.entries(fields).every(([name, value]) => found?.[name] === value) && found;
    });

  book.write('broken', { error: new Error('the model is away') });
  book.write('good', { text: 'Yes.' });
  await service.run('other', { message: 'hello' });
  const failed = await service.run('writer', { message: 'broken' });
  const { body: graded } = await service.run('writer', { message: 'good', session_id: 's' });
  const first = await untilCounted({ graded: 1, failed: 1 });
  expect(first).toEqual({
    eval: 'quality',
    type: 'agent',
    component_id: 'writer',
    graded: 1,
    incomplete: 0,
    pending: 0,
    failed: 1,
    skipped: 0,
    scorers: [
      { scorer: 'constructor', count: 1, mean_score: 4, pass_rate: 100 },
      { scorer: 'judge', count: 1, mean_score: null, pass_rate: 100 },
    ],
  });
  expect(failed.status).not.toBe(500);
  expect(seen).toEqual(['good']);

  const { data } = (await service.get('/traces')).body;
  const inList = data.filter((trace: { scores?: object[] }) => trace.scores !== undefined);
  expect(inList).toHaveLength(1);
  expect(inList[0]).toMatchObject({
    run_id: graded.run_id,
    scores: [
      { eval: 'quality', scorer: 'constructor', score: 4, passed: true },
      { eval: 'quality', scorer: 'judge', score: null, passed: true, judge_model: { id: 'strict' } },
    ],
  });
  expect(inList[0].scores[1]).not.toHaveProperty('reason');
  const detail = (await service.get(`/traces/${inList[0].trace_id}`)).body;
  expect(detail.scores[1].reason).toMatch(/^It is my card (?!4111)/);

  // a scorer that fails does not keep the others from scoring; what is beyond the bound is counted
  await service.run('writer', { message: 'unscorable' });
  await service.run('writer', { message: 'one too many' });
  await untilCounted({ graded: 1, incomplete: 1, failed: 1, skipped: 1 });

  const { data: listed } = (await service.get('/traces')).body;
  const headers = { 'content-type': 'application/json' };
  const { body: found } = await service.call('POST', '/traces/search', { headers, body: '{}' });
  const scoresOf = (traces: Body[]) => traces.map(({ run_id, scores }) => [run_id, scores]);
  expect(scoresOf(found.data)).toEqual(scoresOf(listed));
  expect(listed.filter(({ scores }: Body) => scores !== undefined)).toHaveLength(2);

  await service.call('DELETE', '/sessions/s?type=agent');
  const after = (await service.get(`/traces/${inList[0].trace_id}`)).body;
  expect(after).not.toHaveProperty('scores');
});

test('refuses a live eval of a component that is not registered', async () => {
  const scorers = [{ name: 'any', score: () => ({ score: 1, passed: true }) }];
  const writer = agent({ id: 'writer', model: 'offline' });
  const start = (...liveEvals: ReturnType<typeof liveEval>[]) =>
    startService({ agents: [writer], liveEvals });
  await expect(start(liveEval({ agent: 'wirter', scorers }))).rejects.toThrow(
    "Live eval 'wirter': no agent with the id 'wirter' is registered or stored. Registered: writer.",
  );
  await expect(start(liveEval({ team: 'writer', scorers }))).rejects.toThrow('Registered: none.');
  const twice = [liveEval({ agent: writer, scorers }), liveEval({ agent: 'writer', scorers })];
  await expect(start(...twice)).rejects.toThrow("Two live evals have the name 'writer'");
  // what is no live eval is refused at once
  expect(() => new Runyard({ liveEvals: [{ agent: 'writer' } as never] })).toThrow('made with liveEval()');
});
