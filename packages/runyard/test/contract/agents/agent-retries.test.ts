import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, ModelError, tool } from '../../../src/index.js';
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

  test('that all fail, fail the run', async () => {
    const failing = (message: string) =>
      scriptedModel([{ error: new ModelError(message, { provider: 'P', kind: 'refused' }) }]);
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
