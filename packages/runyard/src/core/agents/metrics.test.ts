import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.js';
import type { RunContext } from '../runs/context.js';
import { metricsOf } from './metrics.js';

const main = { id: 'big', provider: 'Acme' };

function metricsOfCalls(...results: JsonObject[]): JsonObject {
  const steps = results.map((given, seq) => ({
    key: `model:${seq}`,
    seq,
    kind: given.role === undefined ? 'model' : 'auxiliary',
    attempt: 1,
    status: 'completed',
    endedAt: 3_000 + seq,
    output: { content: '', finishReason: 'stop', timeToFirstToken: seq + 1, ...given } as Json,
  }));
  const context = { run: { createdAt: 1_000 }, steps: () => steps, prices: {} };
  return metricsOf(main, context as unknown as RunContext);
}

test('each kind of token is summed up and named, in the order of the wire', () => {
  const usage = {
    reasoningTokens: 8,
    cacheWriteTokens: 7,
    cacheReadTokens: 6,
    audioOutputTokens: 5,
    audioInputTokens: 4,
    totalTokens: 3,
    outputTokens: 2,
    inputTokens: 1,
  };
  const summed =
    '"input_tokens":2,"output_tokens":4,"total_tokens":6,"audio_input_tokens":8,"audio_output_tokens":10,"cache_read_tokens":12,"cache_write_tokens":14,"reasoning_tokens":16';
  expect(JSON.stringify(metricsOfCalls({ usage }, { usage }))).toBe(
    `{${summed},"time_to_first_token":1,"duration":2.001,"details":{"model":[{${summed},"id":"big","provider":"Acme"}]}}`,
  );
});

test('calls are distinguished by their role, by the model and by its provider', () => {
  const usage = { inputTokens: 1 };
  const same = { usage, model: { id: 'big', provider: 'Acme' } };
  const { input_tokens, details } = metricsOfCalls(
    { usage },
    same,
    { ...same, role: 'memory_model' },
    { usage, model: { id: 'small', provider: 'Acme' } },
    { usage, model: { id: 'big', provider: 'Other' } },
  );
  expect(input_tokens).toBe(5);
  expect(details).toEqual({
    model: [
      { input_tokens: 2, id: 'big', provider: 'Acme' },
      { input_tokens: 1, id: 'small', provider: 'Acme' },
      { input_tokens: 1, id: 'big', provider: 'Other' },
    ],
    memory_model: [{ input_tokens: 1, id: 'big', provider: 'Acme' }],
  });
});
