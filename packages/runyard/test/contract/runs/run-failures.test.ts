import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAICompatible } from '../../../src/core/models/openai-compatible/openai-compatible.js';
import { agent } from '../../../src/index.js';
import { expectFailure, runWays, seeRun } from '../../support/clients/run-ways.js';
import {
  type ModelServer,
  type ModelServerReply,
  type ModelServerRequest,
  startModelServer,
  textChunk,
} from '../../support/providers/model-server.js';
import { TestService } from '../../support/service.js';

const key = 'sk-very-secret-key';
const complaint = (message: string, rest = {}) => ({ error: { message, ...rest } });

interface Row {
  readonly reply: ModelServerReply | ((request: ModelServerRequest) => ModelServerReply);
  readonly content: unknown;
  /** What the client receives beside the text. */
  readonly facts: object;
}

/** What a provider does with the call, by what the user says. */
const rows: Record<string, Row> = {
  'refuses the request': {
    reply: { status: 400, body: complaint('max_tokens is too large', { type: 'invalid_request_error' }) },
    content: 'Test answered 400: max_tokens is too large',
    facts: { retryable: false, provider_status: 400 },
  },
  'does not know the key': {
    reply: { status: 401, body: complaint(`Incorrect API key provided: ${key}. Find yours at a.test.`) },
    content: 'Test answered 401: Incorrect API key provided: ***. Find yours at a.test.',
    facts: { retryable: false, provider_status: 401 },
  },
  'repeats a part of the key': {
    reply: { status: 401, body: complaint('Incorrect API key provided: sk-very*******-key') },
    content: 'Test answered 401: Incorrect API key provided: ***',
    facts: { retryable: false, provider_status: 401 },
  },
  'buries the key in a long text': {
    reply: { status: 500, body: `${'x'.repeat(990)} ${key}` },
    content: expect.stringMatching(/^Test answered 500: x{990} \*\*\*$/),
    facts: { retryable: true, provider_status: 500 },
  },
  'does not allow it': {
    reply: { status: 403, body: complaint('Not in your country') },
    content: 'Test answered 403: Not in your country',
    facts: { retryable: false, provider_status: 403 },
  },
  'does not know the model': {
    reply: { status: 404, body: complaint('The model test-model does not exist') },
    content: 'Test answered 404: The model test-model does not exist',
    facts: { retryable: false, provider_status: 404 },
  },
  'gave up waiting': {
    reply: { status: 408, body: '' },
    content: 'Test answered 408: Request Timeout',
    facts: { retryable: true, provider_status: 408 },
  },
  'is asked too often': {
    reply: { status: 429, headers: { 'retry-after': '7' }, body: complaint('Rate limit reached') },
    content: 'Test answered 429: Rate limit reached',
    facts: { retryable: true, provider_status: 429, retry_after_seconds: 7 },
  },
  'is not paid any more': {
    reply: { status: 429, body: complaint('You exceeded your quota', { code: 'insufficient_quota' }) },
    content: 'Test answered 429: You exceeded your quota',
    facts: { retryable: false, provider_status: 429 },
  },
  'has a fault of its own': {
    reply: { status: 500, body: complaint('The server had an error') },
    content: 'Test answered 500: The server had an error',
    facts: { retryable: true, provider_status: 500 },
  },
  'is behind a proxy that finds nobody': {
    reply: { status: 502, body: '<html><title>Bad Gateway</title></html>' },
    content: "Test answered 502: an HTML page titled “Bad Gateway” instead of a model's answer",
    facts: { retryable: true, provider_status: 502 },
  },
  'says in its answer that it failed': {
    reply: ({ body }) => {
      const error = complaint('Slow down', { type: 'rate_limit_error' });
      return body.stream ? { events: [textChunk('partly '), error] } : { body: error };
    },
    content: 'Test reported an error: Slow down',
    facts: { retryable: true, provider_status: 429 },
  },
  'breaks off': {
    reply: { events: [textChunk('partly ')], ending: 'reset' },
    content: expect.stringMatching(/^The connection to Test failed: /),
    facts: { retryable: true },
  },
  'hangs up': {
    reply: { instead: 'reset' },
    content: expect.stringMatching(/^The connection to Test failed: /),
    facts: { retryable: true },
  },
  'sends something else': {
    reply: { body: { hello: 'world' } },
    content: 'Test sent an answer without choices: {"hello":"world"}',
    facts: { retryable: false },
  },
  'sends a page': {
    reply: { body: '<html>Welcome</html>', headers: { 'content-type': 'text/html' } },
    content: 'Test sent something that is not JSON: <html>Welcome</html>',
    facts: { retryable: false },
  },
};

