import { expect, test } from 'vitest';
import { z } from 'zod';
import { RunStore } from '../../src/capabilities/runs/storage/store.js';
import { type Executable, RunFailed } from '../../src/core/runs/executable.js';
import type { Span } from '../../src/core/traces/span.js';
import { spansOf } from '../../src/core/traces/spans-of-run.js';
import { shownRunsOf } from '../../src/core/traces/trace-source.js';
import { moderationGuardrail } from '../../src/guardrails.js';
import { agent, ModelError, team, tool } from '../../src/index.js';
import { scriptedModel } from '../../src/testing.js';
import { freshSqlite } from '../support/databases.js';
import { begin, engineOver, executable, freshStore, goOn } from './harness.js';
import { pausedRun, payTool } from './paused-runs.js';
import { ask } from './teams/team-runs.js';

const busy = () => new ModelError('too busy', { provider: 'P', kind: 'refused', retryable: true });
const instantly = { delayBetweenRetriesMs: 0 };

async function traceOf(store: RunStore, runId: string): Promise<Span[]> {
  const { run, steps } = (await store.load(runId))!;
  const shown = await store.loadAll(shownRunsOf(steps));
  return spansOf({ run, steps, history: new Map(shown.map((earlier) => [earlier.run.runId, earlier])) });
}

/** Runs the component to its end or its pause. */
async function traced(component: Executable, more: Parameters<typeof begin>[2] = {}) {
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component, more);
  const { run } = await handle.ended;
  return { store, engine, run, spans: await traceOf(store, run.runId) };
}

/** The tree as indented lines: name, kind and status of each span. */
function drawn(spans: readonly Span[]): string[] {
  const inside = (parent: string | null, depth: number): string[] =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .flatMap((span) => [
        `${'  '.repeat(depth)}${span.name} ${span.kind} ${span.status}`,
        ...inside(span.spanId, depth + 1),
      ]);
  return inside(null, 0);
}

const named = (spans: readonly Span[], name: string) => spans.filter((span) => span.name === name);

const look = tool({
  name: 'look',
  description: 'Looks',
  inputSchema: z.object({ at: z.string() }),
  execute: ({ at }) => `seen ${at}`,
});

test('a run with a tool call: what the model was shown, what it said and what the tool did', async () => {
  const model = scriptedModel(
    [
      {
        toolCalls: [{ id: 'c1', name: 'look', arguments: { at: 'sea' } }],
        usage: { inputTokens: 7, outputTokens: 3 },
      },
      { text: 'It is blue.', usage: { inputTokens: 20, outputTokens: 4, cacheReadTokens: 6 } },
    ],
    { id: 'gpt-x', provider: 'OpenAI' },
  );
  const component = agent({
    id: 'watch',
    name: 'Look Out-1',
    model,
    instructions: 'Be brief.',
    tools: [look],
  });
  const { run, spans } = await traced(component, { userId: 'ada' });
  expect(drawn(spans)).toEqual([
    'Look_Out_1.arun AGENT OK',
    '  OpenAIResponses.ainvoke_stream LLM OK',
    '  look TOOL OK',
    '  OpenAIResponses.ainvoke_stream LLM OK',
  ]);
  const [root, , called, last] = spans as [Span, Span, Span, Span];
  expect(root).toMatchObject({ startTime: run.createdAt, endTime: run.updatedAt, statusMessage: null });
  expect(root.attributes).toMatchObject({
    'openinference.span.kind': 'AGENT',
    'agno.agent.id': 'watch',
    'agno.run.id': run.runId,
    'agno.tools': ['look'],
    'session.id': run.sessionId,
    'user.id': 'ada',
    'input.value': 'hello',
    'output.value': 'It is blue.',
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': 'watch',
    'gen_ai.conversation.id': run.sessionId,
  });
  expect(called.attributes).toMatchObject({
    'tool.name': 'look',
    'tool.parameters': '{"at":"sea"}',
    'output.value': 'seen sea',
    'gen_ai.tool.call.id': 'c1',
  });
  expect(last.attributes).toMatchObject({
    'llm.model_name': 'gpt-x',
    'llm.provider': 'OpenAI',
    'llm.input_messages.0.message.role': 'system',
    'llm.input_messages.1.message.content': 'hello',
    'llm.input_messages.2.message.tool_calls.0.tool_call.function.name': 'look',
    'llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments': '{"at":"sea"}',
    'llm.input_messages.3.message.tool_call_id': 'c1',
    'llm.input_messages.3.message.content': 'seen sea',
    'llm.output_messages.0.message.content': 'It is blue.',
    'llm.token_count.prompt': 20,
    'llm.token_count.completion': 4,
    'llm.token_count.prompt_details.cache_read': 6,
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-x',
    'gen_ai.usage.input_tokens': 20,
    'gen_ai.response.finish_reasons': ['stop'],
  });
  expect(JSON.parse(last.attributes['input.value'] as string).messages).toHaveLength(4);
  const shown = model.requests[1]!.messages.map(({ role, content }) => ({ role, content }));
  const inputs = JSON.parse(last.attributes['input.value'] as string).messages;
  expect(inputs.map(({ role, content }: { role: string; content: string }) => ({ role, content }))).toEqual(
    shown,
  );
});

