import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, ModelError, team, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { answered, payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService, type TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}000)?Z$/;
const took = /^(\d{1,3}ms|\d+\.\d\ds)$/;

async function onlyTrace(service: TestService): Promise<{ summary: Body; detail: Body }> {
  const { body } = await service.get('/traces');
  expect(body.data).toHaveLength(1);
  const [summary] = body.data;
  const { status, body: detail } = await service.get(`/traces/${summary.trace_id}`);
  expect(status).toBe(200);
  // the short form agrees with the long one
  const { tree: _tree, output: _output, error: _error, ...head } = detail;
  expect(head).toEqual(summary);
  return { summary, detail };
}

/** All nodes of a tree, with the depth of each. */
function nodesOf(tree: Body[], depth = 0): Body[] {
  return tree.flatMap((node) => [{ ...node, depth }, ...nodesOf(node.spans ?? [], depth + 1)]);
}

const shapeOf = (detail: Body) =>
  nodesOf(detail.tree).map(({ depth, type, name, status }) => `${depth} ${type} ${name} ${status}`);

const lookUp = (execute: () => string) =>
  tool({ name: 'look_up', description: 'Looks up.', inputSchema: z.object({ city: z.string() }), execute });

const overloaded = () =>
  new ModelError('overloaded', { provider: 'P', kind: 'refused', status: 529, retryable: true });