let provider: ModelServer;
let service: TestService;

beforeAll(async () => {
  provider = await startModelServer((request) => {
    const row = rows[request.body.messages.at(-1).content];
    if (row === undefined) return { instead: 'stall' };
    return typeof row.reply === 'function' ? row.reply(request) : row.reply;
  });
  const gone = await startModelServer([]);
  await gone.stop();
  const model = (baseUrl: string, firstByteTimeoutMs = 60_000) =>
    openAICompatible({
      id: 'test-model',
      provider: 'Test',
      apiKey: key,
      baseUrl,
      retries: 0,
      firstByteTimeoutMs,
    });
  service = await TestService.start({
    agents: [
      agent({ id: 'a', model: model(provider.url) }),
      agent({ id: 'hasty', model: model(provider.url, 200) }),
      agent({ id: 'lonely', model: model(gone.url) }),
      agent({ id: 'stubborn', model: model(provider.url), retries: 2, delayBetweenRetriesMs: 1 }),
    ],
  });
});

afterAll(async () => {
  await service.stop();
  await provider.stop();
});

describe.each(runWays)('a run %s', (way) => {
  test.each(Object.entries(rows))('whose model %s', async (message, { content, facts }) => {
    const seen = await seeRun(service, way, 'a', { message });
    expectFailure(seen, { content, error_type: 'model_provider_error', additional_data: facts });
    expect(seen.text).not.toContain(key);
    expect(seen.stored.messages).toMatchObject([{ role: 'user', content: message }]);
  });

  test('whose model is asked too often: one line in the log, without a stack', async () => {
    const { stored } = await seeRun(service, way, 'a', { message: 'is asked too often' });
    const lines = service.logged.filter(({ fields }) => fields.runId === stored.run_id);
    expect(lines.map(({ fields }) => (fields.err as Error | undefined)?.stack)).toEqual([
      'ModelError: Test answered 429: Rate limit reached',
    ]);
  });

  test('whose model says nothing in time', async () => {
    expectFailure(await seeRun(service, way, 'hasty', { message: 'waits in vain' }), {
      content: 'Test sent no answer within 200 ms.',
      error_type: 'model_provider_error',
      additional_data: { retryable: true },
    });
  });

  test('whose model cannot be reached: where it should have been is for the log', async () => {
    const seen = await seeRun(service, way, 'lonely', { message: 'anybody there?' });
    expectFailure(seen, {
      content: 'The connection to Test failed: ECONNREFUSED',
      error_type: 'model_provider_error',
      additional_data: { retryable: true },
    });
    const line = service.logged.find(({ fields }) => fields.runId === seen.stored.run_id);
    expect(chain(line?.fields.err)).toMatch(/ECONNREFUSED 127\.0\.0\.1:\d+/);
  });

  test('whose model fails as often as it may be called', async () => {
    const message = 'has a fault of its own';
    const before = provider.requests.length;
    const seen = await seeRun(service, way, 'stubborn', { message });
    expectFailure(seen, {
      content: 'Test answered 500: The server had an error',
      error_type: 'model_provider_error',
      additional_data: { retryable: true, provider_status: 500 },
    });
    const started = ['RunStarted', 'ModelRequestStarted'];
    const names = (seen.stream?.events ?? seen.stored.events).map(({ event }: { event: string }) => event);
    expect(names).toEqual([...started, ...started, ...started, 'RunError']);
    expect(provider.requests).toHaveLength(before + 3);
  });
});

test('content before the failure was streamed, and is no part of the stored run', async () => {
  const { stream, stored } = await seeRun(service, 'streamed', 'a', { message: 'breaks off' });
  expect(stream?.content).toBe('partly ');
  expect(stored.content).not.toContain('partly');
});

test('a failed run is not in the history of the next one of its session', async () => {
  const session_id = 'after-a-failure';
  await service.run('a', { message: 'has a fault of its own', session_id });
  await service.run('a', { message: 'gave up waiting', session_id, add_history_to_context: true });
  expect(provider.requests.at(-1)?.body.messages).toEqual([{ role: 'user', content: 'gave up waiting' }]);
});

/** The texts of an error and of all that lies beneath it. */
function chain(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${chain(error.cause)}` : '';
}