test('the messages of earlier runs that a model was shown are in its span', async () => {
  const store = await freshStore();
  const model = scriptedModel(['first answer', 'second answer']);
  const component = agent({ id: 'a', model, addHistoryToContext: true });
  const engine = engineOver(store, [component]);
  const session = { sessionId: 's' };
  await (await begin(engine, component, session)).ended;
  const { run } = await (await begin(engine, component, session)).ended;
  const [, call] = await traceOf(store, run.runId);
  const inputs = JSON.parse(call!.attributes['input.value'] as string).messages;
  expect(inputs.map(({ content }: { content: string }) => content)).toEqual(
    model.requests[1]!.messages.map(({ content }) => content),
  );
  expect(inputs.map(({ content }: { content: string }) => content)).toContain('first answer');
});

test('the parameters of a model are shown, its secrets are not', async () => {
  const model = Object.assign(scriptedModel(['hi']), {
    parameters: {
      temperature: 0.2,
      max_tokens: 50,
      api_key: 'sk-secret',
      tools: [{ type: 'mcp', authorization: 'abc' }],
      reasoning: { effort: 'low', token: 'abc' },
    },
  });
  const { store, run, spans } = await traced(agent({ id: 'a', model }));
  const [, call] = spans;
  expect(JSON.parse(call!.attributes['llm.invocation_parameters'] as string)).toEqual({
    temperature: 0.2,
    max_tokens: 50,
    reasoning: { effort: 'low' },
  });
  expect(call!.attributes).toMatchObject({
    'gen_ai.request.temperature': 0.2,
    'gen_ai.request.max_tokens': 50,
  });
  expect(JSON.stringify((await store.load(run.runId))!.steps)).not.toMatch(/secret|abc/);
});

test('a call that was made again leaves its failure beside the one that answered', async () => {
  const own = scriptedModel([{ error: busy() }, { error: busy() }], { id: 'own' });
  const other = scriptedModel([{ toolCalls: [{ name: 'flaky' }] }, 'done'], {
    id: 'other',
    provider: 'Groq',
  });
  let calls = 0;
  const flaky = tool({
    name: 'flaky',
    description: 'Fails once',
    retries: 1,
    execute: () => {
      calls += 1;
      if (calls === 1) throw new Error('no luck');
      return 'luck';
    },
  });
  const component = agent({
    id: 'a',
    model: own,
    fallbackModels: [other],
    retries: 1,
    ...instantly,
    tools: [flaky],
  });
  const { run, spans } = await traced(component);
  expect(run.status).toBe('completed');
  expect(
    spans.filter(({ status }) => status === 'ERROR').map(({ name, statusMessage }) => [name, statusMessage]),
  ).toEqual([
    ['Scripted.ainvoke_stream', 'too busy'],
    ['Scripted.ainvoke_stream', 'too busy'],
    ['flaky', 'no luck'],
  ]);
  expect(spans[0]).toMatchObject({ status: 'OK', statusMessage: null });
  const answered = named(spans, 'Groq.ainvoke_stream');
  expect(answered).toHaveLength(2);
  expect(answered[0]!.attributes).toMatchObject({ 'llm.model_name': 'other', 'llm.provider': 'Groq' });
  const tries = spans.filter(({ stepKey }) => stepKey.includes(':try:'));
  expect(tries.every(({ parentSpanId }) => parentSpanId === spans[0]!.spanId)).toBe(true);
  expect(tries[0]!.attributes).toMatchObject({
    'exception.message': 'too busy',
    'llm.input_messages.0.message.content': 'hello',
  });
  const made = named(spans, 'flaky').find(({ status }) => status === 'OK');
  expect(made!.attributes['output.value']).toBe('luck');
});

