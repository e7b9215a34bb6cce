import { expect, it } from 'vitest';
import { agent, step, team, workflow } from '../../../src/index.js';
import { payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { forEachDatabase } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService } from '../../support/service.js';

const ask = { name: 'delegate_task_to_member', arguments: { member_id: 'payer', task: 'Pay 5' }, id: 'ask' };

/** What a service is given to run; built anew for each, as after a restart. */
function registered(book: ScriptBook) {
  const { agent: payer, paid } = payingAgent(book, 'payer');
  const desk = team({ id: 'desk', model: book.model, members: [payer] });
  const shop = workflow({
    id: 'shop',
    steps: [
      step({ name: 'first', run: ({ input }) => `${input} seen` }),
      step({ name: 'pay', team: desk, review: { requiresConfirmation: true } }),
      step({ name: 'thank', agent: agent({ id: 'host', model: book.model }) }),
    ],
  });
  return { components: { teams: [desk], workflows: [shop] }, paid };
}

forEachDatabase((_dialect, freshPlace) => {
  it('a paused team resumes after a restart of the service, with the member that waits', async () => {
    const place = await freshPlace();
    await place.open();
    const book = new ScriptBook();
    book.write('Have it paid', { toolCalls: [ask] }, 'It is paid.');
    book.write('Pay 5', { toolCalls: [payCall(5)] }, 'Paid.');
    const before = await startService({ ...registered(book).components, database: place.url });
    const run = await new RunLife(before, 'desk', 'teams').start({ message: 'Have it paid', user_id: 'ada' });
    expect(run.status).toBe('paused');
    await before.app.close({ graceMs: 0 });
    const { components, paid } = registered(book);
    const life = new RunLife(await startService({ ...components, database: place.url }), 'desk', 'teams');
    const requirements = run.requirements.map((asked: Body) => ({ ...asked, confirmation: true }));
    const { body } = await life.continue(run.run_id, { requirements });
    expect(body).toMatchObject({
      status: 'completed',
      content: 'It is paid.',
      user_id: 'ada',
      member_responses: [{ run_id: run.member_responses[0].run_id, content: 'Paid.', user_id: 'ada' }],
    });
    expect(paid).toHaveLength(1);
    expect(await life.list(run.session_id)).toHaveLength(1);
    const resumed = await (await life.resume(run.run_id)).end();
    expect(resumed.names.at(-1)).toBe('TeamRunCompleted');
  });

  it('a paused workflow resumes after a restart of the service, step by step', async () => {
    const place = await freshPlace();
    await place.open();
    const book = new ScriptBook();
    book.write('Buy seen', { toolCalls: [ask] }, 'It is paid.');
    book.write('Pay 5', { toolCalls: [payCall(5)] }, 'Paid.');
    const before = await startService({ ...registered(book).components, database: place.url });
    const run = await new RunLife(before, 'shop', 'workflows').start({ message: 'Buy' });
    expect(run).toMatchObject({ status: 'paused', pause_kind: 'step' });
    await before.app.close({ graceMs: 0 });
    const { components, paid } = registered(book);
    const life = new RunLife(await startService({ ...components, database: place.url }), 'shop', 'workflows');
    const { body: asks } = await life.continue(run.run_id, {
      step_requirements: [{ ...run.step_requirements[0], confirmed: true }],
    });
    expect(asks).toMatchObject({ status: 'paused', pause_kind: 'executor' });
    const [, waits] = asks.step_requirements;
    const executor_requirements = [{ ...waits.executor_requirements[0], confirmation: true }];
    const { body } = await life.continue(run.run_id, {
      step_requirements: [asks.step_requirements[0], { ...waits, executor_requirements }],
    });
    expect(body).toMatchObject({
      status: 'completed',
      content: 'Answer to: It is paid.',
      step_results: [{ content: 'Buy seen' }, { content: 'It is paid.' }, {}],
      step_executor_runs: [{ team_id: 'desk' }, { agent_id: 'host' }],
    });
    expect(paid).toHaveLength(1);
  });
});
