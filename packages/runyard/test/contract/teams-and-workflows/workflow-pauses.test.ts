import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idFrom } from '../../../src/core/ids.js';
import {
  answered,
  book,
  broken,
  calls,
  executorAnswer,
  paid,
  released,
  workflows,
} from '../../support/components/reviewed-workflows.js';
import { payCall, RunLife } from '../../support/components/run-life.js';
import { type Body, type Form, TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

let service: TestService;
const life = (id: string) => new RunLife(service, id, 'workflows');

beforeAll(async () => {
  service = await TestService.start({ workflows, maxConcurrentRuns: 50 });
});
afterAll(() => service.stop());

/** Continues a paused run with an answer. */
const goOn = (id: string, run: Body, answer: object, form: Form = {}) =>
  life(id).continue(run.run_id, { step_requirements: answered(run, answer), ...form });

describe('a step that waits for a person', () => {
  test('pauses the workflow, and shows why in its body, its stored copy and the list', async () => {
    const run = await life('confirmed').start({ message: 'Wait', session_id: 'waits' });
    expect(run).toMatchObject({
      status: 'paused',
      paused_step_index: 1,
      paused_step_name: 'b',
      pause_kind: 'step',
      step_results: [{ step_name: 'a' }],
      step_requirements: [
        {
          step_name: 'b',
          step_index: 1,
          step_type: 'Step',
          requires_confirmation: true,
          confirmation_message: 'Really?',
          confirmed: null,
          on_reject: 'skip',
          requires_user_input: false,
          requires_route_selection: false,
          requires_output_review: false,
          timeout_at: null,
          on_timeout: 'cancel',
        },
      ],
    });
    const stored = await life('confirmed').stored(run.run_id);
    expect(stored.step_requirements).toEqual(run.step_requirements);
    expect(stored.events.slice(-2)).toMatchObject([
      { event: 'StepPaused', step_name: 'b', requires_confirmation: true },
      { event: 'WorkflowPaused', status: 'paused', step_requirements: run.step_requirements },
    ]);
    const [listed] = await life('confirmed').list('waits');
    expect(listed).toMatchObject({
      status: 'paused',
      pause_kind: 'step',
      paused_step_name: 'b',
      paused_step_index: 1,
      step_requirements: run.step_requirements,
    });
  });

  test('is named by an id that knowing the run does not give away, and that stays the same', async () => {
    const run = await life('confirmed').start({ message: 'Guess', run_id: 'chosen-by-the-caller' });
    const [asked] = run.step_requirements;
    const computed = ['0', '1', 'node:1', 'wait:node:1'].map((place) => idFrom(`${run.run_id} ${place}`));
    expect(computed).not.toContain(asked.step_id);
    for (const step_id of computed) {
      const guess = [{ ...asked, step_id, confirmed: true }];
      const { status } = await life('confirmed').continue(run.run_id, { step_requirements: guess });
      expect(status).toBe(400);
    }
    const { body } = await goOn('confirmed', run, { confirmed: true });
    expect(body.status).toBe('completed');
    const { events } = await life('confirmed').stored(run.run_id);
    const named = events.filter((event: Body) => event.step_name === 'b').map((event: Body) => event.step_id);
    expect(new Set(named)).toEqual(new Set([asked.step_id]));
    expect(JSON.stringify(await life('confirmed').stored(run.run_id))).not.toContain('salt');
  });

  test.each([false, true])('runs when that is confirmed (streamed: %s)', async (stream) => {
    const message = `Confirm ${stream}`;
    const run = await life('confirmed').start({ message });
    const step_requirements = answered(run, { confirmed: true });
    if (stream) {
      const events = await (
        await life('confirmed').continueStreamed(run.run_id, { step_requirements })
      ).end();
      expect(events.names[0]).toBe('StepContinued');
      expect(events.names.at(-1)).toBe('WorkflowCompleted');
      expect(events.events[0]!.event_index).toBeGreaterThan(0);
    } else {
      const { status, body } = await life('confirmed').continue(run.run_id, { step_requirements });
      expect([status, body.run_id, body.status]).toEqual([200, run.run_id, 'completed']);
    }
    const ended = await life('confirmed').stored(run.run_id);
    expect(ended).toMatchObject({ status: 'completed', content: `${message}+a+b+c` });
    expect(ended.step_requirements).toMatchObject([{ confirmed: true }]);
    expect(ended).not.toHaveProperty('paused_step_name');
    expect(calls.filter((call) => call.startsWith(message))).toEqual(
      ['a', 'b', 'c'].map((name) => `${message} ${name}`),
    );
  });

  test('is skipped, ends the workflow or leads to the other branch when it is rejected', async () => {
    const skipped = await life('confirmed').start({ message: 'Skip' });
    expect((await goOn('confirmed', skipped, { confirmed: false })).body).toMatchObject({
      status: 'completed',
      content: 'Skip+a+c',
    });
    const ended = await life('cancelling').start({ message: 'End' });
    const step_requirements = answered(ended, { confirmed: false });
    const stream = await (
      await life('cancelling').continueStreamed(ended.run_id, { step_requirements })
    ).end();
    expect(stream.names).toEqual(['WorkflowCancelled']);
    expect((await life('cancelling').stored(ended.run_id)).status).toBe('cancelled');
    const other = await life('branched').start({ message: 'Other' });
    expect((await goOn('branched', other, { confirmed: false })).body.content).toMatch(/\+else$/);
  });

  test('accepts what was filled in, and refuses what does not fit', async () => {
    const run = await life('filled').start({ message: 'Fill' });
    expect(run.step_requirements[0]).toMatchObject({
      requires_user_input: true,
      user_input_message: 'Which seat?',
      user_input_schema: [
        { name: 'seat', field_type: 'int', value: null, required: true },
        { name: 'class', field_type: 'str', allowed_values: ['first', 'second'] },
      ],
    });
    for (const user_input of [
      { seat: 'by the window' },
      {},
      { seat: 1, class: 'third' },
      { seat: 1, food: 'yes' },
    ]) {
      const { status, body } = await goOn('filled', run, { user_input });
      expect([status, body.error_code]).toEqual([400, 'invalid_answer']);
    }
    const { body } = await goOn('filled', run, { user_input: { seat: 12, class: 'first' } });
    expect(body).toMatchObject({ status: 'completed', content: 'Fill+form{"seat":12,"class":"first"}' });
  });

  test('lets a person choose one of the existing routes (fault 22)', async () => {
    const run = await life('chosen').start({ message: 'Choose' });
    expect(run.step_requirements[0]).toMatchObject({
      step_type: 'Router',
      requires_route_selection: true,
      available_choices: ['left', 'right'],
    });
    const stored = await life('chosen').stored(run.run_id);
    expect(stored.events.map(({ event }: Body) => event)).toContain('RouterPaused');
    for (const selected_choices of [['up'], ['left', 'right'], []]) {
      expect((await goOn('chosen', run, { selected_choices })).status).toBe(400);
    }
    expect((await goOn('chosen', run, { selected_choices: ['right'] })).body.content).toMatch(/\+right$/);
  });

  test('shows its output, which can be accepted, edited, and requested again', async () => {
    const kept = await life('reviewed').start({ message: 'Keep' });
    expect(kept.step_requirements[0]).toMatchObject({
      requires_output_review: true,
      is_post_execution: true,
      step_output: { content: 'Keep+made' },
    });
    expect((await goOn('reviewed', kept, { confirmed: true })).body.content).toBe('Keep+made+end');
    const edited = await life('reviewed').start({ message: 'Edit' });
    const { body } = await goOn('reviewed', edited, { confirmed: true, edited_output: 'better' });
    expect(body.content).toBe('better+end');
    const again = await life('reviewed').start({ message: 'Again' });
    const { body: second } = await goOn('reviewed', again, { confirmed: false, rejection_feedback: '!' });
    expect(second).toMatchObject({ status: 'paused' });
    expect(second.step_requirements).toMatchObject([
      { confirmed: false, rejection_feedback: '!' },
      { retry_count: 1, step_output: { content: 'Again+made!' } },
    ]);
    // the answer to the first question does not answer the second
    const stale = await life('reviewed').continue(again.run_id, {
      step_requirements: answered(again, { confirmed: true }),
    });
    expect([stale.status, stale.body.error_code]).toEqual([400, 'unresolved_requirements']);
    const { body: over } = await goOn('reviewed', second, { confirmed: false });
    expect(over.status).toBe('cancelled');
  });

  test('has each round of a loop reviewed, and continues when one is accepted (fault 22)', async () => {
    const run = await life('iterated').start({ message: 'Loop' });
    expect(run.step_requirements).toMatchObject([{ step_name: 'rounds', requires_output_review: true }]);
    const rounds = () => calls.filter((call) => call === 'Loop round').length;
    const { body: second } = await goOn('iterated', run, { confirmed: true });
    expect([second.status, rounds()]).toEqual(['paused', 2]);
    // the answer about the first round does not answer the second
    expect((await goOn('iterated', run, { confirmed: true })).status).toBe(400);
    const { body: again } = await goOn('iterated', second, { confirmed: false });
    expect([again.status, rounds()]).toEqual(['paused', 3]);
    const { body: third } = await goOn('iterated', again, { confirmed: true });
    const { body } = await goOn('iterated', third, { confirmed: true });
    expect([body.status, rounds()]).toEqual(['completed', 4]);
    expect(body.step_results[0].steps).toHaveLength(3);
  });

  test('answers itself when the time is up', async () => {
    const run = await life('timed').start({ message: 'Soon' });
    expect(run.step_requirements[0].timeout_at).toEqual(expect.any(String));
    const stored = await until('the step has answered itself', async () => {
      const body = await life('timed').stored(run.run_id);
      return body.status === 'completed' && body;
    });
    expect(stored.content).toBe('Soon+soon');
  });

  test('that failed waits for a decision, which there is a field for (fault 21)', async () => {
    broken.times = 2;
    const run = await life('mending').start({ message: 'Mend' });
    expect(run).toMatchObject({
      status: 'paused',
      paused_step_name: 'broken',
      error_requirements: [{ step_name: 'broken', error_message: 'Not yet', decision: null, retry_count: 0 }],
    });
    expect(run).not.toHaveProperty('pause_kind');
    const decide = (paused: Body, decision: string | null) =>
      life('mending').continue(run.run_id, {
        error_requirements: [
          ...paused.error_requirements.slice(0, -1),
          { ...paused.error_requirements.at(-1), decision },
        ],
      });
    expect((await decide(run, null)).status).toBe(400);
    expect((await decide(run, 'ignore')).status).toBe(400);
    const { body: again } = await decide(run, 'retry');
    expect(again).toMatchObject({ status: 'paused' });
    const { body: mended } = await decide(again, 'retry');
    expect(mended).toMatchObject({ status: 'completed', content: 'Mend+first+mended+last' });
    expect(calls.filter((call) => call === 'Mend first')).toHaveLength(1);
    broken.times = 1;
    const skipped = await life('mending').start({ message: 'Skip it' });
    const { body } = await life('mending').continue(skipped.run_id, {
      error_requirements: [{ ...skipped.error_requirements[0], decision: 'skip' }],
    });
    expect(body).toMatchObject({ status: 'completed', step_results: [{}, { success: false }, {}] });
  });
});

describe('a step whose agent or team waits', () => {
  test.each(['paying', 'team-paying'])('%s: pauses the workflow with what it asks', async (id) => {
    const cents = id === 'paying' ? 201 : 202;
    const message = `Pay ${cents}`;
    if (id === 'team-paying') {
      const ask = {
        name: 'delegate_task_to_member',
        arguments: { member_id: 'payer', task: `Inside ${cents}` },
        id: 'd',
      };
      book.write(message, { toolCalls: [ask] }, 'Team paid.');
      book.write(`Inside ${cents}`, { toolCalls: [payCall(cents)] }, 'Paid.');
    } else book.write(message, { toolCalls: [payCall(cents)] }, 'Paid.');
    const run = await life(id).start({ message });
    expect(run).toMatchObject({
      status: 'paused',
      pause_kind: 'executor',
      paused_step_name: 'pay',
      step_executor_runs: [{ status: 'paused' }],
      step_requirements: [
        {
          requires_executor_input: true,
          executor_id: id === 'paying' ? 'payer' : 'till',
          executor_type: id === 'paying' ? 'agent' : 'team',
          executor_run_id: run.step_executor_runs[0].run_id,
          executor_session_id: run.session_id,
          executor_requirements: [{ tool_execution: { tool_name: 'pay', tool_args: { cents } } }],
        },
      ],
    });
    const { status } = await goOn(id, run, {});
    expect(status).toBe(400);
    const stream = await (
      await life(id).continueStreamed(run.run_id, { step_requirements: answered(run, executorAnswer(run)) })
    ).end();
    expect(stream.names[0]).toBe('StepExecutorContinued');
    const ended = await life(id).stored(run.run_id);
    expect(ended).toMatchObject({ status: 'completed', content: expect.stringMatching(/aid\.\+end$/) });
    expect(ended.step_executor_runs).toMatchObject([
      { run_id: run.step_executor_runs[0].run_id, status: 'completed' },
    ]);
    expect(paid.filter((payment) => payment.cents === cents)).toHaveLength(1);
  });

  test('beside another that finishes first', async () => {
    book.write('Pay 203', { toolCalls: [payCall(203)] }, 'Paid.');
    const run = await life('parallel-paying').start({ message: 'Pay 203' });
    expect(run.status).toBe('paused');
    const { body } = await goOn('parallel-paying', run, executorAnswer(run));
    expect(body.status).toBe('completed');
    expect(body.step_results[0].steps).toHaveLength(2);
  });

  test('resumes when its approval was given', async () => {
    book.write(
      'Release 8',
      { toolCalls: [{ name: 'release', arguments: { version: 8 }, id: 'r8' }] },
      'Released.',
    );
    const run = await life('releasing').start({ message: 'Release 8', user_id: 'ada' });
    const { body: page } = await service.get(`/approvals?run_id=${run.run_id}`);
    expect(page.data).toMatchObject([{ source_type: 'workflow', workflow_id: 'releasing', user_id: 'ada' }]);
    expect((await goOn('releasing', run, executorAnswer(run))).status).toBe(400);
    await service.call('POST', `/approvals/${page.data[0].id}/resolve`, {
      headers: { 'content-type': 'application/json' },
      body: '{"status":"approved"}',
    });
    const { body } = await life('releasing').continue(run.run_id);
    expect(body).toMatchObject({ status: 'completed', content: 'Released.' });
    expect(released).toEqual([8]);
  });
});
