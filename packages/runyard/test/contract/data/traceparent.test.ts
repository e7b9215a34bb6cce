import { expect, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { traceIdOf } from '../../../src/core/traces/span.js';
import { spansOf } from '../../../src/core/traces/spans-of-run.js';
import { agent, step, team, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { freshSqlite } from '../../support/databases.js';
import { startService } from '../../support/service.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const traceparent = `00-${traceId}-${parentId}-01`;

/** A service with a component of each kind, and how to read the spans of its runs. */
async function service(settings: { traces?: boolean } = {}) {
  const model = scriptedModel(() => 'done');
  const place = await freshSqlite();
  const database = await place.open();
  const component = agent({ id: 'a', model });
  const started = await startService({
    database: place.url,
    agents: [component],
    teams: [team({ id: 't', model, members: [component] })],
    workflows: [workflow({ id: 'w', steps: [step({ name: 'only', agent: component })] })],
    ...settings,
  });
  const runs = new RunStore(database);
  const spans = async (runId: string) => spansOf((await runs.load(runId))!);
  return { started, database, spans };
}

test('a run is part of the trace of its caller, whatever runs', async () => {
  const { started, spans } = await service();
  for (const path of ['/agents/a', '/teams/t', '/workflows/w']) {
    const form = { message: 'hello', stream: false };
    const { body } = await started.submit(`${path}/runs`, form, { headers: { traceparent } });
    const [root, ...inside] = await spans(body.run_id);
    expect(root).toMatchObject({ traceId, parentSpanId: null, remoteParentId: parentId });
    expect(inside.length).toBeGreaterThan(0);
    expect(inside.every((span) => span.traceId === traceId && span.parentSpanId !== parentId)).toBe(true);
  }
});

test('an invalid traceparent is ignored', async () => {
  const { started, spans } = await service();
  const malformed = ['nonsense', `${traceparent}-more`, traceparent.toUpperCase(), 'x'.repeat(3000)];
  for (const header of [...malformed, `${traceparent}, ${traceparent}`]) {
    const answer = await started.run('a', { message: 'hello' }, { headers: { traceparent: header } });
    expect(answer.status).toBe(200);
    const [root] = await spans(answer.body.run_id);
    const own = traceIdOf({ runId: answer.body.run_id, traceParent: null });
    expect(root).toMatchObject({ traceId: own, remoteParentId: null });
  }
});

test('the description of the service documents the header', async () => {
  const { started } = await service();
  const { body } = await started.get('/openapi.json');
  for (const path of ['/agents/{agent_id}/runs', '/teams/{team_id}/runs', '/workflows/{workflow_id}/runs'])
    expect(body.paths[path].post.parameters).toContainEqual(
      expect.objectContaining({ in: 'header', name: 'traceparent', required: false }),
    );
});

test('a service that records no traces still executes its runs', async () => {
  const { started, database } = await service({ traces: false });
  const answer = await started.run('a', { message: 'hello' }, { headers: { traceparent } });
  expect(answer.body).toMatchObject({ status: 'completed', content: 'done' });
  expect(await database.query.selectFrom('traces').selectAll().execute()).toEqual([]);
});
