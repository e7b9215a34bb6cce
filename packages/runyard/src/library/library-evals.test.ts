import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  accuracy,
  accuracyScorer,
  type CaseResult,
  compareResults,
  contains,
  dataset,
  evaluate,
  exact,
  jsonSchema,
  judge,
  maxCost,
  maxLatency,
  maxTokens,
  performance,
  regex,
  reliability,
  type Scorer,
  scorer,
  similarity,
} from '../evals.js';
import { agent, team, tool, workflow } from '../index.js';
import { type ScriptedTurn, scriptedModel } from '../testing.js';

const echo = (id = 'echo') =>
  agent({ id, model: scriptedModel(({ messages }) => messages.at(-1)?.content ?? '') });

function answering(...script: ScriptedTurn[]) {
  return agent({ id: 'a', name: 'Helper', model: scriptedModel(script) });
}

describe('an accuracy eval', () => {
  test('scores each iteration with the given judge and passes from the threshold on', async () => {
    const scores = [3, 8, 10];
    const judged = accuracy({
      agent: answering('four', 'four', 'four'),
      input: 'What is 2+2?',
      expectedOutput: '4',
      iterations: 3,
      concurrency: 1,
      threshold: 7,
      judge: scriptedModel(scores.map((score) => JSON.stringify({ reason: `r${score}`, score }))),
    });
    const seen: string[] = [];
    const result = await judged.run({ onProgress: ({ done, total }) => seen.push(`${done}/${total}`) });
    expect(seen).toEqual(['1/3', '2/3', '3/3']);
    expect(result).toMatchObject({
      name: 'Accuracy of Helper',
      kind: 'accuracy',
      component: { kind: 'agent', id: 'a' },
      passed: true,
      summary: { scores: { count: 3, mean: 7, min: 3, max: 10 }, passed: 2, failed: 1 },
    });
    expect(
      result.results.map(({ scores: { accuracy: of }, run }) => [of?.score, of?.reason, run?.output]),
    ).toEqual(scores.map((score) => [score, `r${score}`, 'four']));
  });

  test('records a failed run and does not judge it', async () => {
    const model = scriptedModel(['{"reason":"r","score":9}']);
    const failing = answering('four', { error: new Error('no key') });
    const result = await accuracy({
      agent: failing,
      input: 'q',
      expectedOutput: 'four',
      iterations: 2,
      concurrency: 1,
      judge: model,
    }).run();
    expect(model.requests).toHaveLength(1);
    expect(result).toMatchObject({ passed: false, failures: 1, summary: { scores: { count: 1, mean: 9 } } });
    expect(result.faults).toEqual(['1 of 2 executions failed.']);
    expect(result.results[1]).toMatchObject({
      iteration: 2,
      run: { status: 'error' },
      failure: 'no key',
      scores: {},
    });
  });

  test('is judged by the model of the agent when no other is given', async () => {
    const result = await accuracy({
      agent: agent({ id: 'o', model: 'offline', instructions: 'Always answer with "Paris is the capital."' }),
      input: 'What is the capital of France?',
      expectedOutput: 'Paris',
      threshold: 9,
    }).run();
    expect(result).toMatchObject({ passed: true, summary: { scores: { mean: 10 } } });
  });
});

test('a judge decides by criteria, also about a workflow', async () => {
  const flow = workflow({ id: 'w', steps: [echo()] });
  const binary = { reason: 'r', passed: true };
  const verdicts = [binary, { reason: 'r', passed: false }].map((verdict) => JSON.stringify(verdict));
  const options = { workflow: flow, input: 'q', criteria: 'It is polite', iterations: 2, concurrency: 1 };
  const passed = await judge({ ...options, judge: scriptedModel(verdicts), passRate: 0.5 }).run();
  expect(passed).toMatchObject({ kind: 'agent_as_judge', passed: true, summary: { passRate: 0.5 } });
  const failed = await judge({ ...options, judge: scriptedModel(verdicts) }).run();
  expect(failed.faults).toEqual(['judge: the pass rate is 0.5, below 1.']);
});

