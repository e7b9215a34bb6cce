import { percentile } from '../../lib/statistics.mjs';
import { Random } from '../../seed/random.mjs';
import { learningOperations, memoryOperations, metricsOperations } from './knowledge-operations.mjs';
import { get, post, send } from './requests.mjs';
import { sessionOperations } from './session-operations.mjs';
import { traceOperations } from './trace-operations.mjs';

/** What the blueprint promises for each of them. */
const targetMs = 100;

const warmingRequests = 3;

/**
 * Every list, search and detail, one request after the other, each with other values where there are any. What they
 * find is known of the whole database; a smaller one has no page 100.
 */
export async function measureOperations({ server, facts, samples, isWhole = true, only }) {
  const random = new Random(7);
  const given = { random, facts: { ...facts, members: await membersOf(server.port, facts) } };
  const operations = [
    sessionOperations,
    memoryOperations,
    learningOperations,
    metricsOperations,
    traceOperations,
  ].flatMap((of) => of(given));
  const rows = [];
  for (const operation of operations.filter((one) => only === undefined || one.group === only))
    rows.push(
      await measureOperation(server, isWhole ? operation : { ...operation, finds: 'anything' }, samples),
    );
  return rows;
}

async function measureOperation(server, { group, what, request, finds = 'something' }, samples) {
  const once = async () => {
    const asked = request();
    const { milliseconds, body } = await send(server.port, asked);
    check(finds, body, asked);
    return milliseconds;
  };
  for (let round = 0; round < warmingRequests; round += 1) await once();
  const before = await server.ask('usage');
  const times = [];
  for (let round = 0; round < samples; round += 1) times.push(await once());
  const cpu = ((await server.ask('usage')) - before) / 1000 / samples;
  const [p50, p95, p99] = [50, 95, 99].map((percent) => percentile(times, percent));
  return { group, what, cpu, p50, p95, p99, met: p95 < targetMs };
}

/** What has no bound, or is no list: how long it takes all the same, once. */
export async function measureUnbounded(server, { sessions }) {
  const once = async (what, request) => {
    const before = await server.ask('usage');
    const { milliseconds, first } = await send(server.port, request);
    const cpu = ((await server.ask('usage')) - before) / 1000;
    return { what, cpu, first, whole: milliseconds };
  };
  const counted = await once('metrics of all days, counted for the first time', get('/metrics'));
  const again = await once('metrics refreshed on demand, all days', post('/metrics/refresh'));
  const longest = await once(
    'all runs of the longest session, not paged',
    get(`/sessions/${sessions[0].id}/runs`),
  );
  return [counted, again, longest].map((row) => ({ group: 'unbounded', ...row }));
}

/** A request that finds nothing is quick for the wrong reason. */
function check(finds, body, { path }) {
  if (finds === 'anything') return;
  const listed = Array.isArray(body) ? body : (body.data ?? [body]);
  const expected = finds === 'something' ? listed.length > 0 : listed.length === 0;
  if (!expected) throw new Error(`${path} found ${listed.length}, and not ${finds}`);
}

/** Runs of members, which have no row of their own. */
async function membersOf(port, { sessions }) {
  const teams = sessions.filter(({ kind }) => kind === 'team').slice(0, 20);
  const members = [];
  for (const { id } of teams) {
    const { body } = await send(port, get(`/sessions/${id}/runs`, { limit: 1 }));
    members.push({ id, first: body.find((run) => run.parent_run_id != null).run_id });
  }
  return members;
}
