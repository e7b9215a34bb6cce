import { describe, expect, it, vi } from 'vitest';
import { patience } from '../../../../../test/support/patience.js';
import {
  ask,
  collect,
  failure,
  modelFor,
  open,
  secret,
} from '../../../../../test/support/providers/model-calls.js';
import { textChunk } from '../../../../../test/support/providers/model-server.js';
import { untrustedServer } from '../../../../../test/support/untrusted-certificate.js';
import type { Abortable } from '../../../async/abort.js';
import type { Arriving, Exchange } from '../transport/transport.js';
import { ProviderAnswer } from './provider-call.js';

/** The answer of a provider that sends these bytes. */
function answerOf(
  exchange: Pick<Exchange, 'read' | 'abort'>,
  signal: Abortable = new AbortController().signal,
): Promise<ProviderAnswer> {
  const head = { status: 200, statusText: 'OK', contentType: '', headers: () => new Headers() };
  return ProviderAnswer.open({
    ...{ provider: 'Test', url: 'http://x.test', headers: {}, body: '', streamed: true },
    ...{ signal, firstByteTimeoutMs: 20, timeoutMs: 20 },
    send: () => ({ head: Promise.resolve(head), ended: false, ...exchange }),
    redact: (text) => text,
  });
}

describe('failures', () => {
  it.each([
    [
      'JSON',
      { body: { error: { message: `Bad key ${secret}`, code: 'x' } } },
      'Test answered 400: Bad key ***',
    ],
    ['another JSON', { body: { detail: 'No such model' } }, 'Test answered 400: No such model'],
    ['a text', { body: 'nope' }, 'Test answered 400: nope'],
    ['nothing', { body: '' }, 'Test answered 400: Bad Request'],
    [
      'HTML',
      { body: '<!DOCTYPE html><html><head><title>Gateway</title></head></html>' },
      "Test answered 400: an HTML page titled “Gateway” instead of a model's answer",
    ],
  ])('show what the provider said in %s', async (_, reply, text) => {
    const { model } = await modelFor([{ status: 400, ...reply }]);
    const error = await failure(collect(model.stream(ask(), open())));
    expect(error).toMatchObject({ message: text, status: 400, provider: 'Test', retryable: false });
  });

  it('are tried again before the first byte: 429, 500 and a broken connection', async () => {
    const { model, server, waits } = await modelFor(
      [
        { status: 429, headers: { 'retry-after': '3' }, body: {} },
        { status: 500, body: 'oops' },
        { instead: 'reset' },
        { events: [], ending: 'reset' },
        { events: [textChunk('ok')] },
      ],
      { retries: 4 },
    );
    expect((await collect(model.stream(ask(), open()))).response.content).toBe('ok');
    expect(server.requests).toHaveLength(5);
    expect(waits[0]).toBe(3000);
    expect(waits.every((ms) => ms > 0 && ms <= 8_000)).toBe(true);
  });

  it('are not tried again when the provider refuses, asks for a long pause, or the account is empty', async () => {
    const { model, server } = await modelFor([
      { status: 401, body: { error: { message: 'no' } } },
      { status: 429, headers: { 'retry-after': '3600' }, body: {} },
      { status: 429, body: { error: { message: 'pay', code: 'insufficient_quota' } } },
    ]);
    expect(await failure(model.generate(ask(), open()))).toMatchObject({ status: 401, retryable: false });
    expect(await failure(model.generate(ask(), open()))).toMatchObject({
      retryable: true,
      retryAfterMs: 3_600_000,
    });
    expect(await failure(model.generate(ask(), open()))).toMatchObject({ status: 429, retryable: false });
    expect(server.requests).toHaveLength(3);
  });

  it('are reported after two retries by default', async () => {
    const { model, server } = await modelFor(() => ({ status: 503, body: { error: 'busy' } }));
    expect(await failure(model.generate(ask(), open()))).toMatchObject({
      message: 'Test answered 503: busy',
      status: 503,
    });
    expect(server.requests).toHaveLength(3);
  });

  it('do not follow a redirect with the key', async () => {
    const { model } = await modelFor([
      { status: 307, headers: { location: 'http://elsewhere.test/v1?x=1' }, body: '' },
    ]);
    expect((await failure(model.generate(ask(), open()))).message).toBe(
      'Test answered 307: it redirects to http://elsewhere.test/v1. Set the base URL to where it really is.',
    );
  });

  it('say that no server listens', async () => {
    const { model, server } = await modelFor([]);
    await server.stop();
    const error = await failure(model.generate(ask(), open()));
    expect(error).toMatchObject({ kind: 'connection', retryable: true });
    expect(error.message).toMatch(/^The connection to Test failed: .*ECONNREFUSED/);
  });

  it.each([
    ['by default', {}],
    ['through `fetch`', { fetch: globalThis.fetch }],
  ])(
    'name the setting for a certificate of an unknown authority, without another try %s',
    async (_, options) => {
      const baseUrl = `${await untrustedServer()}/v1`;
      const { model, waits } = await modelFor([], { ...options, baseUrl });
      const error = await failure(model.generate(ask(), open()));
      expect(error).toMatchObject({ kind: 'connection', retryable: false });
      expect(error.message).toMatch(/authority .*\(DEPTH_ZERO_SELF_SIGNED_CERT\).* NODE_EXTRA_CA_CERTS=/);
      expect(waits).toEqual([]);
    },
  );
});

