import { expect, it } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { forEachDatabase } from '../../support/databases.js';
import { anApproval, aRun, creation, finished, progress, resting, start } from '../builders.js';

forEachDatabase((_dialect, freshPlace) => {
  async function stores() {
    const database = await (await freshPlace()).open();
    const statuses = async () => {
      const rows = await database.query
        .selectFrom('approvals')
        .select(['approval_id', 'status', 'updated_at'])
        .execute();
      return new Map(rows.map((row) => [row.approval_id, [row.status, row.updated_at]]));
    };
    return { database, runs: new RunStore(database), statuses };
  }

  it('stores an approval together with the run that waits for it', async () => {
    const { database, runs } = await stores();
    const run = aRun({ userId: 'ada' });
    const pending = anApproval(run, { toolArgs: { text: 'nul \0 "quoted"' }, expiresAt: start + 99 });
    const decided = anApproval(run, {
      approvalType: 'audit',
      pauseType: 'external_execution',
      status: 'approved',
      requirement: null,
      resolutionData: { result: 'done' },
      resolvedBy: 'bob',
      resolvedAt: start + 5,
      createdAt: start + 5,
    });
    await runs.commit([
      creation(run, { approvals: [pending, decided].map((approval) => ({ kind: 'record', approval })) }),
    ]);
    const rows = await database.query.selectFrom('approvals').selectAll().orderBy('created_at').execute();
    expect(rows).toEqual([
      {
        approval_id: pending.approvalId,
        run_id: run.runId,
        session_id: 'session-1',
        source_type: 'agent',
        component_id: 'writer',
        source_name: 'Writer',
        user_id: 'ada',
        approval_type: 'required',
        pause_type: 'confirmation',
        status: 'pending',
        tool_name: 'wire_money',
        tool_args: JSON.stringify(pending.toolArgs),
        requirement: '{"id":"requirement-1"}',
        resolution_data: null,
        resolved_by: null,
        resolved_at: null,
        expires_at: start + 99,
        schedule_id: null,
        schedule_run_id: null,
        created_at: start,
        updated_at: start,
      },
      expect.objectContaining({
        approval_id: decided.approvalId,
        approval_type: 'audit',
        status: 'approved',
        requirement: null,
        resolution_data: '{"result":"done"}',
        resolved_by: 'bob',
        resolved_at: start + 5,
        updated_at: start + 5,
      }),
    ]);
  });

  it('does not undo a decision when the request for it is written again', async () => {
    const { database, runs, statuses } = await stores();
    const run = aRun();
    const approval = anApproval(run);
    const write = { approvals: [{ kind: 'record', approval }] } as const;
    await runs.commit([creation(run, write)]);
    await database.query.updateTable('approvals').set({ status: 'approved' }).execute();
    expect(await runs.commit([progress(run, {}, write)])).toEqual([]);
    expect(await statuses()).toEqual(new Map([[approval.approvalId, ['approved', start]]]));
  });

  it('cancels pending approvals when their run ends without them, and nothing else', async () => {
    const { runs, statuses } = await stores();
    const [run, other] = [aRun({ ...resting, status: 'paused' }), aRun({ ...resting, status: 'paused' })];
    const approvals = {
      pending: anApproval(run),
      decided: anApproval(run, { status: 'rejected' }),
      before: anApproval(run),
      after: anApproval(run),
      elsewhere: anApproval(other),
    };
    const record = (approval: typeof approvals.pending) => ({ kind: 'record', approval }) as const;
    await runs.commit([
      creation(run, { approvals: [record(approvals.pending), record(approvals.decided)] }),
      creation(other, { approvals: [record(approvals.elsewhere)] }),
    ]);
    await runs.commit([
      progress(
        run,
        { ...finished, status: 'cancelled' },
        {
          approvals: [
            record(approvals.before),
            { kind: 'cancel_pending', at: start + 7 },
            record(approvals.after),
          ],
        },
      ),
    ]);
    expect(await statuses()).toEqual(
      new Map<string, unknown>([
        [approvals.pending.approvalId, ['cancelled', start + 7]],
        [approvals.decided.approvalId, ['rejected', start]],
        [approvals.before.approvalId, ['cancelled', start + 7]],
        [approvals.after.approvalId, ['pending', start]],
        [approvals.elsewhere.approvalId, ['pending', start]],
      ]),
    );
  });

  it('leaves no approval of a refused write, and cancels none', async () => {
    const { runs, statuses } = await stores();
    const run = aRun();
    const kept = anApproval(run);
    await runs.commit([creation(run, { approvals: [{ kind: 'record', approval: kept }] })]);
    const refused = await runs.commit([
      {
        ...progress(run, finished),
        attempt: 7,
        approvals: [
          { kind: 'cancel_pending', at: start + 1 },
          { kind: 'record', approval: anApproval(run) },
        ],
      },
    ]);
    expect(refused).toEqual([{ runId: run.runId, reason: 'fenced' }]);
    expect(await statuses()).toEqual(new Map([[kept.approvalId, ['pending', start]]]));
  });

  it('keeps the approvals of a run that is removed', async () => {
    const { database, runs, statuses } = await stores();
    const run = aRun();
    const approval = anApproval(run, { status: 'approved' });
    await runs.commit([creation(run, { approvals: [{ kind: 'record', approval }] })]);
    await database.query.deleteFrom('sessions').execute();
    expect([...(await statuses()).values()].map(([status]) => status)).toEqual(['approved']);
  });
});
