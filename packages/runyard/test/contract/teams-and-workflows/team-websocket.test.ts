import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, step, team, workflow } from '../../../src/index.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const book = new ScriptBook();
const { agent: payer, paid } = payingAgent(book, 'payer');
const never = () => new Promise<never>(() => {});

const teams = [team({ id: 'desk', model: book.model, members: [payer] })];
const workflows = [
  workflow({
    id: 'talking',
    steps: [step({ name: 'talk', agent: agent({ id: 'talker', model: book.model }) })],
  }),
  workflow({
    id: 'confirmed',
    steps: [step({ name: 'ask', run: () => 'done', review: { requiresConfirmation: true } })],
  }),
  workflow({
    id: 'failing',
    steps: [
      step({ name: 'bad', maxRetries: 0, onError: 'fail', run: () => Promise.reject(new Error('No')) }),
    ],
  }),
];

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({ teams, workflows, websocket: true });
});
afterAll(() => service.stop());

const connect = (plural: 'teams' | 'workflows', query = '') =>
  WsClient.connect(service.url, `/${plural}/ws${query}`);
const stored = (plural: 'teams' | 'workflows', id: string, runId: string) =>
  new RunLife(service, id, plural).stored(runId);

describe('/teams/ws', () => {
  test('starts a team, follows its members, and continues it with an answer', async () => {
    const ask = {
      name: 'delegate_task_to_member',
      arguments: { member_id: 'payer', task: 'Pay 301' },
      id: 'a',
    };
    const message = book.write('Have 301 paid', { toolCalls: [ask] }, 'It is paid.');
    book.write('Pay 301', { toolCalls: [payCall(301)] }, 'Paid.');
    const client = await connect('teams');
    client.send({ action: 'start-team', team_id: 'desk', message });
    const paused = await client.event('TeamRunPaused');
    expect(client.names).toEqual(expect.arrayContaining(['TeamRunStarted', 'RunStarted', 'RunPaused']));
    const requirements = paused.requirements.map((requirement: Body) => ({
      ...requirement,
      confirmation: true,
    }));
    client.send({ action: 'continue-team', team_id: 'desk', run_id: paused.run_id, requirements });
    await client.event('TeamRunCompleted');
    expect(await stored('teams', 'desk', paused.run_id)).toMatchObject({
      status: 'completed',
      content: 'It is paid.',
    });
    expect(paid.filter(({ cents }) => cents === 301)).toHaveLength(1);
  });

  test('cancels a team, and names what it does not know', async () => {
    const message = book.write('Long', { chunks: ['half', never()] });
    const client = await connect('teams');
    client.send({ action: 'start-team', team_id: 'desk', message });
    const { run_id } = await client.event('TeamRunContent');
    client.send({ action: 'cancel-team', team_id: 'desk', run_id });
    await client.event('TeamRunCompleted');
    expect((await stored('teams', 'desk', run_id)).status).toBe('cancelled');
    expect(await client.ask({ action: 'start-team', message: 'x' })).toMatchObject({
      error: 'team_id is required',
    });
    expect(await client.ask({ action: 'start-team', team_id: 'no', message: 'x' })).toMatchObject({
      error: 'Team no not found',
    });
    expect(await client.ask({ action: 'start-agent', agent_id: 'payer', message: 'x' })).toMatchObject({
      error: 'Unknown action: start-agent',
    });
  });
});

describe('/workflows/ws', () => {
  test('starts a workflow, and continues it with an answer', async () => {
    const client = await connect('workflows');
    client.send({ action: 'start-workflow', workflow_id: 'confirmed', message: 'Go' });
    const paused = await client.event('WorkflowPaused');
    expect(client.names.filter((name) => /Paused|RunOutput/.test(name))).toEqual([
      'StepPaused',
      'WorkflowPaused',
    ]);
    const step_requirements = [{ ...paused.step_requirements[0], confirmed: true }];
    const place = { workflow_id: 'confirmed', run_id: paused.run_id, session_id: paused.session_id };
    expect(await client.ask({ action: 'continue-workflow', ...place })).toMatchObject({
      event: 'error',
      error_code: 'unresolved_requirements',
    });
    client.send({ action: 'continue-workflow', ...place, step_requirements });
    await client.event('WorkflowCompleted');
    expect(client.names).toContain('StepOutput');
    expect(await client.ask({ action: 'continue-workflow', ...place, step_requirements })).toMatchObject({
      event: 'error',
      error: 'Run is not paused (status=completed)',
    });
    client.send({ action: 'start-workflow', workflow_id: 'failing', message: 'Go' });
    const { run_id } = await client.event('WorkflowError');
    expect(await client.ask({ action: 'continue-workflow', workflow_id: 'failing', run_id })).toMatchObject({
      error: 'Run is not paused (status=error)',
    });
  });

  test('cancels a workflow', async () => {
    book.write('Long talk', { chunks: ['half', never()] });
    const client = await connect('workflows');
    client.send({ action: 'start-workflow', workflow_id: 'talking', message: 'Long talk' });
    await client.event('RunContent');
    const [{ run_id }] = client.events as [Body];
    client.send({ action: 'cancel-workflow', workflow_id: 'talking', run_id });
    await client.event('WorkflowCancelled');
    expect((await stored('workflows', 'talking', run_id)).status).toBe('cancelled');
  });

  test('has one framing, survives bad JSON, replays from where one is, and serves many readers (fault 33)', async () => {
    const open = gate();
    book.write('Readers', { chunks: ['one', open.opened, ' two'] });
    const starter = await connect('workflows', '?format=json');
    expect(await starter.ask('{nonsense')).toMatchObject({ event: 'error', error_code: 'invalid_frame' });
    starter.send({ action: 'start-workflow', workflow_id: 'talking', message: 'Readers' });
    await starter.event('RunContent');
    const [{ run_id: runId }] = starter.events as [Body];
    const readers = [await connect('workflows'), await connect('workflows')];
    for (const reader of readers) reader.send({ action: 'reconnect', run_id: runId, workflow_id: 'talking' });
    for (const reader of readers) await reader.event('subscribed');
    open.open();
    for (const client of [starter, ...readers]) await client.event('WorkflowCompleted');
    const all = starter.events;
    expect(starter.frames.every(({ streamed }) => !streamed)).toBe(true);
    for (const reader of readers) {
      expect(reader.events).toEqual(all);
      expect(reader.frames.every(({ streamed }) => !streamed)).toBe(true);
    }
    const late = await connect('workflows');
    late.send({ action: 'reconnect', run_id: runId, last_event_index: all[2]!.event_index });
    await late.event('WorkflowCompleted');
    expect(late.events).toEqual(all.slice(3));
    expect(await late.ask({ action: 'reconnect', run_id: 'no' })).toMatchObject({
      error: 'Run no not found in buffer or database',
    });
  });
});
