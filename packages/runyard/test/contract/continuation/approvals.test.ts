import { expect, it } from 'vitest';
import { administrator, person } from '../../support/clients/callers.js';
import { approvalsIn, resolve, serviceOn, waiting } from '../../support/components/approvals.js';
import { forEachDatabase } from '../../support/databases.js';
import type { Body } from '../../support/service.js';

forEachDatabase((_dialect, freshPlace) => {
  it('lists what waits, with every field', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const { approval, run } = await waiting(database, {
      userId: 'ada',
      expiresAt: 4_000_000_000_999,
      requirement: { id: 'r1', tool_execution: { tool_name: 'pay' } },
    });
    const { status, body } = await service.get('/approvals');
    expect(status).toBe(200);
    const createdAt = Math.floor(approval.createdAt / 1000);
    const shown = {
      id: approval.approvalId,
      run_id: run.runId,
      session_id: run.sessionId,
      status: 'pending',
      source_type: 'agent',
      approval_type: 'required',
      pause_type: 'confirmation',
      tool_name: 'pay',
      tool_args: { amount: 5 },
      expires_at: 4_000_000_000,
      agent_id: 'payer',
      team_id: null,
      workflow_id: null,
      user_id: 'ada',
      schedule_id: null,
      schedule_run_id: null,
      source_name: 'Payer',
      requirements: [{ id: 'r1', tool_execution: { tool_name: 'pay' } }],
      context: { tool_names: ['pay'], source_name: 'Payer' },
      resolution_data: null,
      resolved_by: null,
      resolved_at: null,
      created_at: createdAt,
      updated_at: createdAt,
      run_status: 'paused',
    };
    expect(body).toEqual({
      data: [shown],
      meta: { page: 1, limit: 100, total_pages: 1, total_count: 1, search_time_ms: 0 },
    });
    expect((await service.get(`/approvals/${approval.approvalId}`)).body).toEqual(shown);
    expect((await service.get(`/approvals/${approval.approvalId}/status`)).body).toEqual({
      approval_id: approval.approvalId,
      status: 'pending',
      run_id: run.runId,
      resolved_at: null,
      resolved_by: null,
    });
  });

  it('lists what all filters fit', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const given = {
      ofAda: { userId: 'ada' },
      ofBob: { userId: 'bob', pauseType: 'user_input' },
      ofTeam: { sourceType: 'team', componentId: 'payer' },
      ofWorkflow: { sourceType: 'workflow', componentId: 'monthly' },
      rejected: { approvalType: 'audit', status: 'rejected', resolvedAt: Date.now() },
    } as const;
    const names = new Map<string, string>();
    const runs: Record<string, string> = {};
    for (const [name, approval] of Object.entries(given)) {
      const made = await waiting(database, approval);
      names.set(made.approval.approvalId, name);
      runs[name] = made.run.runId;
    }
    const listed = async (query: string) => {
      const { body } = await service.get(`/approvals?${query}`);
      expect(body.meta.total_count, query).toBe(body.data.length);
      return body.data.map(({ id }: Body) => names.get(id)).sort();
    };
    expect(await listed('status=pending')).toEqual(['ofAda', 'ofBob', 'ofTeam', 'ofWorkflow']);
    expect(await listed('status=rejected')).toEqual(['rejected']);
    expect(await listed('source_type=workflow')).toEqual(['ofWorkflow']);
    expect(await listed('source_type=nonsense')).toEqual([]);
    expect(await listed('approval_type=audit')).toEqual(['rejected']);
    expect(await listed('pause_type=user_input')).toEqual(['ofBob']);
    expect(await listed('agent_id=payer')).toEqual(['ofAda', 'ofBob', 'rejected']);
    expect(await listed('team_id=payer')).toEqual(['ofTeam']);
    expect(await listed('workflow_id=monthly')).toEqual(['ofWorkflow']);
    expect(await listed('agent_id=payer&team_id=payer')).toEqual([]);
    expect(await listed('user_id=ada')).toEqual(['ofAda']);
    expect(await listed('schedule_id=none')).toEqual([]);
    expect(await listed(`run_id=${runs.ofTeam}`)).toEqual(['ofTeam']);
    expect(await listed('agent_id=payer&status=pending&user_id=bob')).toEqual(['ofBob']);
    expect(await listed('user_id=ada&pause_type=user_input')).toEqual([]);
  });

  it('comes in pages, the newest first', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const now = Date.now();
    const made: string[] = [];
    // two of each moment: their order must hold from page to page
    for (const age of [3, 3, 2, 2, 1, 1, 0]) {
      made.push((await waiting(database, { createdAt: now - age * 1000 })).approval.approvalId);
    }
    const all = (await service.get('/approvals')).body.data.map(({ id }: Body) => id);
    expect(all.toSorted()).toEqual(made.toSorted());
    const times = (await service.get('/approvals')).body.data.map((approval: Body) => approval.created_at);
    expect(times).toEqual(times.toSorted((one: number, other: number) => other - one));
    const pages = [];
    for (const page of [1, 2, 3, 4]) {
      const { body } = await service.get(`/approvals?limit=3&page=${page}`);
      expect(body.meta).toEqual({ page, limit: 3, total_pages: 3, total_count: 7, search_time_ms: 0 });
      pages.push(body.data.map(({ id }: Body) => id));
    }
    expect(pages.map((page) => page.length)).toEqual([3, 3, 1, 0]);
    expect(pages.flat()).toEqual(all);
    const far = await service.get('/approvals?limit=1000&page=9007199254740991');
    expect(far.body).toMatchObject({ data: [], meta: { total_count: 7, total_pages: 1 } });
    expect((await service.get('/approvals?status=cancelled')).body.meta).toMatchObject({
      total_pages: 0,
      total_count: 0,
    });
  });

  it('is one list for all databases', async () => {
    const place = await freshPlace();
    const other = await place.open();
    const { service, database } = await serviceOn(await freshPlace(), { databases: { other: place.url } });
    const now = Date.now();
    const made: string[] = [];
    for (let index = 0; index < 6; index += 1) {
      const where = index % 3 === 0 ? other : database;
      const { approval } = await waiting(where, { createdAt: now + index, userId: `user-${index % 2}` });
      made.unshift(approval.approvalId);
    }
    const idsAt = async (query: string) => {
      const { body } = await service.get(`/approvals?${query}`);
      return body.data.map(({ id }: Body) => id);
    };
    expect(await idsAt('')).toEqual(made);
    expect(await idsAt('limit=4')).toEqual(made.slice(0, 4));
    expect(await idsAt('limit=4&page=2')).toEqual(made.slice(4));
    expect(await idsAt('limit=4&page=3')).toEqual([]);
    expect(await idsAt('user_id=user-0&limit=2')).toEqual([made[1], made[3]]);
    expect((await service.get('/approvals/count')).body).toEqual({ count: 6 });
    for (const id of made) {
      expect((await resolve(service, id, { status: 'rejected' })).body).toMatchObject({
        id,
        status: 'rejected',
      });
      expect((await service.call('DELETE', `/approvals/${id}`)).status).toBe(204);
    }
    expect(await idsAt('')).toEqual([]);
  });

  it('counts what waits, of all or of one user', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const { approval } = await waiting(database, { userId: 'ada' });
    await waiting(database, { userId: 'ada' });
    await waiting(database, { userId: 'bob' });
    await waiting(database, { userId: 'ada', expiresAt: Date.now() - 1 });
    await waiting(database, { userId: 'ada', approvalType: 'audit', status: 'approved' });
    const count = async (query = '') => (await service.get(`/approvals/count${query}`)).body;
    expect(await count()).toEqual({ count: 3 });
    expect(await count('?user_id=ada')).toEqual({ count: 2 });
    expect(await count('?user_id=nobody')).toEqual({ count: 0 });
    await resolve(service, approval.approvalId, { status: 'approved' });
    expect(await count('?user_id=ada')).toEqual({ count: 1 });
  });

  it('refuses what does not fit, and says what would', async () => {
    const { service, database } = await serviceOn(await freshPlace());
    const { approval } = await waiting(database);
    const faultOf = async (query: string) => {
      const { status, body } = await service.get(`/approvals?${query}`);
      expect(status, query).toBe(422);
      return body.detail[0];
    };
    expect(await faultOf('status=done')).toEqual({
      type: 'literal_error',
      loc: ['query', 'status'],
      msg: "Input should be 'pending', 'approved', 'rejected', 'expired' or 'cancelled'",
      input: 'done',
      ctx: { expected: "'pending', 'approved', 'rejected', 'expired' or 'cancelled'" },
    });
    expect(await faultOf('approval_type=both')).toMatchObject({
      type: 'literal_error',
      msg: "Input should be 'required' or 'audit'",
    });
    expect(await faultOf('limit=0')).toMatchObject({ type: 'greater_than_equal', ctx: { ge: 1 } });
    expect(await faultOf('limit=1001')).toMatchObject({ type: 'less_than_equal', ctx: { le: 1000 } });
    expect(await faultOf('page=0')).toMatchObject({ type: 'greater_than_equal', loc: ['query', 'page'] });
    expect(await faultOf('page=two')).toMatchObject({ type: 'int_parsing' });

    const refused = async (sent: unknown) => {
      const { status, body } = await resolve(service, approval.approvalId, sent);
      expect(status, JSON.stringify(sent)).toBe(422);
      return body.detail[0];
    };
    expect(await refused({ status: 'pending' })).toEqual({
      type: 'string_pattern_mismatch',
      loc: ['body', 'status'],
      msg: "String should match pattern '^(approved|rejected)$'",
      input: 'pending',
      ctx: { pattern: '^(approved|rejected)$' },
    });
    expect(await refused({})).toMatchObject({ type: 'missing', loc: ['body', 'status'], input: {} });
    expect(await refused({ status: 1 })).toMatchObject({ type: 'string_type' });
    expect(await refused({ status: 'approved', resolved_by: 'x'.repeat(256) })).toMatchObject({
      type: 'string_too_long',
      loc: ['body', 'resolved_by'],
      msg: 'String should have at most 255 characters',
    });
    expect(await refused({ status: 'approved', resolution_data: [1] })).toMatchObject({
      type: 'dict_type',
      loc: ['body', 'resolution_data'],
      msg: 'Input should be a valid dictionary',
    });
    expect(await refused([1])).toMatchObject({ type: 'model_attributes_type', loc: ['body'] });
    expect((await service.get(`/approvals/${approval.approvalId}`)).body.status).toBe('pending');
  });

  it('shows a person their own, and lets them decide on none', async () => {
    const database = await (await freshPlace()).open();
    const service = approvalsIn(database, false);
    const hers = (await waiting(database, { userId: 'ada' })).approval.approvalId;
    const his = (await waiting(database, { userId: 'bob' })).approval.approvalId;
    const nobodys = (await waiting(database)).approval.approvalId;
    const ada = person('ada');
    const page = { limit: 10, page: 1 };
    const seen = await service.list(ada, {}, page);
    expect(seen).toMatchObject({ items: [{ approvalId: hers }], total: 1 });
    expect((await service.list(ada, { userId: 'bob' }, page)).items).toHaveLength(1);
    expect(await service.countPending(ada)).toBe(1);
    expect(await service.countPending(ada, 'bob')).toBe(1);
    expect((await service.get(ada, hers)).approvalId).toBe(hers);
    for (const id of [his, nobodys]) {
      await expect(service.get(ada, id)).rejects.toMatchObject({ code: 'approval_not_found' });
    }
    const decision = { status: 'approved', resolvedBy: null, resolutionData: null } as const;
    for (const id of [hers, his, nobodys]) {
      await expect(service.resolve(ada, id, decision)).rejects.toMatchObject({ code: 'approval_not_found' });
      await expect(service.delete(ada, id)).rejects.toMatchObject({ code: 'approval_not_found' });
    }
    const admin = administrator();
    expect(await service.countPending(admin)).toBe(3);
    const named = await service.resolve(admin, hers, { ...decision, resolvedBy: 'somebody else' });
    expect(named.resolvedBy).toBe('root');
  });
});
