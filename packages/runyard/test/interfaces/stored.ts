import { compared, essence } from '../support/clients/both-ways.js';
import type { Holder } from '../support/clients/tokens.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import type { Asked } from './way.js';

/** Who looks at what is stored: the owner, and an administrator for the approvals. */
export interface Lookers {
  readonly owner: Holder;
  readonly admin: Holder;
}

/** The one run of a session that has begun, as soon as there is one. */
export function runIdOf({ owner }: Lookers, { plural, id, sessionId }: Asked): Promise<string> {
  return until('the run has begun', async () => {
    const { status, body } = await owner.get(`/${plural}/${id}/runs?session_id=${sessionId}`);
    return status === 200 && (body[0]?.run_id as string | undefined);
  });
}

/** All that is left of the runs of a session, without what differs from run to run. */
export async function storedOf({ owner, admin }: Lookers, asked: Asked): Promise<Body> {
  const { plural, sessionId } = asked;
  const runs = await settled(owner, asked);
  const ids = new Set(runs.map(({ run_id }) => run_id));
  const session = await owner.get(`/sessions/${sessionId}?type=${plural.slice(0, -1)}`);
  const listed = await owner.get(`/sessions/${sessionId}/runs?type=${plural.slice(0, -1)}`);
  const approvals = await admin.get('/approvals?limit=100');
  const left = essence({
    runs: runs.map(compared),
    listed: listed.body.map(({ events: _events, ...run }: Body) => run),
    session: session.body,
    approvals: approvals.body.data.filter(({ run_id }: Body) => ids.has(run_id)),
  });
  return JSON.parse(JSON.stringify(left).replaceAll(sessionId, 'its session'));
}

/** The runs of a session, each in full, when none of them is executed. */
async function settled(owner: Holder, { plural, id, sessionId }: Asked): Promise<Body[]> {
  return until('the runs of the session rest', async () => {
    const { body: list } = await owner.get(`/${plural}/${id}/runs?session_id=${sessionId}`);
    const runs = await Promise.all(
      list.map(async ({ run_id }: Body) => (await owner.get(`/${plural}/${id}/runs/${run_id}`)).body),
    );
    return runs.every(({ status }) => !['pending', 'running'].includes(status)) && runs;
  });
}