test('reliability looks at the calls of the members of a team', async () => {
  const add = tool({
    name: 'add',
    description: 'Adds',
    inputSchema: z.object({ a: z.number() }),
    execute: ({ a }) => a,
  });
  const member = agent({
    id: 'm',
    tools: [add],
    model: scriptedModel([{ toolCalls: [{ name: 'add', arguments: { a: 1 } }] }, 'done']),
  });
  const delegate = { name: 'delegate_task_to_member', arguments: { member_id: 'm', task: 't' } };
  const result = await reliability({
    team: team({ id: 't', members: [member], model: scriptedModel([{ toolCalls: [delegate] }, 'done']) }),
    input: 'Add',
    expectedToolCalls: ['add', 'delegate_task_to_member'],
    expectedArguments: { add: { a: 1 } },
  }).run();
  expect(result).toMatchObject({ passed: true, summary: { passRate: 1 } });
});

test('performance measures times and memory of the same runs, after warm-ups', async () => {
  const model = scriptedModel(() => 'x');
  const result = await performance({
    agent: agent({ id: 'p', model }),
    input: 'q',
    iterations: 3,
    warmups: 2,
    thresholds: { maxMs: 0 },
  }).run();
  expect(model.requests).toHaveLength(5);
  const { runTimesMs, heapBytes, runTime } = result.summary;
  expect([runTimesMs.length, heapBytes.length]).toEqual([3, 3]);
  expect(runTimesMs.every((ms) => ms > 0) && heapBytes.every((bytes) => bytes >= 0)).toBe(true);
  expect(runTime.max).toBe(Math.max(...runTimesMs));
  expect(result.faults[0]).toMatch(/^The longest run time is [\d.]+ ms, above 0 ms\.$/);
});

