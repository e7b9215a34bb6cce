import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  type FailureReason,
  type Fallback,
  type FallbackNotice,
  ModelError,
  tool,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { startService } from '../../support/service.js';

const overloaded = (more: { retryAfterMs?: number } = {}) =>
  new ModelError('overloaded', { provider: 'P', kind: 'refused', status: 529, retryable: true, ...more });
const refused = () => new ModelError('no such model', { provider: 'P', kind: 'refused', status: 404 });

describe('a failed model call', () => {
  test('is made again; the stream begins the run anew', async () => {
    const model = scriptedModel([
      { chunks: ['half an '], error: overloaded() },
      { error: 'crash' },
      'whole answer',
    ]);
    const a = agent({ id: 'a', model, retries: 2, delayBetweenRetriesMs: 1 });
    const service = await startService({ agents: [a] });
    const stream = await (await service.stream('a', { message: 'hi' })).end();
    expect(stream.names.filter((name) => name !== 'RunContent')).toEqual([
      'RunStarted',
      'ModelRequestStarted',
      'RunStarted',
      'ModelRequestStarted',
      'RunStarted',
      'ModelRequestStarted',
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
    expect(new Set(stream.events.map(({ run_id }) => run_id)).size).toBe(1);
    expect(stream.first('RunCompleted').content).toBe('whole answer');
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body.messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant']);
    expect((await service.get('/agents/a')).body.response_settings).toEqual({
      retries: 2,
      delay_between_retries: 0.001,
    });
  });

  test('fails the run when all tries are used up', async () => {
    const model = scriptedModel(() => ({ error: overloaded() }));
    const service = await startService({
      agents: [agent({ id: 'a', model, retries: 2, delayBetweenRetriesMs: 1, exponentialBackoff: true })],
    });
    const { body } = await service.run('a', { message: 'hi' });
    expect(body).toMatchObject({
      status: 'error',
      error_type: 'model_provider_error',
      content: 'overloaded',
    });
    expect(model.requests).toHaveLength(3);
  });

  test.each([
    ['that will not get better', refused()],
    ['whose provider wants to be left alone for long', overloaded({ retryAfterMs: 3_600_000 })],
  ])('%s is not made again', async (_what, error) => {
    const model = scriptedModel([{ error }]);
    const output = await agent({ id: 'a', model, retries: 5 }).run('hi');
    expect(output).toMatchObject({ status: 'error', error: { code: 'model_provider_error' } });
  });

  test('waits as its provider asks, and no longer than the run lives', async () => {
    const model = scriptedModel(() => ({ error: overloaded({ retryAfterMs: 50_000 }) }));
    const controller = new AbortController();
    const events: string[] = [];
    for await (const { event } of agent({ id: 'a', model, retries: 1 }).stream('hi', {
      signal: controller.signal,
    })) {
      events.push(event);
      if (event === 'ModelRequestStarted') setImmediate(() => controller.abort());
    }
    expect(events.slice(-2)).toEqual(['RunCancelled', 'RunCompleted']);
    expect(model.requests).toHaveLength(1);
  });
});

describe('fall-back models', () => {
  const add = tool({
    name: 'add',
    description: 'Adds',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b,
  });

  test('are tried in order, and the one that answers continues the run', async () => {
    const first = scriptedModel(() => ({ error: refused() }), { id: 'first' });
    const second = scriptedModel(() => ({ error: overloaded() }), { id: 'second' });
    const third = scriptedModel([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, 'three'], {
      id: 'third',
    });
    const a = agent({
      id: 'a',
      model: first,
      fallbackModels: [second, third],
      retries: 1,
      delayBetweenRetriesMs: 1,
      tools: [add],
    });
    const service = await startService({ agents: [a] });
    const stream = await (await service.stream('a', { message: '1 + 2' })).end();
    expect(stream.all('ModelRequestStarted').map(({ model }) => model)).toEqual([
      'first',
      'second',
      'second',
      'third',
      'third',
    ]);
    expect(stream.all('ModelRequestCompleted').map(({ model }) => model)).toEqual(['third', 'third']);
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body).toMatchObject({ status: 'completed', content: 'three', model: 'first' });
    expect(body.metrics.details.model).toEqual([
      { id: 'third', provider: 'Runyard', input_tokens: 20, output_tokens: 10, total_tokens: 30 },
    ]);
  });

  const failing = (id: string, reason?: FailureReason) =>
    scriptedModel(() => ({ error: new ModelError(id, { provider: 'P', kind: 'refused', reason }) }), { id });

  test('for a reason are called for that one alone, before or after those for every reason', async () => {
    const notices: FallbackNotice[] = [];
    const long = scriptedModel(['read it all'], { id: 'long' });
    const cheap = failing('cheap', 'context_overflow');
    const unused = scriptedModel([], { id: 'unused' });
    const a = agent({
      id: 'a',
      model: failing('own', 'rate_limit'),
      fallbackModels: [
        { model: long, on: ['context_overflow'] },
        { model: unused, on: ['error', 'stopped'] },
        { model: cheap, on: ['rate_limit'] },
      ],
      onFallback: (notice) => {
        notices.push(notice);
        throw new Error('the listener crashes');
      },
    });
    const output = await a.run('hi', { userId: 'ana' });
    expect(output).toMatchObject({ status: 'completed', content: 'read it all' });
    expect(notices.map(({ reason, from, to, userId }) => [reason, from.id, to.id, userId])).toEqual([
      ['rate_limit', 'own', 'cheap', 'ana'],
      ['context_overflow', 'cheap', 'long', 'ana'],
    ]);
    expect(notices[0]).toMatchObject({ runId: output.runId, error: { message: 'own' } });
  });

  test('that are for other reasons leave the failure as it is', async () => {
    const other = scriptedModel([], { id: 'other' });
    const a = agent({
      id: 'a',
      model: failing('own'),
      fallbackModels: [{ model: other, on: ['rate_limit', 'context_overflow'] }],
    });
    expect(await a.run('hi')).toMatchObject({ status: 'error', content: 'own' });
    expect(other.requests).toHaveLength(0);
  });

  test('take over from a model that stops for a reason that counts as a failure', async () => {
    const a = agent({
      id: 'a',
      model: scriptedModel([{ finishReason: 'content_filter' }]),
      failOn: ['content_filter'],
      fallbackModels: [
        { model: failing('never'), on: ['error'] },
        { model: scriptedModel(['fine']), on: ['stopped'] },
      ],
    });
    expect((await a.run('hi')).content).toBe('fine');
  });

  test('with wrong options are refused', () => {
    const given = (fallback: unknown) => () =>
      agent({ id: 'a', model: 'offline', fallbackModels: [fallback as Fallback] });
    expect(given({ model: 'offline', on: ['overload'] })).toThrow(
      "fallbackModels[0].on[0] is 'overload'. Give 'rate_limit', 'context_overflow', 'stopped' or 'error'.",
    );
    expect(given({ model: 'offline', on: [] })).toThrow('fallbackModels[0].on');
    expect(given({ on: ['error'] })).toThrow('fallbackModels[0].model is missing');
    expect(given({ model: 'offline', reasons: [] })).toThrow('reasons');
  });

  test('for errors take over from a model that throws something else', async () => {
    const a = agent({
      id: 'a',
      model: scriptedModel([{ error: new TypeError('a bug of the model') }]),
      fallbackModels: [
        { model: failing('never'), on: ['rate_limit', 'context_overflow', 'stopped'] },
        { model: scriptedModel(['fine']), on: ['error'] },
      ],
    });
    expect((await a.run('hi')).content).toBe('fine');
  });

  test('that all fail, fail the run', async () => {
    const output = await agent({ id: 'a', model: failing('one'), fallbackModels: [failing('two')] }).run(
      'hi',
    );
    expect(output).toMatchObject({ status: 'error', content: 'two' });
  });

  test('receive the output schema in words when only the first model enforces it', async () => {
    const fallback = scriptedModel(['{"sum":3}'], { structuredOutput: 'prompted' });
    const outputSchema = { title: 'Sum', type: 'object', properties: { sum: { type: 'integer' } } };
    const a = agent({
      id: 'a',
      model: scriptedModel([{ error: refused() }]),
      fallbackModels: [fallback],
      outputSchema,
    });
    expect((await a.run('1 + 2')).content).toEqual({ sum: 3 });
    expect(fallback.requests[0]?.messages[0]).toMatchObject({
      role: 'system',
      content: expect.stringContaining('"sum"'),
    });
    expect(fallback.requests[0]?.output).toBeUndefined();
  });
});
