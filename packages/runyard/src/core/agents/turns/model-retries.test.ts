import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deliver, promised } from '../../async/receiver.js';
import { silentLog } from '../../log.js';
import { ModelError } from '../../models/model-error.js';
import { scriptedModel } from '../../models/scripted.js';
import type { StepScope } from '../../runs/context.js';
import type { Timers } from '../../timers.js';
import type { AgentSettings } from '../definition.js';
import type { AgentExecution } from '../execution.js';
import type { ModelRecord } from '../journal-records.js';
import { callUntilAnswered } from './model-retries.js';

const answer = { content: 'ok' } as ModelRecord;
const busy = (retryAfterMs?: number) =>
  new ModelError('busy', {
    provider: 'P',
    kind: 'refused',
    retryable: true,
    ...(retryAfterMs && { retryAfterMs }),
  });

type ModelCall = Parameters<typeof callUntilAnswered>[2];

const scope = { signal: new AbortController().signal } as StepScope;

/** An execution whose delays are over at once. */
function executionOf(
  settings: Partial<AgentSettings>,
  timers: Partial<Timers> = {},
  noteTry: (key: string, one: { readonly startedAt: number }) => void = () => {},
): AgentExecution {
  const after = (_ms: number, work: () => void) => {
    queueMicrotask(work);
    return () => {};
  };
  return {
    agent: { settings },
    context: {
      log: silentLog,
      timers: { after, now: () => 0, ...timers },
      run: { runId: 'r' },
      ports: {},
      noteTry,
    },
    model: scriptedModel([]),
    fallback: null,
  } as unknown as AgentExecution;
}

/** Answers with the delays that were waited, each of which is over at once. */
async function delaysOf(
  settings: Partial<AgentSettings>,
  failures: readonly Error[],
  { atOnce = false } = {},
): Promise<number[]> {
  const delays: number[] = [];
  const after = (ms: number, work: () => void) => {
    delays.push(ms);
    queueMicrotask(work);
    return () => {};
  };
  const execution = executionOf(settings, { after });
  const call: ModelCall = (_execution, _scope, callsBefore, receiver) => {
    const failure = failures[callsBefore];
    if (failure !== undefined && atOnce) throw failure;
    deliver(failure === undefined ? Promise.resolve(answer) : Promise.reject(failure), receiver);
  };
  await promised((receiver) => callUntilAnswered(execution, scope, call, receiver));
  return delays;
}

// without the part that is left to chance
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(1));
afterEach(() => vi.restoreAllMocks());

test('retries wait a second each, or as long as the agent says', async () => {
  expect(await delaysOf({ retries: 2 }, [busy(), busy()])).toEqual([1_000, 1_000]);
  expect(await delaysOf({ retries: 1, delayBetweenRetriesMs: 5 }, [busy()])).toEqual([5]);
});

test('the wait doubles when asked to, up to a minute', async () => {
  const failures = Array.from({ length: 8 }, () => busy());
  expect(await delaysOf({ retries: 8, exponentialBackoff: true }, failures)).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
  ]);
});

test('a provider that asks for a longer wait gets it', async () => {
  const settings = { retries: 2, delayBetweenRetriesMs: 10 };
  expect(await delaysOf(settings, [busy(7_000), busy(3)])).toEqual([7_000, 10]);
});

test('each fall-back has retries of its own', async () => {
  const settings = { retries: 1, delayBetweenRetriesMs: 10, fallbackModels: [scriptedModel([])] };
  expect(await delaysOf(settings, [busy(), busy(), busy()])).toEqual([10, 10]);
  await expect(delaysOf(settings, [busy(), busy(), busy(), busy()])).rejects.toThrow('busy');
});

test('a call that throws before there is a promise of its answer has failed like any other', async () => {
  expect(await delaysOf({ retries: 2 }, [busy(), busy()], { atOnce: true })).toEqual([1_000, 1_000]);
  await expect(delaysOf({}, [busy()], { atOnce: true })).rejects.toThrow('busy');
});

test('each failed try is recorded with the time at which it began', async () => {
  let now = 500;
  const begun: number[] = [];
  const timers = {
    now: () => now,
    after: (ms: number, work: () => void) => {
      now += ms;
      queueMicrotask(work);
      return () => {};
    },
  };
  const noteTry = (_key: string, { startedAt }: { startedAt: number }) => void begun.push(startedAt);
  const execution = executionOf({ retries: 2 }, timers, noteTry);
  const call: ModelCall = (_execution, _scope, callsBefore, receiver) => {
    now += 10;
    if (callsBefore < 2) receiver.failed(busy());
    else receiver.received(answer);
  };
  await promised((receiver) => callUntilAnswered(execution, scope, call, receiver));
  expect(begun).toEqual([500, 1_510]);
});

test.each([
  ['answers', [answer]],
  ['fails once', [busy(), answer]],
])('what follows a model that %s belongs to its run, whatever the model has entered', async (_, outcomes) => {
  const contexts = new AsyncLocalStorage<string>();
  const execution = executionOf({ retries: 1 });
  const begunIn: (string | undefined)[] = [];
  const call: ModelCall = (_execution, _scope, callsBefore, receiver) => {
    begunIn.push(contexts.getStore());
    const outcome = outcomes[callsBefore];
    contexts.run('of the model', () =>
      queueMicrotask(() => {
        if (outcome === undefined || outcome instanceof Error) receiver.failed(outcome);
        else receiver.received(outcome);
      }),
    );
  };
  const receivedIn = await new Promise((resolve, failed) => {
    const receiver = { received: () => resolve(contexts.getStore()), failed };
    contexts.run('of the run', () => callUntilAnswered(execution, scope, call, receiver));
  });
  expect(receivedIn).toBe('of the run');
  expect(begunIn).toEqual(outcomes.map(() => 'of the run'));
});
