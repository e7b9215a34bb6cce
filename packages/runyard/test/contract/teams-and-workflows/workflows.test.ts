import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RunLife } from '../../support/components/run-life.js';
import { book, pipeline, seen, workflows, writer } from '../../support/components/sample-workflows.js';
import { TestService } from '../../support/service.js';

let service: TestService;
const life = (id: string) => new RunLife(service, id, 'workflows');

beforeAll(async () => {
  service = await TestService.start({ agents: [writer], workflows });
});
afterAll(() => service.stop());

describe('discovery', () => {
  test('lists workflows without their steps', async () => {
    const { body } = await service.get('/workflows');
    expect(body).toHaveLength(workflows.length);
    expect(body[0]).toEqual({
      id: 'pipeline',
      name: 'Pipeline',
      description: 'Writes and shouts',
      db_id: 'default',
      is_factory: false,
      is_component: false,
    });
  });

  test('shows the tree of a workflow with the executors of its steps', async () => {
    const { body } = await service.get('/workflows/pipeline?version=3');
    expect(body).toMatchObject({
      id: 'pipeline',
      metadata: { owner: 'press' },
      workflow_agent: false,
      steps: [
        { name: 'draft', description: 'A first text', type: 'Step', agent: { id: 'writer', name: 'Writer' } },
        { name: 'upper', type: 'Step' },
      ],
    });
    expect(body.steps[1]).not.toHaveProperty('agent');
    const { body: outer } = await service.get('/workflows/nested');
    expect(outer.steps[0]).toMatchObject({
      name: 'whole',
      type: 'Workflow',
      workflow_id: 'pipeline',
      steps: [{ name: 'draft' }, { name: 'upper' }],
    });
    const { body: teamed } = await service.get('/workflows/teamed');
    expect(teamed.steps[0].team).toMatchObject({ id: 'desk', members: [{ id: 'editor' }] });
  });

  test('shows groups with their content and their conditions', async () => {
    const types = async (id: string) => (await service.get(`/workflows/${id}`)).body.steps;
    expect(await types('grouped')).toMatchObject([
      { type: 'Steps', steps: [{ name: 'upper' }, { name: 'b' }] },
      {},
    ]);
    expect(await types('looped')).toMatchObject([
      { type: 'Loop', max_iterations: 3, end_condition: 'current_iteration >= 2', steps: [{ name: 'x' }] },
    ]);
    expect(await types('side-by-side')).toMatchObject([
      { type: 'Parallel', steps: [{ agent: { id: 'writer' } }, {}] },
      {},
    ]);
    expect(await types('conditional')).toMatchObject([
      { type: 'Condition', condition: 'input.size() > 5', else_steps: [{ name: 'short' }] },
      {},
      {},
    ]);
    expect(await types('routed')).toMatchObject([{ type: 'Router', steps: [{ name: 'a' }, { name: 'b' }] }]);
    expect(await types('one-function')).toEqual([]);
  });

  test('shows the agent in front and the schema of the input, and rejects an invalid version and an unknown id', async () => {
    expect((await service.get('/workflows/chatty')).body).toMatchObject({
      workflow_agent: true,
      agent: { id: 'front' },
    });
    const { body: typed } = await service.get('/workflows/typed');
    expect(typed.input_schema).toMatchObject({ properties: { city: { type: 'string' } } });
    expect((await service.get('/workflows/pipeline?version=new')).status).toBe(422);
    const { status, body } = await service.get('/workflows/nobody');
    expect([status, body.detail]).toEqual([404, 'Workflow not found']);
  });

  test('is counted and listed with what is registered', async () => {
    expect((await service.get('/info')).body).toMatchObject({
      workflow_count: workflows.length,
      team_count: 0,
    });
    const { body } = await service.get('/config');
    expect(body.workflows[0]).toEqual({
      id: 'pipeline',
      name: 'Pipeline',
      description: 'Writes and shouts',
      db_id: 'default',
      is_factory: false,
      is_component: false,
    });
  });
});

test('a workflow that is registered keeps its runs there, also when it is run by hand', async () => {
  const { runId, content } = await pipeline.run('By hand', { sessionId: 'hand' });
  expect(content).toBe('ANSWER TO: BY HAND');
  expect(await life('pipeline').list('hand')).toMatchObject([{ run_id: runId, content }]);
});