test('a run that fails is an error with its reason, as is the call that failed it', async () => {
  const { spans } = await traced(agent({ id: 'a', model: scriptedModel([{ error: busy() }]) }));
  expect(drawn(spans)).toEqual(['a.arun AGENT ERROR', '  Scripted.ainvoke_stream LLM ERROR']);
  for (const span of spans) {
    expect(span.statusMessage).toBe('too busy');
    expect(span.attributes['exception.message']).toBe('too busy');
    expect(span.attributes['output.value']).toBeUndefined();
  }
});

test('a failure that the run survives is not one of the run', async () => {
  const broken = tool({
    name: 'broken',
    description: 'Fails',
    execute: () => {
      throw new Error('kaput');
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'broken' }] }, 'never mind']);
  const preHooks = [
    function careless() {
      throw new Error('oops');
    },
  ];
  const { spans } = await traced(agent({ id: 'a', model, tools: [broken], preHooks }));
  expect(drawn(spans)).toEqual([
    'a.arun AGENT OK',
    '  careless GUARDRAIL ERROR',
    '  Scripted.ainvoke_stream LLM OK',
    '  broken TOOL ERROR',
    '  Scripted.ainvoke_stream LLM OK',
  ]);
  expect(named(spans, 'broken')[0]!.statusMessage).toContain('kaput');
  expect(named(spans, 'careless')[0]!.statusMessage).toBe('oops');
});

test('a run that waits and resumes in another process is one trace', async () => {
  const { pay } = payTool({ requiresConfirmation: true });
  const model = scriptedModel([{ toolCalls: [{ id: 'c1', name: 'pay', arguments: { cents: 5 } }] }, 'paid']);
  const component = agent({ id: 'a', model, tools: [pay] });
  const { store, run, spans: before } = await traced(component);
  expect(drawn(before)).toEqual([
    'a.arun AGENT OK',
    '  Scripted.ainvoke_stream LLM OK',
    '  wait_for_confirmation WAIT UNSET',
  ]);
  const next = pausedRun(store, engineOver(store, [component]), run.runId);
  await next.answerAll(() => ({ answer: 'confirmed', confirmed: true }));
  await expect.poll(async () => (await store.load(run.runId))!.run.status).toBe('completed');
  const after = await traceOf(store, run.runId);
  expect(drawn(after)).toEqual([
    'a.arun AGENT OK',
    '  Scripted.ainvoke_stream LLM OK',
    '  wait_for_confirmation WAIT OK',
    '  pay TOOL OK',
    '  Scripted.ainvoke_stream LLM OK',
  ]);
  expect(after.slice(0, 3).map(({ spanId }) => spanId)).toEqual(before.map(({ spanId }) => spanId));
  expect(new Set(after.map(({ traceId }) => traceId))).toEqual(new Set([before[0]!.traceId]));
  const [wait] = named(after, 'wait_for_confirmation');
  const [paid] = named(after, 'pay');
  expect(paid!.startTime).toBeGreaterThanOrEqual(wait!.endTime!);
});