describe('time-outs', () => {
  it('end a call whose first byte does not come', async () => {
    const firstByteTimeoutMs = patience(500);
    const { model, server } = await modelFor([{ instead: 'stall' }], { firstByteTimeoutMs });
    const error = await failure(model.generate(ask(), open()));
    expect(error).toMatchObject({
      kind: 'timeout',
      retryable: true,
      message: `Test sent no answer within ${firstByteTimeoutMs} ms.`,
    });
    await server.clientLeft();
    expect(server.requests).toHaveLength(1);
  });

  it('end a stream that falls silent', async () => {
    const { model, server } = await modelFor([{ events: [textChunk('x')], ending: 'stall' }], {
      timeoutMs: 30,
    });
    expect(await failure(collect(model.stream(ask(), open())))).toMatchObject({
      kind: 'timeout',
      message: 'Test fell silent in the middle of its answer within 30 ms.',
    });
    await server.clientLeft();
  });

  it('count no silence while the reader is busy with bytes that were there at once', async () => {
    const pieces: Arriving[] = [
      Buffer.from('a'),
      Buffer.from('b'),
      Promise.resolve(Buffer.from('c')),
      undefined,
    ];
    const abort = vi.fn();
    const answer = await answerOf({ read: () => pieces.shift(), abort });
    const read: string[] = [];
    for (let place = 0; place < 3; place += 1) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      read.push(String(await answer.read()));
    }
    expect(read).toEqual(['a', 'b', 'c']);
    expect(await answer.read()).toBeUndefined();
    answer.close();
    expect(abort).not.toHaveBeenCalled();
  });

  it('count silence again when the reader waits after it was busy for longer', async () => {
    let fail = (_reason: unknown) => {};
    const pieces: Arriving[] = [Buffer.from('a')];
    const answer = await answerOf({
      read: () => pieces.shift() ?? new Promise((_, reject) => (fail = reject)),
      abort: (reason) => fail(reason),
    });
    await answer.read();
    await new Promise((resolve) => setTimeout(resolve, 60));
    await expect(answer.read()).rejects.toThrow('Test fell silent in the middle of its answer within 20 ms.');
    answer.close();
  });
});

it('an answer is read no further than it is kept', async () => {
  const pieces = Array.from({ length: 9 }, () => Buffer.from('0123456789'));
  const answer = await answerOf({ read: () => pieces.shift(), abort: () => {} });
  expect(await answer.text(15)).toBe('012345678901234');
  // one is read to see that there is more
  expect(pieces).toHaveLength(6);
  answer.close();
});

describe('abort', () => {
  const reason = new Error('cancelled by the user');

  it('closes the connection while the first byte is awaited', async () => {
    const { model, server } = await modelFor([{ instead: 'stall' }]);
    const controller = new AbortController();
    const answer = model.generate(ask(), { signal: controller.signal });
    await Promise.race([server.answered(), answer]);
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await server.clientLeft();
  });

  it('closes the connection in the middle of a stream', async () => {
    const { model, server } = await modelFor([{ events: [textChunk('x')], ending: 'stall' }]);
    const controller = new AbortController();
    const chunks = model.stream(ask(), { signal: controller.signal })[Symbol.asyncIterator]();
    await chunks.next();
    const pending = chunks.next();
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
    await server.clientLeft();
  });

  it('ends a stream before the next piece, also when that is there already', async () => {
    const { model } = await modelFor([{ events: [textChunk('x'), textChunk('y')] }]);
    const controller = new AbortController();
    const chunks = model.stream(ask(), { signal: controller.signal })[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toEqual({ type: 'text', text: 'x' });
    controller.abort(reason);
    await expect(chunks.next()).rejects.toBe(reason);
  });

  it('closes the connection when the reader leaves', async () => {
    const { model, server } = await modelFor([{ events: [textChunk('x')], ending: 'stall' }]);
    for await (const _ of model.stream(ask(), open())) break;
    await server.clientLeft();
  });

  it('ends the pause before another try', async () => {
    const controller = new AbortController();
    const { model, server } = await modelFor([{ status: 429, headers: { 'retry-after': '20' }, body: {} }], {
      wait: undefined,
    });
    const answer = model.generate(ask(), { signal: controller.signal });
    await server.answered();
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
  });

  it.each([
    ['was read to its end', false],
    ['has only its formal end left', true],
  ])('is listened to no longer than an answer that %s', async (_, complete) => {
    const heard = new Set<() => void>();
    const signal: Abortable = {
      ...{ aborted: false, reason: undefined, throwIfAborted: () => {} },
      addEventListener: (_type, listener) => heard.add(listener),
      removeEventListener: (_type, listener) => heard.delete(listener),
    };
    const pieces: Arriving[] = [Buffer.from('a'), undefined];
    const answer = await answerOf({ read: () => pieces.shift(), abort: () => {} }, signal);
    expect(heard.size).toBe(1);
    if (!complete) await answer.text(10);
    answer.close({ complete });
    await vi.waitFor(() => expect(heard.size).toBe(0));
  });

  it('makes no request when it came before', async () => {
    const { model, server } = await modelFor([]);
    await expect(model.generate(ask(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });
});