describe('the body of a run', () => {
  test('has the fields of the contract, at the top and inside', async () => {
    const { body } = await life('pipeline').post({ message: 'Jazz', user_id: 'ada', session_id: 'w1' });
    expect(body).toMatchObject({
      agent_id: 'pipeline',
      workflow_id: 'pipeline',
      workflow_name: 'Pipeline',
      user_id: 'ada',
      session_id: 'w1',
      status: 'completed',
      input: 'Jazz',
      content: 'ANSWER TO: JAZZ',
      content_type: 'str',
      created_at: expect.stringMatching(/Z$/),
      images: [],
      videos: [],
      audio: [],
      files: [],
    });
    expect(body.step_results).toMatchObject([
      {
        step_name: 'draft',
        step_type: 'Step',
        executor_type: 'agent',
        executor_name: 'Writer',
        success: true,
      },
      {
        step_name: 'upper',
        executor_type: 'function',
        content: 'ANSWER TO: JAZZ',
        stop: false,
        is_paused: false,
      },
    ]);
    const [executed] = body.step_executor_runs;
    expect(executed).toMatchObject({
      agent_id: 'writer',
      agent_name: 'Writer',
      parent_run_id: body.run_id,
      workflow_id: 'pipeline',
      workflow_step_id: body.step_results[0].step_id,
      session_id: 'w1',
      status: 'completed',
      content: 'Answer to: Jazz',
      input: { input_content: 'Jazz' },
      created_at: expect.any(Number),
      messages: expect.arrayContaining([expect.objectContaining({ role: 'assistant' })]),
    });
    expect(executed).not.toHaveProperty('user_id');
    expect(body.step_results[0].step_run_id).toBe(executed.run_id);
    expect(body.metrics).toMatchObject({
      steps: {
        draft: {
          step_name: 'draft',
          executor_type: 'agent',
          executor_name: 'Writer',
          metrics: { total_tokens: 15 },
        },
        upper: { executor_type: 'function' },
      },
      duration: expect.any(Number),
    });
    expect(body.step_states).toMatchObject([
      { step_name: 'draft', status: 'completed', run_ids: [executed.run_id] },
      { step_name: 'upper', status: 'completed' },
    ]);
    for (const path of [life('pipeline').path(executed.run_id), `/agents/writer/runs/${executed.run_id}`])
      expect((await service.get(path)).status).toBe(404);
  });

  test('of a workflow or a team inside never has an agent_id', async () => {
    const { body } = await life('nested').post({ message: 'Inside' });
    const [inside] = body.step_executor_runs;
    expect(inside).toMatchObject({
      workflow_id: 'pipeline',
      workflow_name: 'Pipeline',
      parent_run_id: body.run_id,
      status: 'completed',
      input: 'Inside',
      step_results: [{ step_name: 'draft' }, { step_name: 'upper' }],
      step_executor_runs: [{ agent_id: 'writer', parent_run_id: inside.run_id }],
      created_at: expect.any(Number),
    });
    expect(inside).not.toHaveProperty('agent_id');
    expect(inside).not.toHaveProperty('user_id');
    const message = book.write(
      'Teamed',
      {
        toolCalls: [
          { name: 'delegate_task_to_member', arguments: { member_id: 'editor', task: 'Edit' }, id: 'e' },
        ],
      },
      'Edited.',
    );
    const { body: teamed } = await life('teamed').post({ message });
    expect(teamed.step_executor_runs).toMatchObject([
      { team_id: 'desk', parent_run_id: teamed.run_id, member_responses: [{ agent_id: 'editor' }] },
    ]);
    expect(teamed.step_executor_runs[0]).not.toHaveProperty('agent_id');
    expect(teamed.content).toBe('Edited.+after');
  });

  test('names the run that an event belongs to, and never something else as an agent (fault 25)', async () => {
    const stream = await (await life('nested').stream({ message: 'Events' })).end();
    const outer = stream.events[0]!;
    const inner = stream.all('WorkflowStarted')[1]!;
    expect(inner).toMatchObject({ workflow_id: 'pipeline', nested_depth: 1 });
    expect(inner.run_id).not.toBe(outer.run_id);
    const ofAgent = stream.first('RunStarted');
    expect(ofAgent).toMatchObject({
      agent_id: 'writer',
      workflow_id: 'pipeline',
      workflow_run_id: inner.run_id,
      step_name: 'draft',
    });
    expect(ofAgent).not.toHaveProperty('parent_run_id');
    for (const event of stream.events.filter(({ event: name }) => /^(Workflow|Step)/.test(name)))
      expect(event).not.toHaveProperty('agent_id');
  });

  test('in a list has the keys of the contract', async () => {
    await life('pipeline').post({ message: 'Listed', session_id: 'listed' });
    const [item] = await life('pipeline').list('listed');
    expect(item).toMatchObject({
      run_input: 'Listed',
      events: [],
      workflow_id: 'pipeline',
      user_id: '',
      content: 'ANSWER TO: LISTED',
      content_type: 'str',
      status: 'completed',
      step_results: [{}, {}],
      step_executor_runs: [{ agent_id: 'writer' }],
      step_requirements: null,
      pause_kind: null,
      paused_step_name: null,
      paused_step_index: null,
      created_at: expect.stringMatching(/Z$/),
      reasoning_content: '',
      references: [],
      response_audio: null,
    });
    expect(item).not.toHaveProperty('agent_id');
  });

  test('in the form of the older interface has its spelling and times everywhere', async () => {
    const { body } = await life('nested').post({ message: 'Old' }, { 'x-runyard-compat': 'agentos' });
    const [inside] = body.step_executor_runs;
    expect([body.status, inside.status, inside.step_executor_runs[0].status]).toEqual(
      Array(3).fill('COMPLETED'),
    );
    expect(body.created_at).toEqual(expect.any(Number));
  });
});