describe('evaluate()', () => {
  const verdictsOf = (results: readonly CaseResult[]) =>
    results.map(({ case: of, scores }) => [
      of.id,
      Object.entries(scores).flatMap(([name, { passed }]) => (passed ? name : [])),
    ]);

  test('scores many cases by ready scorers and by functions of the application', async () => {
    const long = scorer({ name: 'long', threshold: 8, score: ({ run }) => run.output.length });
    function polite({ run }: Parameters<Scorer['score']>[0]): boolean {
      return run.output.includes('please');
    }
    const cases = dataset({
      name: 'greetings',
      cases: [
        { id: 'json', input: '{"n":1}', expectedOutput: '{"n":1}' },
        { id: 'words', input: 'Hello dear friend, please', expectedOutput: 'hello' },
      ],
    });
    const scorers = [
      exact(),
      contains(),
      contains({ name: 'any', texts: ['nope', 'HELLO'], match: 'any' }),
      regex({ pattern: /^hel+o/i }),
      jsonSchema({ schema: z.object({ n: z.number() }) }),
      similarity({ embedder: 'offline', threshold: 0.99 }),
      maxLatency({ ms: 60_000 }),
      maxTokens({ tokens: 10 }),
      long,
      polite,
    ];
    const thresholds = { exact: { passRate: 0.5 }, long: { mean: 5 } };
    const result = await evaluate({ name: 'Echo', agent: echo(), dataset: cases, scorers, thresholds }).run();
    expect(verdictsOf(result.results)).toEqual([
      ['json', ['exact', 'contains', 'json_schema', 'similarity', 'max_latency']],
      ['words', ['contains', 'any', 'regex', 'max_latency', 'long', 'polite']],
    ]);
    expect(result.dataset).toBe('greetings');
    expect(result.passed).toBe(false);
    expect(result.faults).toContain('max_tokens: 2 of 2 runs did not pass.');
    expect(result.faults.filter((fault) => /^(exact|long|contains|max_latency):/.test(fault))).toEqual([]);
  });

  test('names a scorer that cannot score', async () => {
    const { results, failures } = await evaluate({
      name: 'Costs',
      agent: echo(),
      cases: [{ input: 'q' }],
      scorers: [maxCost({ usd: 1 }), exact()],
    }).run();
    expect(failures).toBe(1);
    expect(results[0]!.failure).toMatch(
      /^The scorer 'max_cost' failed: the price .*\nThe scorer 'exact' failed: the case/s,
    );
  });

  test('does not let a pattern keep the process busy, whatever the output is', async () => {
    const scorers = [regex({ pattern: 'a+b' }), regex({ name: 'plain', pattern: 'b$' })];
    const cases = ['a'.repeat(200_000), `${'-'.repeat(200_000)}ab`].map((input) => ({ input }));
    const { results } = await evaluate({ name: 'Busy', agent: echo(), cases, scorers }).run();
    expect(results[0]!.failure).toMatch(/^The scorer 'regex' failed: the pattern a\+b takes too long/);
    expect(verdictsOf(results)[1]![1]).toEqual(['regex', 'plain']);
  });

  test('says what got better and worse since another eval of the same cases', async () => {
    const cases = dataset({
      name: 'd',
      cases: [1, 2].map((n) => ({ id: `c${n}`, input: `q${n}`, expectedOutput: 'yes' })),
    });
    const run = (answers: Record<string, string>) =>
      evaluate({
        name: 'n',
        agent: agent({
          id: 'x',
          model: scriptedModel(({ messages }) => answers[messages.at(-1)!.content] ?? ''),
        }),
        dataset: cases,
        scorers: [exact()],
        iterations: 2,
      }).run();
    const [before, after] = [await run({ q1: 'yes', q2: 'no' }), await run({ q1: 'yes', q2: 'yes' })];
    const { cases: compared } = compareResults(before, after);
    expect(compared.map(({ caseId, change }) => [caseId, change])).toEqual([
      ['c1', 'same'],
      ['c2', 'better'],
    ]);
  });

  test('ends with its runs when its signal is aborted', async () => {
    const stop = new AbortController();
    const slow = answering({
      waitFor: (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    });
    const running = evaluate({ name: 'Slow', agent: slow, cases: [{ input: 'q' }], scorers: [exact()] });
    setImmediate(() => stop.abort(new Error('enough')));
    await expect(running.run({ signal: stop.signal })).rejects.toThrow('enough');
  });
});

describe('the definition of an eval', () => {
  const input = 'q';
  const a = echo();
  const flow = workflow({ id: 'w', steps: [a] });
  const scorers = [exact()];
  const cases = [{ input }];
  test.each<[string, () => unknown]>([
    [
      'Did you mean expectedOutput?',
      () => accuracy({ agent: a, input, expectedOutput: 'x', ...{ expectedOutptu: 1 } }),
    ],
    ['give one of agent, team and workflow', () => accuracy({ input, expectedOutput: 'x' })],
    [
      'give one of agent, team and workflow',
      () => accuracy({ agent: a, workflow: flow, input, expectedOutput: 'x' }),
    ],
    ['a workflow has none. Give judge', () => accuracy({ workflow: flow, input, expectedOutput: 'x' })],
    [
      'a whole number from 1 to 100',
      () => accuracy({ agent: a, input, expectedOutput: 'x', iterations: 101 }),
    ],
    ['a whole number from 1 to 10', () => judge({ agent: a, input, criteria: 'c', threshold: 11 })],
    [
      "threshold belongs to scoring: 'numeric'",
      () => judge({ agent: a, input, criteria: 'c', threshold: 8 }),
    ],
    ['criteria is missing', () => judge({ agent: a, input } as never)],
    ['a whole number from 0 to 10', () => performance({ agent: a, input, warmups: 11 })],
    ['expectedToolCalls is missing', () => reliability({ agent: a, input } as never)],
    ['give either cases or a dataset', () => evaluate({ name: 'n', agent: a, scorers })],
    [
      "two scorers have the name 'exact'",
      () => evaluate({ name: 'n', agent: a, cases, scorers: [exact(), exact()] }),
    ],
    [
      'thresholds.exat is the name of no scorer',
      () => evaluate({ name: 'n', agent: a, cases, scorers, thresholds: { exat: {} } }),
    ],
    ['A scorer needs a name', () => evaluate({ name: 'n', agent: a, cases, scorers: [() => 1] })],
    [
      'a workflow has none',
      () => evaluate({ name: 'n', workflow: flow, cases, scorers: [accuracyScorer()] }),
    ],
    ['cannot be used: it repeats a group', () => regex({ pattern: '(a+)+$' })],
  ])('says %s', (message, define) => {
    expect(define).toThrow(message);
  });
});
