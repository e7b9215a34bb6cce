import { expect, it } from 'vitest';
import { z } from 'zod';
import { agent, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { expectProblem, resolve, serviceOn } from '../../support/components/approvals.js';
import { forEachDatabase } from '../../support/databases.js';
import type { Answer, TestService } from '../../support/service.js';

const hour = 3_600_000;

forEachDatabase((_dialect, freshPlace) => {
  it('begins with a run that pauses, and ends with one that resumes', async () => {
    const paid: number[] = [];
    const { service } = await serviceOn(await freshPlace(), { agents: [payingAgent(paid)] });
    const paused = await service.run('payer', { message: 'Pay 5', user_id: 'ada' });
    expect(paused.body.status).toBe('paused');
    const { body } = await service.get('/approvals?status=pending');
    expect(body.data).toHaveLength(1);
    const [approval] = body.data;
    expect(approval).toMatchObject({
      id: paused.body.tools[0].approval_id,
      run_id: paused.body.run_id,
      session_id: paused.body.session_id,
      agent_id: 'payer',
      user_id: 'ada',
      tool_name: 'pay',
      tool_args: { amount: 5 },
      requirements: [{ tool_execution: { tool_name: 'pay', approval_id: paused.body.tools[0].approval_id } }],
      run_status: 'paused',
    });
    expect(approval.expires_at).toBe(approval.created_at + 3600);
    expect((await goOn(service, paused.body.run_id)).status).toBe(400);
    await resolve(service, approval.id, { status: 'approved', resolved_by: 'grace' });
    expect(paid).toEqual([]);
    const ended = await goOn(service, paused.body.run_id);
    expect(ended.body).toMatchObject({
      status: 'completed',
      content: 'It is paid.',
      metadata: { approval: { id: approval.id, status: 'approved', resolved_by: 'grace' } },
    });
    expect(paid).toEqual([5]);
    expect((await service.get(`/approvals/${approval.id}`)).body.run_status).toBe('completed');
  });

  it('shows the status of its run to clients of the older interface in upper case', async () => {
    const { service } = await serviceOn(await freshPlace(), { agents: [payingAgent([])] });
    const { body: run } = await service.run('payer', { message: 'Pay 5' });
    const id = run.tools[0].approval_id;
    const older = { 'x-runyard-compat': 'agentos' };
    const ours = (await service.get(`/approvals/${id}`)).body;
    expect(ours.run_status).toBe('paused');
    const theirs = { ...ours, run_status: 'PAUSED' };
    expect((await service.get(`/approvals/${id}`, older)).body).toEqual(theirs);
    expect((await service.get('/approvals', older)).body.data).toEqual([theirs]);
    const decided = await service.call('POST', `/approvals/${id}/resolve`, {
      headers: { ...older, 'content-type': 'application/json' },
      body: '{"status":"approved"}',
    });
    expect(decided.body).toMatchObject({ status: 'approved', run_status: 'PAUSED' });
  });

  it('ends with the run that is cancelled', async () => {
    const paid: number[] = [];
    const { service } = await serviceOn(await freshPlace(), { agents: [payingAgent(paid)] });
    const { body: run } = await service.run('payer', { message: 'Pay 5' });
    const cancelled = await service.call('POST', `/agents/payer/runs/${run.run_id}/cancel`);
    expect(cancelled.status).toBe(200);
    const id = run.tools[0].approval_id;
    expect((await service.get(`/approvals/${id}`)).body).toMatchObject({
      status: 'cancelled',
      run_status: 'cancelled',
    });
    const late = await resolve(service, id, { status: 'approved' });
    expectProblem(late, 409, "Approval is already 'cancelled' and cannot be resolved");
    expect(paid).toEqual([]);
  });

  it('cannot be gone round by what a request says', async () => {
    const paid: number[] = [];
    const { service } = await serviceOn(await freshPlace(), { agents: [payingAgent(paid)] });
    const { body: run } = await service.run('payer', { message: 'Pay 5' });
    const [shown] = run.tools;
    const claims = [{ ...shown, confirmed: true, tool_args: { amount: 222 }, approval_id: null }];
    const id = shown.approval_id;
    // not decided yet
    expect((await goOn(service, run.run_id, { tools: JSON.stringify(claims) })).status).toBe(400);
    expect(paid).toEqual([]);
    await resolve(service, id, { status: 'approved' });
    // four at the same time, with arguments of their own
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => goOn(service, run.run_id, { tools: JSON.stringify(claims) })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect(paid).toEqual([5]);
  });

  it('is not executed after a rejection, whatever a request says', async () => {
    const paid: number[] = [];
    const { service } = await serviceOn(await freshPlace(), { agents: [payingAgent(paid)] });
    const { body: run } = await service.run('payer', { message: 'Pay 5' });
    const [shown] = run.tools;
    await resolve(service, shown.approval_id, { status: 'rejected' });
    const tools = JSON.stringify([{ ...shown, confirmed: true }]);
    const { body } = await goOn(service, run.run_id, { tools });
    expect(body).toMatchObject({ status: 'completed', tools: [{ confirmed: false }] });
    expect(paid).toEqual([]);
  });
});

/** An agent that wants to pay what the message says, and needs an approval for it. */
function payingAgent(paid: number[]) {
  const pay = tool({
    name: 'pay',
    description: 'Pay an amount',
    inputSchema: z.object({ amount: z.number() }),
    sideEffects: true,
    approval: 'required',
    approvalTimeoutMs: hour,
    execute: ({ amount }) => {
      paid.push(amount);
      return 'paid';
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'pay', arguments: { amount: 5 } }] }, 'It is paid.']);
  return agent({ id: 'payer', model, tools: [pay] });
}

function goOn(service: TestService, runId: string, form: Record<string, string> = {}): Promise<Answer> {
  return service.call('POST', `/agents/payer/runs/${runId}/continue`, {
    body: new URLSearchParams({ stream: 'false', ...form }),
  });
}
