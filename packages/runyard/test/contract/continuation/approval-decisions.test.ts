import { expect, it } from 'vitest';
import { DatabaseApprovals } from '../../../src/capabilities/approvals/service.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { progress } from '../../conformance/builders.js';
import { administrator } from '../../support/clients/callers.js';
import {
  approvalsIn,
  expectProblem,
  resolve,
  serviceOn,
  waiting,
} from '../../support/components/approvals.js';
import { forEachDatabase } from '../../support/databases.js';
import type { Body } from '../../support/service.js';

const hour = 3_600_000;

forEachDatabase((_dialect, freshPlace) => {
  it('is decided with who, when and what belongs to it', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const { approval } = await waiting(database);
    const before = Math.floor(Date.now() / 1000);
    const { status, body } = await resolve(service, approval.approvalId, {
      status: 'approved',
      resolved_by: 'grace',
      resolution_data: { values: { account: '123' }, list: [1, null] },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: approval.approvalId,
      status: 'approved',
      resolved_by: 'grace',
      resolution_data: { values: { account: '123' }, list: [1, null] },
      tool_args: { amount: 5 },
      run_status: 'paused',
    });
    expect(body.resolved_at).toBeGreaterThanOrEqual(before);
    expect(body.updated_at).toBe(body.resolved_at);
    expect((await service.get(`/approvals/${approval.approvalId}`)).body).toEqual(body);
    expect((await service.get(`/approvals/${approval.approvalId}/status`)).body).toEqual({
      approval_id: approval.approvalId,
      status: 'approved',
      run_id: approval.runId,
      resolved_at: body.resolved_at,
      resolved_by: 'grace',
    });
    const again = await resolve(service, approval.approvalId, { status: 'rejected' });
    expectProblem(again, 409, "Approval is already 'approved' and cannot be resolved");
    expect((await service.get(`/approvals/${approval.approvalId}`)).body).toEqual(body);
  });

  it('is decided by one of ten simultaneous requests', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const { approval } = await waiting(database);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        resolve(service, approval.approvalId, {
          status: index % 2 === 0 ? 'approved' : 'rejected',
          resolved_by: `person-${index}`,
        }),
      ),
    );
    const winners = answers.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    const { body } = winners[0]!;
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectProblem(answer, 409, `Approval is already '${body.status}' and cannot be resolved`);
    }
    expect((await service.get(`/approvals/${approval.approvalId}`)).body).toEqual(body);
  });

  it('cannot be decided once its time is over, which shows everywhere', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const { approval } = await waiting(database, { expiresAt: Date.now() - 1 });
    const open = await waiting(database, { expiresAt: Date.now() + hour });
    const ids = async (status: string) =>
      (await service.get(`/approvals?status=${status}`)).body.data.map(({ id }: Body) => id);
    expect(await ids('expired')).toEqual([approval.approvalId]);
    expect(await ids('pending')).toEqual([open.approval.approvalId]);
    expect((await service.get(`/approvals/${approval.approvalId}`)).body).toMatchObject({
      status: 'expired',
      resolved_at: null,
    });
    expect((await service.get(`/approvals/${approval.approvalId}/status`)).body.status).toBe('expired');
    const late = await resolve(service, approval.approvalId, { status: 'approved' });
    expectProblem(late, 409, "Approval is already 'expired' and cannot be resolved");
    expect((await resolve(service, open.approval.approvalId, { status: 'approved' })).status).toBe(200);
  });

  it('cannot be decided when its run has ended', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const runs = new RunStore(database);
    const { approval, run } = await waiting(database);
    await runs.commit([progress(run, { status: 'completed' })]);
    const answer = await resolve(service, approval.approvalId, { status: 'approved' });
    expectProblem(
      answer,
      409,
      `Run ${run.runId} is completed and no longer waits for this approval; it cannot be resolved.`,
    );
    expect((await service.get(`/approvals/${approval.approvalId}`)).body.run_status).toBe('completed');

    const cancelled = await waiting(database);
    const approvals = [{ kind: 'cancel_pending', at: Date.now() }] as const;
    await runs.commit([progress(cancelled.run, { status: 'cancelled' }, { approvals })]);
    const late = await resolve(service, cancelled.approval.approvalId, { status: 'approved' });
    expectProblem(late, 409, "Approval is already 'cancelled' and cannot be resolved");
    expect((await service.get(`/approvals/${cancelled.approval.approvalId}`)).body).toMatchObject({
      status: 'cancelled',
      run_status: 'cancelled',
    });
  });

  it('can be decided while the run continues with other answers', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const { approval, run } = await waiting(database);
    const lease = { leaseOwner: 'elsewhere', leaseExpiresAt: Date.now() + hour };
    await new RunStore(database).commit([progress(run, { status: 'running', ...lease })]);
    const { status, body } = await resolve(service, approval.approvalId, { status: 'approved' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'approved', run_status: 'running' });
  });

  it('is not decided by its requester where four eyes are asked for', async () => {
    const { service, database } = await serviceOn(await freshPlace(), { approvalsFourEyes: true });
    const { approval } = await waiting(database, { userId: 'ada' });
    for (const resolved_by of ['ada', ' ada ']) {
      const own = await resolve(service, approval.approvalId, { status: 'approved', resolved_by });
      expectProblem(
        own,
        403,
        'You cannot decide on a call that you requested. Another user must resolve the approval.',
      );
    }
    for (const resolved_by of [undefined, null, '', '  ']) {
      const nameless = await resolve(service, approval.approvalId, { status: 'approved', resolved_by });
      expectProblem(
        nameless,
        403,
        'Users cannot decide on their own calls, so the decision needs an identity. Send resolved_by, or a token with a subject if the service requires tokens.',
      );
    }
    expect((await service.get(`/approvals/${approval.approvalId}`)).body.status).toBe('pending');
    const other = await resolve(service, approval.approvalId, { status: 'approved', resolved_by: 'grace' });
    expect(other.body).toMatchObject({ status: 'approved', resolved_by: 'grace' });
  });

  it('is deleted in any state, once', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const { approval } = await waiting(database);
    const path = `/approvals/${approval.approvalId}`;
    const deleted = await service.call('DELETE', path);
    expect(deleted.status).toBe(204);
    expect(deleted.text).toBe('');
    for (const answer of [
      await service.call('DELETE', path),
      await service.get(path),
      await service.get(`${path}/status`),
      await resolve(service, approval.approvalId, { status: 'approved' }),
      await service.call('DELETE', '/approvals/unknown'),
    ]) {
      expectProblem(answer, 404, 'Approval not found');
    }
  });

  it('takes four eyes from the token, not from what the request says', async () => {
    const database = await (await freshPlace()).open();
    const service = approvalsIn(database, true);
    const { approval } = await waiting(database, { userId: 'root' });
    const root = administrator('root');
    const decision = { status: 'approved', resolvedBy: 'grace', resolutionData: null } as const;
    await expect(service.resolve(root, approval.approvalId, decision)).rejects.toMatchObject({
      code: 'own_approval',
    });
    const grace = administrator('grace');
    const resolved = await service.resolve(grace, approval.approvalId, { ...decision, resolvedBy: 'root' });
    expect(resolved).toMatchObject({ status: 'approved', resolvedBy: 'grace' });
  });

  it('lets a run see the outcome of its approvals', async () => {
    const database = await (await freshPlace()).open();
    const { approval, run } = await waiting(database, { expiresAt: Date.now() - 1 });
    await waiting(database);
    const everyone = { kind: 'all' } as const;
    const approvals = new DatabaseApprovals(database);
    const found = await approvals.resolutionsOf(everyone, run.runId);
    expect([...found.keys()]).toEqual([approval.approvalId]);
    expect(found.get(approval.approvalId)).toMatchObject({
      status: 'expired',
      resolvedBy: null,
      record: { id: approval.approvalId, status: 'expired', tool_args: { amount: 5 }, run_status: 'paused' },
    });
    const stranger = { kind: 'user', userId: 'stranger' } as const;
    expect((await approvals.resolutionsOf(stranger, run.runId)).size).toBe(0);
  });
});
