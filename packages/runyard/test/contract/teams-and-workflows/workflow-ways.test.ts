import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bothWays } from '../../support/clients/both-ways.js';
import { RunLife } from '../../support/components/run-life.js';
import { book, workflows, writer } from '../../support/components/sample-workflows.js';
import { type Body, TestService } from '../../support/service.js';

let service: TestService;
const life = (id: string) => new RunLife(service, id, 'workflows');

beforeAll(async () => {
  service = await TestService.start({ agents: [writer], workflows });
});
afterAll(() => service.stop());

describe('is the same streamed, not streamed and in the background', () => {
  test.each([
    ['pipeline', 'Jazz', 'ANSWER TO: JAZZ'],
    ['nested', 'Jazz', 'ANSWER TO: JAZZ+end'],
    ['teamed', 'Jazz', 'Answer to: Jazz+after'],
    ['grouped', 'a', 'A+b+c'],
    ['looped', 'a', expect.stringContaining('+x')],
    ['conditional', 'lengthy', expect.stringMatching(/\+long\+end$/)],
    ['conditional', 'tiny', expect.stringMatching(/\+short\+end$/)],
    ['routed', 'b', expect.stringMatching(/\+b$/)],
    ['early', 'x', 'enough'],
    ['skipping', 'x', expect.stringMatching(/\+end$/)],
    ['one-function', 'x', expect.stringContaining('x')],
  ])('%s (%s)', async (id, message, content) => {
    const { stored, stream } = await bothWays(life(id), { message });
    expect(stored).toMatchObject({ status: 'completed', content });
    expect(stream.names.at(0)).toBe('WorkflowStarted');
    expect(stream.names.at(-1)).toBe('WorkflowCompleted');
  });

  test('branches side by side', async () => {
    const { stored } = await bothWays(life('side-by-side'), { message: 'Jazz' });
    expect(stored.step_results[0]).toMatchObject({
      step_type: 'Parallel',
      executor_type: 'parallel',
      steps: [
        { step_name: 'left', content: 'Answer to: Jazz' },
        { step_name: 'upper', content: 'JAZZ' },
      ],
    });
  });

  test('a group has one id from its beginning to its end (fault 25)', async () => {
    const stream = await (await life('side-by-side').stream({ message: 'Ids' })).end();
    const [begun, ended] = [
      stream.first('ParallelExecutionStarted'),
      stream.first('ParallelExecutionCompleted'),
    ];
    const { step_results } = await life('side-by-side').stored(stream.events[0]!.run_id);
    expect([ended.step_id, step_results[0].step_id]).toEqual([begun.step_id, begun.step_id]);
    for (const event of stream.all('StepStarted').slice(0, 2))
      expect(event.parent_step_id).toBe(begun.step_id);
  });

  test('a condition that is not met (fault 20)', async () => {
    const { stored } = await bothWays(life('conditional'), { message: 'tiny' });
    expect(stored.step_results.map(({ step_name }: Body) => step_name)).toEqual(['long', 'never', 'end']);
    expect(stored.step_results[1]).toMatchObject({ skipped: true, success: true });
  });

  test('a step that runs an agent that fails: no success, and its run says why (fault 19)', async () => {
    const { stored, stream } = await bothWays(life('agent-fails'), { message: 'Break' }, () =>
      book.write('Break', { error: 'The model is broken' }),
    );
    expect(stored.step_results[0]).toMatchObject({
      success: false,
      error: expect.stringContaining('broken'),
    });
    expect(stored.step_executor_runs).toMatchObject([{ status: 'error' }]);
    expect(stream.names).toContain('RunError');
    const { stored: good } = await bothWays(life('agent-fails'), { message: 'Fine' });
    expect(good.step_executor_runs).toMatchObject([{ status: 'completed' }]);
  });

  test('a workflow that fails: it is stored, and says the same everywhere (fault 3)', async () => {
    const { stored, stream } = await bothWays(life('failing'), { message: 'x' });
    expect(stored).toMatchObject({
      status: 'error',
      content: "Step 'bad' failed: It does not work",
      error_type: 'TypeError',
      step_results: [
        { step_name: 'first', success: true },
        { step_name: 'bad', success: false },
      ],
    });
    expect(stream.all('WorkflowError')).toMatchObject([
      { error: stored.content, run_id: expect.any(String) },
    ]);
    expect(stream.names.at(-1)).toBe('WorkflowError');
    const { body } = await service.get('/workflows/failing/runs?status=error');
    expect(body.length).toBeGreaterThanOrEqual(3);
  });

  test('an agent in front that answers itself, and one that lets the workflow run (fault 26)', async () => {
    const direct = await bothWays(life('chatty'), { message: 'Hello' });
    expect(direct.stored).toMatchObject({
      status: 'completed',
      content: 'Answer to: Hello',
      metadata: { agent_direct_response: true },
      workflow_agent_run: { agent_id: 'front', status: 'completed', workflow_id: 'chatty' },
    });
    expect(direct.stored).not.toHaveProperty('step_executor_runs');
    expect(direct.stream.names.slice(-2)).toEqual(['WorkflowAgentCompleted', 'WorkflowCompleted']);
    const run = await bothWays(life('chatty'), { message: 'Shout jazz' }, () =>
      book.write('Shout jazz', {
        toolCalls: [{ name: 'run_workflow', arguments: { query: 'jazz' }, id: 'r' }],
      }),
    );
    expect(run.stored).toMatchObject({
      status: 'completed',
      content: 'JAZZ',
      workflow_agent_run: { status: 'completed' },
    });
    expect(run.stream.names[0]).toBe('WorkflowAgentStarted');
    expect(run.stream.names.at(-1)).toBe('WorkflowAgentCompleted');
  });
});
