import { expect, test } from 'vitest';
import type { Timers } from '../../timers.js';
import { ModelError } from '../model-error.js';
import { ModelPace } from './model-pace.js';
import { type ModelRates, OwnModelTurns } from './model-turns.js';

/** Time that passes when the test says so. */
class TestTimers implements Timers {
  private at = 0;
  private readonly waiting = new Set<{ due: number; work: () => void }>();

  now = () => this.at;
  elapsed = () => this.at;
  soon = (work: () => void) => queueMicrotask(work);
  after(ms: number, work: () => void): () => void {
    const entry = { due: this.at + ms, work };
    this.waiting.add(entry);
    return () => void this.waiting.delete(entry);
  }
  every(): () => void {
    throw new Error('nothing is to be repeated');
  }
  get timersSet(): number {
    return this.waiting.size;
  }
  async pass(ms: number): Promise<void> {
    const until = this.at + ms;
    for (;;) {
      await settled();
      const [next] = [...this.waiting].sort((left, right) => left.due - right.due);
      if (next === undefined || next.due > until) break;
      this.at = next.due;
      this.waiting.delete(next);
      next.work();
    }
    this.at = until;
    await settled();
  }
}

/** What is ready to happen has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

const model = { id: 'gpt', provider: 'OpenAI' };
const calling = (userId: string) => ({ userId, component: 'agent writer' });
const usage = (totalTokens: number) => ({ inputTokens: 0, outputTokens: totalTokens, totalTokens });
const tooMany = (retryAfterMs?: number) =>
  new ModelError('too many', {
    provider: 'OpenAI',
    kind: 'refused',
    status: 429,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

function paceOf(rates: ModelRates) {
  const timers = new TestTimers();
  const pace = new ModelPace(rates, new OwnModelTurns(timers.elapsed), timers);
  const begun: string[] = [];
  const call = async (name: string, { signal = new AbortController().signal, tokens = 0 } = {}) => {
    const turn = await pace.enter(calling(name.split(' ')[0]!), model, signal);
    begun.push(name);
    turn.ended(tokens > 0 ? usage(tokens) : undefined);
  };
  return { timers, pace, begun, call };
}

test('no minute has more calls than the rate, and the turns are spread', async () => {
  const { timers, begun, call } = paceOf({ gpt: { requestsPerMinute: 60 } });
  for (let index = 0; index < 100; index += 1) void call(`ada ${index}`);
  await timers.pass(0);
  expect(begun).toHaveLength(6);
  await timers.pass(30_000);
  expect(begun.length).toBeGreaterThanOrEqual(32);
  await timers.pass(30_000);
  expect(begun.length).toBeLessThanOrEqual(60);
  expect(begun.length).toBeGreaterThanOrEqual(59);
  await timers.pass(60_000);
  expect(begun).toHaveLength(100);
  expect(timers.timersSet).toBe(0);
});

test('those who wait have turns by user', async () => {
  const { timers, begun, call } = paceOf({ default: { requestsPerMinute: 1 } });
  for (const name of ['ada 1', 'ada 2', 'ada 3', 'bob 1']) void call(name);
  await timers.pass(4 * 60_000);
  expect(begun).toEqual(['ada 1', 'bob 1', 'ada 2', 'ada 3']);
});

test('tokens count: as guessed before the call, as used after it', async () => {
  const { timers, begun, call } = paceOf({ gpt: { tokensPerMinute: 60_000 } });
  void call('ada 1', { tokens: 54_000 });
  await timers.pass(0);
  void call('ada 2');
  await timers.pass(50_000);
  expect(begun).toEqual(['ada 1']);
  await timers.pass(10_000);
  expect(begun).toEqual(['ada 1', 'ada 2']);
});

test('a call that reports an absurd number of tokens delays others for an hour at most', async () => {
  const { timers, begun, call } = paceOf({ gpt: { tokensPerMinute: 100_000 } });
  await call('ada 1', { tokens: 1e15 });
  void call('ada 2');
  await timers.pass(50 * 60_000);
  expect(begun).toEqual(['ada 1']);
  await timers.pass(20 * 60_000);
  expect(begun).toEqual(['ada 1', 'ada 2']);
});

test('a call that is cancelled waits no longer, and takes no turn from others', async () => {
  const { timers, begun, call } = paceOf({ gpt: { requestsPerMinute: 1 } });
  await call('ada 1');
  const abort = new AbortController();
  const cancelled = call('ada 2', { signal: abort.signal });
  const waiting = call('ada 3');
  await settled();
  abort.abort(new Error('enough'));
  await expect(cancelled).rejects.toThrow('enough');
  await timers.pass(60_000);
  await waiting;
  expect(begun).toEqual(['ada 1', 'ada 3']);
  await expect(call('ada 4', { signal: abort.signal })).rejects.toThrow('enough');
});

test('a model with a rate rests when its provider refuses a call as one too many; others are never paced', async () => {
  const { timers, pace, begun, call } = paceOf({ gpt: { requestsPerMinute: 6_000 } });
  const unpaced = { id: 'other', provider: 'OpenAI' };
  pace.failed(unpaced, tooMany(20_000));
  expect(pace.paces(unpaced)).toBe(false);
  expect(pace.restMs(unpaced)).toBe(0);
  pace.failed(model, new Error('something else'));
  expect(pace.restMs(model)).toBe(0);
  pace.failed(model, tooMany(20_000));
  expect(pace.restMs(model)).toBe(20_000);
  expect(pace.restMs({ ...model, provider: 'Azure' })).toBe(0);
  void call('ada 1');
  void call('bob 1');
  await timers.pass(19_999);
  expect(begun).toEqual([]);
  await timers.pass(1);
  expect(begun).toEqual(['ada 1', 'bob 1']);
});

test('a provider that does not say how long to wait is left alone for longer each time, at most a minute', async () => {
  const { timers, pace, call } = paceOf({ default: { requestsPerMinute: 6_000 } });
  const restAfterRefusal = async () => {
    pace.failed(model, tooMany());
    // others that were on their way
    pace.failed(model, tooMany());
    const ms = pace.restMs(model);
    await timers.pass(ms);
    return ms;
  };
  const rests = [];
  for (let refusal = 0; refusal < 8; refusal += 1) rests.push(await restAfterRefusal());
  expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  await call('ada 1', { tokens: 10 });
  expect(await restAfterRefusal()).toBe(1_000);
  pace.failed(model, tooMany(3_600_000));
  expect(pace.restMs(model)).toBe(60_000);
});

test('other processes may name any number of models that rest, and this one remembers so many', () => {
  const timers = new TestTimers();
  let announce: (model: string, ms: number) => void = () => {};
  const turns = Object.assign(new OwnModelTurns(timers.elapsed), {
    onRest: (listener: typeof announce) => {
      announce = listener;
    },
  });
  const pace = new ModelPace({}, turns, timers);
  for (let index = 0; index < 5_000; index += 1) announce(`p/${index}`, 1_000);
  expect(pace.restMs({ provider: 'p', id: '0' })).toBe(1_000);
  expect(pace.restMs({ provider: 'p', id: '4999' })).toBe(0);
});