test('a member is below the call that asked it, with all that it did', async () => {
  const member = agent({
    id: 'helper',
    name: 'Helper',
    model: scriptedModel([{ toolCalls: [{ name: 'look', arguments: { at: 'sky' } }] }, 'grey']),
    tools: [look],
  });
  const component = team({
    id: 't',
    name: 'The Team',
    model: scriptedModel([{ toolCalls: [ask('helper', 'what colour?')] }, 'It is grey.']),
    members: [member],
  });
  const { spans } = await traced(component);
  expect(drawn(spans)).toEqual([
    'The_Team.arun TEAM OK',
    '  Scripted.ainvoke_stream LLM OK',
    '  delegate_task_to_member TOOL OK',
    '    Helper.arun AGENT OK',
    '      Scripted.ainvoke_stream LLM OK',
    '      look TOOL OK',
    '      Scripted.ainvoke_stream LLM OK',
    '  Scripted.ainvoke_stream LLM OK',
  ]);
  const [helper] = named(spans, 'Helper.arun');
  expect(helper!.attributes).toMatchObject({ 'agno.agent.id': 'helper', 'output.value': 'grey' });
  expect(spans[0]!.attributes).toMatchObject({ 'agno.team.id': 't', 'agno.team': 'The Team' });
});

test('a copy shows what it did itself, and its model what it was copied with', async () => {
  const model = scriptedModel(['first', 'second']);
  const component = agent({ id: 'a', model });
  const { store, run, engine } = await traced(component);
  const { steps } = (await store.load(run.runId))!;
  const kept = steps.filter(({ kind }) => kind === 'context' || kind === 'model');
  const copy = {
    steps: kept,
    lineage: { forkedFromRunId: run.runId },
    continuation: { turn: 1, input: 'and now?', options: {} },
  };
  const handle = await begin(engine, component, { copy, sessionId: run.sessionId });
  await handle.ended;
  const spans = await traceOf(store, handle.runId);
  expect(drawn(spans)).toEqual(['a.arun AGENT OK', '  Scripted.ainvoke_stream LLM OK']);
  const inputs = JSON.parse(spans[1]!.attributes['input.value'] as string).messages;
  expect(inputs.map(({ content }: { content: string }) => content)).toEqual(['hello', 'first', 'and now?']);
});

test('calls beside the conversation are spans, under what they were made for', async () => {
  const judge = scriptedModel(['{"categories":[]}'], { id: 'judge', provider: 'Anthropic' });
  const scribe = scriptedModel([{ error: 'asleep' }], { id: 'scribe', provider: 'Google' });
  const component = agent({
    id: 'a',
    model: scriptedModel(['hi']),
    preHooks: [moderationGuardrail({ model: judge })],
    enableSessionSummaries: true,
    sessionSummaryModel: scribe,
  });
  const { spans } = await traced(component);
  expect(drawn(spans)).toEqual([
    'a.arun AGENT OK',
    '  moderation_guardrail GUARDRAIL OK',
    '    Claude.ainvoke LLM OK',
    '  Scripted.ainvoke_stream LLM OK',
    '  Gemini.ainvoke LLM ERROR',
  ]);
  const [summary] = named(spans, 'Gemini.ainvoke');
  expect(summary).toMatchObject({ statusMessage: 'asleep' });
  expect(summary!.attributes).toMatchObject({
    'runyard.call.purpose': 'session_summary_model',
    'llm.model_name': 'scribe',
    'llm.input_messages.1.message.content': 'hi',
  });
  expect(named(spans, 'Claude.ainvoke')[0]!.attributes).toMatchObject({
    'llm.output_messages.0.message.content': '{"categories":[]}',
    'gen_ai.provider.name': 'anthropic',
  });
});

test('a failed run that was copied with its session has a trace of its own when it is tried again', async () => {
  const database = await (await freshSqlite()).open();
  const store = new RunStore(database);
  let failing = true;
  const component = executable('fragile', async () => {
    if (failing) throw new RunFailed({ type: 'no', message: 'no' });
  });
  const engine = engineOver(store, [component]);
  const { run, ended } = await begin(engine, component);
  await ended;
  const copy = { sourceSessionId: run.sessionId, newSessionId: 'copy', newRunId: () => 'copied' };
  await store.copySession({ ...copy, now: Date.now() });
  const traces = () => database.query.selectFrom('traces').select(['run_id', 'status']).execute();
  expect(await traces()).toEqual([{ run_id: run.runId, status: 'ERROR' }]);
  failing = false;
  await (await engine.retry('copied', { steps: [], messageIndex: 0, turn: 0 }, goOn)).ended;
  expect(await traces()).toContainEqual({ run_id: 'copied', status: 'OK' });
});
