import { afterAll, beforeAll, expect, test } from 'vitest';
import { remoteWorkflow, step, workflow } from '../../src/index.js';
import { payCall, payingAgent, RunLife } from '../support/components/run-life.js';
import { ScriptBook } from '../support/providers/script-book.js';
import { type Body, TestService } from '../support/service.js';

const book = new ScriptBook();
const { agent: payer } = payingAgent(book, 'payer');
const upper = step({ name: 'upper', run: ({ input }) => String(input).toUpperCase() });
const checked = workflow({
  id: 'checked',
  steps: [
    upper,
    step({
      name: 'publish',
      run: ({ previousStepContent }) => `${String(previousStepContent)}!`,
      review: { requiresConfirmation: true, confirmationMessage: 'Really?' },
    }),
  ],
});
const paying = workflow({ id: 'paying', steps: [step({ name: 'pay', agent: payer })] });

let far: TestService;
let near: TestService;

beforeAll(async () => {
  far = await TestService.start({ agents: [payer], workflows: [checked, paying] });
  const remote = remoteWorkflow({ url: far.url, id: 'checked' });
  const outer = workflow({ id: 'outer', steps: [remote] });
  near = await TestService.start({
    workflows: [remote, remoteWorkflow({ url: far.url, id: 'paying' }), outer],
  });
});
afterAll(async () => {
  await near.stop();
  await far.stop();
});

const life = (id = 'checked') => new RunLife(near, id, 'workflows');

test('its steps, its events and its questions pass through', async () => {
  const stream = await (await life().stream({ message: 'hi', session_id: 'w' })).end();
  expect(stream.names[0]).toBe('WorkflowStarted');
  expect(stream.names).toContain('StepCompleted');
  expect(stream.names.at(-2)).toBe('WorkflowPaused');
  const paused = await life().stored(stream.events[0]!.run_id);
  expect(paused).toMatchObject({
    status: 'paused',
    pause_kind: 'step',
    paused_step_name: 'publish',
    paused_step_index: 1,
    step_results: [{ step_name: 'upper', content: 'HI' }],
    step_requirements: [
      { step_name: 'publish', requires_confirmation: true, confirmation_message: 'Really?' },
    ],
  });
  const step_requirements = paused.step_requirements.map((one: Body) => ({ ...one, confirmed: true }));
  const done = (await life().continue(paused.run_id, { step_requirements })).body;
  expect(done).toMatchObject({ status: 'completed', content: 'HI!', workflow_id: 'checked' });
  expect(done.step_results.map(({ step_name }: Body) => step_name)).toEqual(['upper', 'publish']);
  const [there] = (await far.get('/workflows/checked/runs?session_id=w')).body;
  expect(there).toMatchObject({ status: 'completed', content: 'HI!' });
});

test('the call of an agent in a step is asked about here, and a workflow around it waits, too', async () => {
  const message = book.write('Pay 21', { toolCalls: [payCall(21)] }, 'Paid 21.');
  const paused = await life('paying').start({ message });
  expect(paused).toMatchObject({ status: 'paused', pause_kind: 'executor' });
  const [requirement] = paused.step_requirements;
  expect(requirement.executor_requirements).toMatchObject([{ tool_execution: { tool_name: 'pay' } }]);
  requirement.executor_requirements[0].confirmation = true;
  const done = await life('paying').continue(paused.run_id, { step_requirements: [requirement] });
  expect(done.body).toMatchObject({ status: 'completed', content: 'Paid 21.' });

  const outer = await life('outer').start({ message: 'nested' });
  expect(outer).toMatchObject({ status: 'paused', step_requirements: [{ step_name: 'publish' }] });
  const step_requirements = outer.step_requirements.map((one: Body) => ({ ...one, confirmed: true }));
  const ended = await life('outer').continue(outer.run_id, { step_requirements });
  expect(ended.body).toMatchObject({ status: 'completed', content: 'NESTED!' });
});

test('runs in code, where its answers go by the names of its steps', async () => {
  const remote = remoteWorkflow({ url: far.url, id: 'checked', localId: 'mine' });
  const paused = await remote.run('code');
  expect(paused).toMatchObject({ status: 'paused', requirements: [{ stepName: 'publish', kind: 'step' }] });
  const done = await remote.continue(paused.runId, { answers: { publish: { confirmed: true } } });
  expect(done).toMatchObject({ status: 'completed', content: 'CODE!', stepResults: [{}, {}] });
});
