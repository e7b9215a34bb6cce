import { expect, test } from 'vitest';
import { adapterFor, ask } from '../../../test/support/providers/model-calls.js';
import { textChunk } from '../../../test/support/providers/model-server.js';
import { LazyAbort } from '../async/abort.js';
import type { JobContext } from '../runs/jobs/job.js';
import { cachedModel } from './cache/cached-model.js';
import { callOptions } from './called-model.js';
import type { Model, ModelCallOptions } from './model.js';
import { openAICompatible } from './openai-compatible/openai-compatible.js';
import type { ModelPace } from './pace/model-pace.js';
import { withPaceOfJob } from './pace/paced-model.js';

/** A step that counts how often it is asked for a signal. */
function countingStep() {
  const stop = new LazyAbort();
  let asked = 0;
  return {
    stop,
    get signal() {
      asked += 1;
      return stop.signal;
    },
    get asked() {
      return asked;
    },
  };
}

/** Without a `wait` of its own, which would make it a model of the application. */
const ownAdapter = (script: Parameters<typeof adapterFor>[0]) =>
  adapterFor(script, ({ baseUrl, apiKey }) =>
    openAICompatible({ id: 'm', provider: 'Test', baseUrl, apiKey }),
  );

test('an adapter of our own answers without a signal, and needs one for the pause before another try', async () => {
  const body = { choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] };
  const { model } = await ownAdapter([{ body }, { status: 500, body: {} }, { body }]);
  const step = countingStep();
  expect((await model.generate(ask(), callOptions(model, step))).content).toBe('ok');
  expect(step.asked).toBe(0);
  expect((await model.generate(ask(), callOptions(model, step))).content).toBe('ok');
  expect(step.asked).toBe(1);
});

test('it receives an abort without a signal: before a call, before the first byte, and in a stream', async () => {
  const { model, server } = await ownAdapter([
    { instead: 'stall' },
    { events: [textChunk('x')], ending: 'stall' },
  ]);
  const silent = countingStep();
  const answer = model.generate(ask(), callOptions(model, silent));
  await Promise.race([server.answered(), answer]);
  silent.stop.abort(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
  await server.clientLeft();
  await expect(model.generate(ask(), callOptions(model, silent))).rejects.toThrow('enough');
  const begun = countingStep();
  const chunks = model.stream(ask(), callOptions(model, begun))[Symbol.asyncIterator]();
  expect((await chunks.next()).value).toEqual({ type: 'text', text: 'x' });
  const pending = chunks.next();
  begun.stop.abort(new Error('cancelled'));
  await expect(pending).rejects.toThrow('cancelled');
  expect(server.requests).toHaveLength(2);
  expect(begun.asked).toBe(0);
});

test('a pause before another try ends with the abort', async () => {
  const { model } = await ownAdapter([{ status: 429, headers: { 'retry-after': '20' }, body: {} }]);
  const step = countingStep();
  const answer = model.generate(ask(), callOptions(model, step));
  setTimeout(() => step.stop.abort(new Error('enough')), 50);
  await expect(answer).rejects.toThrow('enough');
});

test('a paced model hands the signal on', async () => {
  const given: ModelCallOptions[] = [];
  const { model } = await ownAdapter([]);
  const inner: Model = Object.assign(Object.create(model), {
    generate: async (_request: unknown, options: ModelCallOptions) => {
      given.push(options);
      throw new Error('heard');
    },
  });
  const pace = { paces: () => true, enter: async () => ({ ended: () => {} }), failed: () => {} };
  const context = { userId: null, ports: { pace: pace as unknown as ModelPace } };
  const paced = withPaceOfJob(context satisfies Pick<JobContext, 'userId'>, 'job', inner);
  const step = countingStep();
  await expect(paced.generate(ask(), callOptions(model, step))).rejects.toThrow('heard');
  // and nothing else of the step
  expect(given).toEqual([{ signal: step.stop.signal, failedTry: expect.any(Function) }]);
});

test('a function that the application puts into an adapter may hand on a copy of its options', async () => {
  const body = { choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] };
  const { model } = await ownAdapter([{ body }, { body }, { events: [textChunk('x')], ending: 'stall' }]);
  const generate = model.generate.bind(model);
  const stream = model.stream.bind(model);
  model.generate = (request, options) => generate(request, { ...options });
  model.stream = (request, options) => stream(request, { ...options });
  const step = countingStep();
  const unknown = { keyOf: () => '', find: async () => undefined, keep: async () => {} };
  for (const called of [model, cachedModel(model, unknown)])
    expect((await called.generate(ask(), callOptions(called, step))).content).toBe('ok');
  const chunks = model.stream(ask(), callOptions(model, step))[Symbol.asyncIterator]();
  expect((await chunks.next()).value).toEqual({ type: 'text', text: 'x' });
  const pending = chunks.next();
  step.stop.abort(new Error('cancelled'));
  await expect(pending).rejects.toThrow('cancelled');
});
