import { expect } from 'vitest';
import type { TestService } from '../support/service.js';
import { signed } from './callers.js';
import { type Known, Pool } from './values/pool.js';

/** A caller that leaves things in the service and expects to find them again, unseen by all others. */
export interface Victim {
  readonly userId: string;
  /** Occurs in everything that is theirs. */
  readonly marker: string;
  readonly headers: Record<string, string>;
  readonly known: readonly Known[];
  readonly ids: ReadonlySet<string>;
  /** Fails when something is gone or looks different. */
  expectAllThere(): Promise<void>;
}

/** What names something that is one user's own. */
const ownIds = ['run_id', 'session_id', 'memory_id', 'learning_id', 'dataset_id', 'trace_id', 'approval_id'];

export async function settle(service: TestService): Promise<Victim> {
  const userId = 'vera-the-victim';
  const marker = 'only-vera-may-read-this';
  const headers = { authorization: `Bearer ${await signed({ sub: userId, scopes: ['agent_os:admin'] })}` };
  const pool = new Pool();
  const learn = async (path: string) => {
    const { status, body } = await service.get(path, headers);
    expect(status, path).toBe(200);
    pool.feed(body);
    return body;
  };
  const post = async (path: string, sent: object) => {
    const init = { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(sent) };
    const { status, body } = await service.call('POST', path, init);
    expect(status, path).toBeOneOf([200, 201]);
    pool.feed(body);
  };
  for (const message of [marker, `pay ${marker}`, `approve ${marker}`])
    pool.feed((await service.run('plain', { message, session_state: { note: marker } }, { headers })).body);
  pool.feed((await service.submit('/teams/desk/runs', { message: marker, stream: false }, { headers })).body);
  pool.feed(
    (await service.submit('/workflows/asked/runs', { message: marker, stream: false }, { headers })).body,
  );
  await post('/sessions', { session_name: marker, metadata: { note: marker } });
  await post('/memories', { memory: marker, topics: [marker] });
  await post('/learnings', { learning_type: 'notes', content: { note: marker }, user_id: userId });
  await post('/datasets', { name: marker, metadata: { note: marker } });
  for (const list of ['/sessions', '/memories', '/learnings', '/traces', '/approvals'])
    await learn(`${list}?limit=100&user_id=${userId}`);
  const ids = new Set(pool.ids(ownIds));
  const places = [...new Set(ownPlaces(pool))];
  const before = await Promise.all(places.map(learn));
  return {
    ...{ userId, marker, headers, ids, known: [...pool.all()] },
    async expectAllThere() {
      const after = await Promise.all(places.map(learn));
      for (const [at, place] of places.entries())
        expect(steady(after[at]), place).toEqual(steady(before[at]));
    },
  };
}

/** A body without what changes by itself: a run that waits takes longer and longer. */
function steady(body: unknown): unknown {
  const goingOn = ['duration', 'end_time'];
  return JSON.parse(JSON.stringify(body, (name, value: unknown) => (goingOn.includes(name) ? null : value)));
}

/** Where the things are read that another caller might have changed. */
function ownPlaces(pool: Pool): string[] {
  return [
    ...pool.ids(['session_id']).map((id) => `/sessions/${id}`),
    ...pool.ids(['memory_id']).map((id) => `/memories/${id}`),
    ...pool.ids(['learning_id']).map((id) => `/learnings/${id}`),
    ...pool.ids(['dataset_id']).map((id) => `/datasets/${id}`),
    ...pool.ids(['trace_id']).map((id) => `/traces/${id}`),
    ...pool.ids(['approval_id']).map((id) => `/approvals/${id}`),
  ];
}