describe('what a run is given', () => {
  test('is checked against the schema before anything happens, and is an object then', async () => {
    const { body } = await life('typed').post({ message: '{"city":"Oslo"}' });
    expect(body).toMatchObject({ status: 'completed', input: { city: 'Oslo', days: 2 } });
    expect((await life('typed').stored(body.run_id)).input).toEqual({ city: 'Oslo', days: 2 });
    expect(seen.at(-1)!.input).toEqual({ city: 'Oslo', days: 2 });
    const { status, body: refusal } = await life('typed').post({ message: 'Oslo', stream: true });
    expect([status, refusal.detail[0].loc]).toEqual([422, ['body', 'message']]);
  });

  test('reaches the steps: data, media, uploads, state', async () => {
    const { body } = await life('seeing').post({
      message: 'Look',
      additional_data: 'a note',
      metadata: { trace: 1 },
      dependencies: { city: 'Oslo' },
      session_state: { visits: 5, color: 'red' },
      files: [new File(['hello'], 'note.txt', { type: 'text/plain' })],
      images: [{ url: 'https://example.com/a.png' }],
    });
    const input = seen.at(-1)!;
    expect(input.additionalData).toEqual({ additional_data: 'a note' });
    expect(input.metadata).toEqual({ trace: 1 });
    expect(input.dependencies).toEqual({ city: 'Oslo' });
    expect(input.media.map(({ kind }) => kind).sort()).toEqual(['file', 'image']);
    expect(body).toMatchObject({
      status: 'completed',
      content: { seen: true },
      session_state: { visits: 2, color: 'red' },
    });
    expect(body).not.toHaveProperty('metadata');
  });

  test('reaches a workflow that is one function, other fields included', async () => {
    const { body } = await life('one-function').post({ message: 'Hi', extra: 'E!', flag: 'true' });
    expect(body).toMatchObject({ status: 'completed', content: 'Hi {"extra":"E!","flag":true}' });
    expect(body).not.toHaveProperty('step_results');
  });

  test('says nothing about how the agents of its steps answer', async () => {
    const { body } = await life('agent-fails').post({ message: 'Plain', output_schema: '{"type":"object"}' });
    expect(body).toMatchObject({ status: 'completed', content: 'Answer to: Plain+end' });
    expect(book.requests('Plain')[0]!.output).toBeUndefined();
  });
});