describe('what a trace shows', () => {
  test('an agent with a tool: the run, its model calls, its tool call', async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'look_up', id: 'c1', arguments: { city: 'Rome' } }] },
      'Sunny.',
    ]);
    const a = agent({ id: 'guide', name: 'City Guide', model, tools: [lookUp(() => 'sun')] });
    const service = await startService({ agents: [a] });
    const { body: run } = await service.run('guide', {
      message: 'Weather?',
      session_id: 's1',
      user_id: 'ada',
    });
    const { summary, detail } = await onlyTrace(service);
    expect(summary).toEqual({
      trace_id: run.run_id.replaceAll('-', ''),
      name: 'City_Guide.arun',
      status: 'OK',
      duration: expect.stringMatching(took),
      start_time: expect.stringMatching(iso),
      end_time: expect.stringMatching(iso),
      total_spans: 4,
      error_count: 0,
      input: 'Weather?',
      run_id: run.run_id,
      session_id: 's1',
      user_id: 'ada',
      agent_id: 'guide',
      created_at: expect.stringMatching(iso),
    });
    expect(detail.output).toBe('Sunny.');
    expect(shapeOf(detail)).toEqual([
      '0 AGENT City_Guide.arun OK',
      '1 LLM Scripted.ainvoke OK',
      '1 TOOL look_up OK',
      '1 LLM Scripted.ainvoke OK',
    ]);
    const [root, first, call] = nodesOf(detail.tree);
    expect(root).not.toHaveProperty('input');
    expect(root).not.toHaveProperty('output');
    expect(root.metadata).toEqual({ total_input_tokens: 20, total_output_tokens: 10 });
    expect(first.metadata).toEqual({
      model: 'scripted',
      input_tokens: 10,
      output_tokens: 5,
      session_id: 's1',
      user_id: 'ada',
    });
    expect(JSON.parse(first.input).messages).toMatchObject([{ role: 'user', content: 'Weather?' }]);
    expect(call).toMatchObject({ input: '{"city":"Rome"}', output: 'sun' });
    expect(call.metadata).toMatchObject({ tool_name: 'look_up', parameters: '{"city":"Rome"}' });
  });

  test('a model that remembers beside the answer: what it was asked, and under the name of its model', async () => {
    const a = agent({ id: 'a', model: 'offline', instructions: 'Be brief.', updateMemoryOnRun: true });
    const service = await startService({ agents: [a] });
    await service.run('a', { message: 'I like jazz.', user_id: 'ada' });
    const { detail } = await onlyTrace(service);
    const calls = nodesOf(detail.tree).filter(({ type }) => type === 'LLM');
    expect(calls.map(({ name }) => name)).toEqual(['Offline.ainvoke', 'Offline.ainvoke']);
    const asked = calls.map(({ input }) => JSON.parse(input).messages.map(({ content }: Body) => content));
    expect(asked).toEqual([['Be brief.', 'I like jazz.'], ['I like jazz.']]);
    expect(calls.map(({ metadata }) => metadata.purpose)).toEqual([undefined, 'memory_model']);
  });

  test('a team and a workflow: nested runs are below what started them', async () => {
    const book = new ScriptBook();
    const writer = agent({ id: 'writer', name: 'Writer', model: book.model });
    const crew = team({ id: 'crew', name: 'Crew', model: book.model, members: [writer] });
    const flow = workflow({ id: 'flow', name: 'Flow', description: 'Writes.', steps: [writer] });
    const service = await startService({ agents: [writer], teams: [crew], workflows: [flow] });
    book.write(
      'Report.',
      {
        toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: 'writer', task: 'Write.' } }],
      },
      'The report.',
    );
    await service.submit('/teams/crew/runs', { message: 'Report.', stream: false });
    await service.submit('/workflows/flow/runs', { message: 'Go.', stream: false });
    const { body } = await service.get('/traces');
    const [ofFlow, ofCrew] = body.data;
    expect(ofFlow).toMatchObject({ name: 'Flow.arun', workflow_id: 'flow', total_spans: 4 });
    expect(ofFlow).not.toHaveProperty('agent_id');
    const flowDetail = (await service.get(`/traces/${ofFlow.trace_id}`)).body;
    expect(shapeOf(flowDetail)).toEqual([
      '0 WORKFLOW Flow.arun OK',
      '1 WORKFLOW Writer.aexecute OK',
      '2 AGENT Writer.arun OK',
      '3 LLM Scripted.ainvoke OK',
    ]);
    expect(flowDetail.tree[0].metadata).toEqual({
      total_input_tokens: 10,
      total_output_tokens: 5,
      description: 'Writes.',
      steps_count: 1,
      steps: ['Writer'],
      step_types: ['Step'],
    });
    expect(flowDetail.tree[0].spans[0]).toMatchObject({ step_type: 'Step', input: 'Go.' });
    expect(ofCrew).toMatchObject({ name: 'Crew.arun', team_id: 'crew', input: 'Report.' });
    const crewDetail = (await service.get(`/traces/${ofCrew.trace_id}`)).body;
    expect(crewDetail.output).toBe('The report.');
    const nodes = nodesOf(crewDetail.tree);
    expect(nodes[0]).toMatchObject({ type: 'TEAM' });
    const member = nodes.find(({ type }) => type === 'AGENT');
    expect(member.metadata.run_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(member.spans).toMatchObject([{ type: 'LLM' }]);
    expect(nodes).toHaveLength(ofCrew.total_spans);
  });

  test('one span alone has everything, the root too', async () => {
    const service = await startService({
      agents: [agent({ id: 'a', model: scriptedModel(['Hello.', 'x']) })],
    });
    await service.run('a', { message: 'hi', session_id: 's1' });
    await service.run('a', { message: 'other', session_id: 's2' });
    const { data } = (await service.get('/traces')).body;
    const [other, first] = await Promise.all(
      data.map(async ({ trace_id }: Body) => (await service.get(`/traces/${trace_id}`)).body),
    );
    const root = first.tree[0];
    const { body } = await service.get(`/traces/${first.trace_id}?span_id=${root.id}`);
    expect(body).toMatchObject({ id: root.id, type: 'AGENT', input: 'hi', output: 'Hello.' });
    expect(body.metadata).toMatchObject({ run_id: first.run_id, session_id: 's1' });
    expect(body).not.toHaveProperty('spans');
    const foreign = other.tree[0].id;
    for (const [path, detail] of [
      [
        `/traces/${first.trace_id}?span_id=${foreign}`,
        `Span ${foreign} does not belong to trace ${first.trace_id}`,
      ],
      [`/traces/${first.trace_id}?span_id=nothing`, 'Span not found'],
      ['/traces/nothing', 'Trace not found'],
      ['/traces/nothing?span_id=nothing', 'Trace not found'],
    ] as const) {
      const answer = await service.get(path);
      expect([answer.status, answer.body.detail]).toEqual([404, detail]);
    }
    const ignored = await service.get(`/traces/${first.trace_id}?run_id=${other.run_id}&span_id=`);
    expect(ignored.body.run_id).toBe(first.run_id);
  });

  test('a run that is executing shows the time so far', async () => {
    const held = gate();
    const model = scriptedModel([{ text: 'late', waitFor: held.opened }]);
    const service = await startService({ agents: [agent({ id: 'a', model })] });
    await service.run('a', { message: 'hi', background: true });
    await until('the model is asked', () => model.requests.length > 0);
    const { data } = (await service.get('/traces')).body;
    expect(data).toMatchObject([{ status: 'UNSET', input: 'hi' }]);
    const { body } = await service.get(`/traces/${data[0].trace_id}`);
    expect(body.tree[0]).toMatchObject({ status: 'UNSET', end_time: expect.stringMatching(iso) });
    expect(body).not.toHaveProperty('output');
    held.open();
  });

  test('of a deleted session it stays known that its runs happened', async () => {
    const service = await startService({ agents: [agent({ id: 'a', model: scriptedModel(['Hello.']) })] });
    await service.run('a', { message: 'secret', session_id: 's1', user_id: 'ada' });
    expect((await service.call('DELETE', '/sessions/s1?user_id=ada')).status).toBe(204);
    const { summary, detail } = await onlyTrace(service);
    expect(summary).toMatchObject({ session_id: 's1', user_id: 'ada', agent_id: 'a', total_spans: 1 });
    expect(summary).not.toHaveProperty('input');
    expect(detail.tree).toHaveLength(1);
    expect(detail.tree[0]).not.toHaveProperty('spans');
  });

  test('runs of one trace of the caller are side by side', async () => {
    const traceId = 'ab'.repeat(16);
    const headers = { traceparent: `00-${traceId}-${'cd'.repeat(8)}-01` };
    const model = scriptedModel(['one', { error: 'crash' }]);
    const service = await startService({ agents: [agent({ id: 'a', model })] });
    const { body: first } = await service.run('a', { message: 'first', user_id: 'ada' }, { headers });
    await service.run('a', { message: 'second', user_id: 'bob' }, { headers });
    const { body } = await service.get(`/traces/${traceId}`);
    expect(body).toMatchObject({
      trace_id: traceId,
      run_id: first.run_id,
      input: 'first',
      status: 'ERROR',
      error: 'crash',
      total_spans: 4,
      error_count: 2,
    });
    expect(body.tree).toHaveLength(2);
    expect(body.tree[0]).toMatchObject({ status: 'OK' });
    expect(body.tree[1]).toMatchObject({ status: 'ERROR' });
    expect((await service.get('/traces')).body.meta.total_count).toBe(2);
  });

  test('nothing is recorded when traces are off, and the lists are empty', async () => {
    const service = await startService({
      traces: false,
      agents: [agent({ id: 'a', model: scriptedModel(['Hello.']) })],
    });
    const { body: run } = await service.run('a', { message: 'hi' });
    for (const path of ['/traces', '/trace_session_stats']) {
      expect((await service.get(path)).body).toMatchObject({
        data: [],
        meta: { total_count: 0, total_pages: 0 },
      });
    }
    expect((await service.get(`/traces/${run.run_id.replaceAll('-', '')}`)).status).toBe(404);
  });
});

