import { expect, test } from 'vitest';
import type { RunStatus } from '../runs/run.js';
import type { Timers } from '../timers.js';
import { followRemote, type RemoteLeg } from './follow-remote.js';
import { type RemoteEvent, RemoteFault, type RemoteService } from './remote-service.js';

const ref = { runId: 'r', sessionId: 's' };
const start = { ...ref, message: 'hi', media: [], userId: undefined, options: { stream: true }, hops: 1 };
const answers = { tools: [], requirements: [], given: true };
const lost = new RemoteFault('unreachable', 'ECONNRESET');

/** Waits take no time: only the clock moves. */
function timers(): Timers {
  let now = 0;
  return {
    now: () => now,
    elapsed: () => now,
    soon: (work) => void setImmediate(work),
    after: (ms, work) => {
      now += ms;
      const timer = setImmediate(work);
      return () => clearImmediate(timer);
    },
    every: () => () => {},
  };
}

/** What the service does at each call, in order; an error is thrown, a status is that of the run. */
type Script = Partial<Record<'start' | 'resume' | 'continue', (RemoteFault | 'ok')[]>> & {
  readonly read: (RemoteFault | RunStatus | undefined)[];
};

function scripted(script: Script) {
  const calls: string[] = [];
  const events = (name: 'start' | 'resume' | 'continue') =>
    async function* (): AsyncGenerator<RemoteEvent> {
      calls.push(name);
      const outcome = script[name]?.shift();
      if (outcome instanceof RemoteFault) throw outcome;
      yield { name: 'RunContent', index: calls.length, fields: { run_id: 'r', content: 'x' } };
    };
  const service: RemoteService = {
    address: 'http://far',
    start: events('start'),
    resume: events('resume'),
    continue: events('continue'),
    read: async () => {
      const next = script.read.length > 1 ? script.read.shift() : script.read[0];
      if (next instanceof RemoteFault) throw next;
      return next === undefined ? undefined : { status: next, body: {} };
    },
    cancel: async () => {},
  };
  return { service, calls };
}

async function follow(script: Script, given: Partial<RemoteLeg> = {}) {
  const { service, calls } = scripted(script);
  const leg: RemoteLeg = {
    ref,
    begin: { start },
    begun: false,
    afterIndex: -1,
    isOpen: ({ status }) => 'answers' in leg.begin && status === 'paused',
    ...given,
  };
  const site = {
    service,
    timers: timers(),
    signal: new AbortController().signal,
    reconnectMs: 60_000,
    heard: () => undefined,
  };
  const outcome = await followRemote(site, leg).then(
    ({ run }) => run.status,
    (error: Error) => error.message,
  );
  return { outcome, calls };
}

test('a new leg is started once and read at its end', async () => {
  expect(await follow({ read: ['completed'] })).toEqual({ outcome: 'completed', calls: ['start'] });
});

test('what a process before may have started is looked for first', async () => {
  const running = await follow({ read: ['running', 'completed'] }, { begun: true });
  expect(running).toEqual({ outcome: 'completed', calls: ['resume'] });
  const ended = await follow({ read: ['completed'] }, { begun: true });
  expect(ended).toEqual({ outcome: 'completed', calls: ['resume'] });
  // an end that is known counts, also where the events of the run are not to be had
  const gone = new RemoteFault('refused', 'its answer is HTML', 400);
  const mute = await follow({ read: ['completed'], resume: [gone] }, { begun: true });
  expect(mute).toEqual({ outcome: 'completed', calls: ['resume'] });
  // not shown yet, and followed nevertheless
  const hidden = await follow({ read: [undefined, 'completed'] }, { begun: true });
  expect(hidden).toEqual({ outcome: 'completed', calls: ['resume'] });
  const absent = new RemoteFault('absent', 'Run not found');
  const never = await follow({ read: [undefined, 'completed'], resume: [absent] }, { begun: true });
  expect(never).toEqual({ outcome: 'completed', calls: ['resume', 'start'] });
});

test('a start whose answer is lost is not repeated when it arrived', async () => {
  const arrived = await follow({ read: ['running', 'completed'], start: [lost] });
  expect(arrived).toEqual({ outcome: 'completed', calls: ['start', 'resume'] });
  const taken = new RemoteFault('conflict', 'Run exists', 409);
  const exists = await follow({ read: ['running', 'running', 'completed'], start: [taken] });
  expect(exists).toEqual({ outcome: 'completed', calls: ['start', 'resume'] });
});

test('answers are sent once: not when the run has taken them', async () => {
  const begin = { begin: { answers } };
  const sent = await follow({ read: ['paused', 'completed'] }, begin);
  expect(sent).toEqual({ outcome: 'completed', calls: ['continue'] });
  const taken = await follow({ read: ['running', 'completed'] }, { ...begin, begun: true });
  expect(taken).toEqual({ outcome: 'completed', calls: ['resume'] });
  const broken = await follow({ read: ['paused', 'running', 'completed'], continue: [lost] }, begin);
  expect(broken).toEqual({ outcome: 'completed', calls: ['continue', 'resume'] });
  const refusal = new RemoteFault('refused', 'not this answer', 400);
  const refused = await follow({ read: ['paused'], continue: [refusal] }, begin);
  expect(refused).toEqual({ outcome: 'not this answer', calls: ['continue'] });
});

test('a service that stays away is given up after its time, one that refuses at once', async () => {
  const away = await follow({ read: [lost], start: [lost] });
  expect(away).toEqual({ outcome: 'ECONNRESET', calls: ['start'] });
  const refusal = new RemoteFault('refused', 'no', 422);
  expect(await follow({ read: [undefined], start: [refusal] })).toEqual({ outcome: 'no', calls: ['start'] });
});
