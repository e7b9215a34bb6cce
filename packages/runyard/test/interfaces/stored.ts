import { compared, essence } from '../support/clients/both-ways.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import { type Asked, type Person, Refused } from './way.js';
import { get } from './ways/rest.js';

/** Who looks at what is stored: the owner, and an administrator for the approvals. */
export interface Lookers {
  readonly owner: Person;
  readonly admin: Person;
}

/** The one run of a session that has begun, as soon as there is one. */
export function runIdOf({ owner }: Lookers, { plural, id, sessionId }: Asked): Promise<string> {
  return until('the run has begun', async () => {
    const runs = await get(owner, `/${plural}/${id}/runs?session_id=${sessionId}`).catch(ofUnknownSession);
    return runs[0]?.run_id as string | undefined;
  });
}

function ofUnknownSession(error: unknown): Body[] {
  if (error instanceof Refused) return [];
  throw error;
}

/** All that is left of the runs of a session, without what differs from run to run. */
export async function storedOf({ owner, admin }: Lookers, asked: Asked): Promise<Body> {
  const { plural, sessionId } = asked;
  const runs = await settled(owner, asked);
  const kind = plural.slice(0, -1);
  const [session, listed, ...approvals] = await Promise.all([
    get(owner, `/sessions/${sessionId}?type=${kind}`),
    get(owner, `/sessions/${sessionId}/runs?type=${kind}&include_events=false`),
    ...runs.map(({ run_id }) => get(admin, `/approvals?run_id=${run_id}`)),
  ]);
  const left = essence({
    runs: runs.map(compared),
    listed,
    session,
    approvals: approvals.flatMap(({ data }) => data),
  });
  return JSON.parse(JSON.stringify(left).replaceAll(sessionId, 'its session'));
}

/** The runs of a session, each in full, when none of them is executed. */
function settled(owner: Person, { plural, id, sessionId }: Asked): Promise<Body[]> {
  return until('the runs of the session rest', async () => {
    const path = `/${plural}/${id}/runs`;
    const list: Body[] = await get(owner, `${path}?session_id=${sessionId}&include_events=false`);
    if (list.some(({ status }) => ['pending', 'running'].includes(status))) return undefined;
    return Promise.all(list.map(({ run_id }) => get(owner, `${path}/${run_id}`)));
  });
}