describe('what is better than it was', () => {
  test('T1: a run that waited for an approval is one trace, with its identity', async () => {
    const book = new ScriptBook();
    const { agent: payer } = payingAgent(book, 'payer');
    const service = await startService({ agents: [payer] });
    const life = new RunLife(service, 'payer');
    book.write('pay', { toolCalls: [payCall(7)] }, 'all done');
    const run = await life.start({ message: 'pay', session_id: 's1', user_id: 'ada' });
    const { summary: paused, detail: waiting } = await onlyTrace(service);
    expect(paused).toMatchObject({ status: 'OK', run_id: run.run_id });
    // what it waits for lasts no longer than the trace that it is a part of
    const question = nodesOf(waiting.tree).find(({ type }) => type === 'WAIT');
    expect(question).toMatchObject({ status: 'UNSET', end_time: paused.end_time });
    const alone = (await service.get(`/traces/${paused.trace_id}?span_id=${question.id}`)).body;
    expect(alone.end_time).toBe(paused.end_time);
    await life.continue(run.run_id, { tools: answered(run, { 'pay-7': { confirmed: true } }) });
    const { summary, detail } = await onlyTrace(service);
    expect(summary).toMatchObject({
      trace_id: paused.trace_id,
      run_id: run.run_id,
      session_id: 's1',
      user_id: 'ada',
      status: 'OK',
    });
    const types = nodesOf(detail.tree).map(({ type }) => type);
    expect(types.filter((type) => type === 'LLM')).toHaveLength(2);
    expect(types).toContain('TOOL');
    expect(detail.output).toBe('all done');
  });

  test('T2, D5: a failed model call is an error of its span, its run and its trace', async () => {
    const model = scriptedModel([{ error: overloaded() }, { error: overloaded() }]);
    const service = await startService({ agents: [agent({ id: 'a', model })] });
    await service.run('a', { message: 'hi' });
    const { summary, detail } = await onlyTrace(service);
    expect(summary).toMatchObject({ status: 'ERROR', error_count: 2, total_spans: 2 });
    expect(detail).toMatchObject({ error: 'overloaded' });
    expect(detail).not.toHaveProperty('output');
    const [root, call] = nodesOf(detail.tree);
    expect(root).not.toHaveProperty('error');
    expect(call).toMatchObject({ type: 'LLM', status: 'ERROR', error: 'overloaded' });
    expect(call).not.toHaveProperty('output');
    expect((await service.get('/traces?status=ERROR')).body.meta.total_count).toBe(1);
    expect((await service.get('/traces?status=OK')).body.meta.total_count).toBe(0);
  });

  test('T2, D5: failures that the run survived are counted, and are not the trace’s', async () => {
    const model = scriptedModel([
      { error: overloaded() },
      { toolCalls: [{ name: 'look_up', arguments: { city: 'Rome' } }] },
      'Sorry.',
    ]);
    const failing = lookUp(() => {
      throw new Error('no such city');
    });
    const a = agent({ id: 'a', model, tools: [failing], retries: 1, delayBetweenRetriesMs: 1 });
    const service = await startService({ agents: [a] });
    await service.run('a', { message: 'hi' });
    const { summary, detail } = await onlyTrace(service);
    expect(summary).toMatchObject({ status: 'OK', error_count: 2 });
    expect(detail.output).toBe('Sorry.');
    const failed = nodesOf(detail.tree).filter(({ status }) => status === 'ERROR');
    expect(failed.map(({ type, error }) => [type, error])).toEqual([
      ['LLM', 'overloaded'],
      ['TOOL', expect.stringContaining('no such city')],
    ]);
    expect((await service.get('/traces?status=ERROR')).body.meta.total_count).toBe(0);
  });

  test('T3, T4: within a trace of the caller, and in the background, a run keeps its name and identity', async () => {
    const book = new ScriptBook();
    const flow = workflow({ id: 'flow', name: 'Flow', steps: [agent({ id: 'w', model: book.model })] });
    const service = await startService({ workflows: [flow] });
    const traceId = '12'.repeat(16);
    const headers = { traceparent: `00-${traceId}-${'34'.repeat(8)}-01` };
    const life = new RunLife(service, 'flow', 'workflows');
    const { body } = await life.post({ message: 'hi', background: true, user_id: 'ada' }, headers);
    await life.rested(body.run_id);
    const { summary } = await onlyTrace(service);
    expect(summary).toMatchObject({
      trace_id: traceId,
      name: 'Flow.arun',
      run_id: body.run_id,
      user_id: 'ada',
      workflow_id: 'flow',
      duration: expect.stringMatching(took),
    });
  });

  test('T5, D7: an invalid request is reported as such', async () => {
    const service = await startService({ agents: [agent({ id: 'a', model: 'offline' })] });
    for (const path of ['/traces', '/trace_session_stats']) {
      for (const field of ['start_time', 'end_time']) {
        const { status, body } = await service.get(`${path}?${field}=yesterday`);
        expect(status).toBe(400);
        expect(body.detail).toMatch(new RegExp(`^Invalid ${field} format\\. `));
      }
      const { status, body } = await service.get(`${path}?db_id=nowhere`);
      expect([status, body.detail]).toEqual([404, "No database found with id 'nowhere'"]);
    }
  });
});
