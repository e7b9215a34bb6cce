import { describe, expect, test } from 'vitest';
import { reasoningTools } from '../../../src/core/agents/reasoning/reasoning-tools.js';
import { toolkit } from '../../../src/core/tools/toolkit.js';
import { type AgentSettings, agent, type Model, tool } from '../../../src/index.js';
import { type ScriptedTurn, scriptedModel } from '../../../src/testing.js';
import { type Body, startService } from '../../support/service.js';
import { gate } from '../../support/until.js';

/** An agent with models of its own behind a service of its own. */
async function serve(settings: Partial<AgentSettings>, ...answers: ScriptedTurn[]) {
  const model = scriptedModel(answers);
  const service = await startService({ agents: [agent({ id: 'a', model, ...settings })] });
  return {
    service,
    model,
    run: async (form: Record<string, string | boolean> = {}) =>
      (await service.run('a', { message: 'How far is it?', ...form })).body as Body,
    stream: async (form: Record<string, string> = {}) =>
      (await service.stream('a', { message: 'How far is it?', ...form })).end(),
  };
}

const thought = (title: string, next_action: string, more: object = {}) =>
  JSON.stringify({
    title,
    action: 'I look',
    result: `${title} done`,
    reasoning: `about ${title}`,
    next_action,
    confidence: 0.5,
    ...more,
  });

const stepOf = (title: string, next_action: string) => JSON.parse(thought(title, next_action));

/** The names without repetitions of pieces. */
function outline(names: readonly string[]): string[] {
  const pieces = ['RunContent', 'ReasoningContentDelta'];
  return names.filter((name, at) => !pieces.includes(name) || names[at - 1] !== name);
}

const lookUp = tool({
  name: 'look_up',
  description: 'Looks something up',
  inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
  execute: ({ what }) => `${what}: ${'many words about it. '.repeat(40)}`,
});
const call = (what: string) => ({
  toolCalls: [{ name: 'look_up', arguments: { what }, id: `call-${what}` }],
});

describe('reasoning of an agent', () => {
  test('comes in steps before the first model call, and the model is shown it', async () => {
    const reasoningModel = scriptedModel([thought('Map', 'continue'), thought('Sum', 'final_answer')], {
      id: 'deep',
    });
    const { model, stream } = await serve(
      { reasoning: true, reasoningModel, instructions: 'Be brief.', tools: [lookUp] },
      'Nine miles.',
    );
    const events = await stream();
    expect(outline(events.names)).toEqual([
      'RunStarted',
      'ReasoningStarted',
      'ReasoningStep',
      'ReasoningStep',
      'ReasoningCompleted',
      'ModelRequestStarted',
      'RunContent',
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
    const [first, second] = events.all('ReasoningStep');
    expect(first).toMatchObject({
      content: stepOf('Map', 'continue'),
      content_type: 'ReasoningStep',
      reasoning_content: '## Map\nabout Map\nAction: I look\nResult: Map done',
    });
    expect(second!.reasoning_content).toContain(first!.reasoning_content);
    expect(second!.reasoning_content).toContain('## Sum');
    expect(events.first('ReasoningCompleted')).toMatchObject({
      content: { reasoning_steps: [stepOf('Map', 'continue'), stepOf('Sum', 'final_answer')] },
      content_type: 'ReasoningSteps',
    });
    const [asked] = model.requests;
    expect(asked?.messages.at(-1)?.content).toMatch(
      /^How far is it\?\n\n<reasoning>[\s\S]*Sum done[\s\S]*<\/reasoning>$/,
    );
    const [opening, following] = reasoningModel.requests;
    expect(opening).toMatchObject({ tools: [], output: { name: 'ReasoningStep' } });
    expect(opening?.messages[0]?.content).toMatch(/Be brief\.|look_up/);
    expect(opening?.messages.at(-1)?.content).toBe('How far is it?');
    expect(following?.messages.at(-2)).toMatchObject({
      role: 'assistant',
      content: thought('Map', 'continue'),
    });
  });

  test('is a part of the run, stored and listed', async () => {
    const reasoningModel = scriptedModel([thought('Map', 'final_answer')], { id: 'deep' });
    const { service, run } = await serve({ reasoningModel }, { text: 'Nine.', reasoning: 'natively too' });
    const body = await run();
    expect(body).toMatchObject({
      content: 'Nine.',
      reasoning_steps: [stepOf('Map', 'final_answer')],
      reasoning_content: '## Map\nabout Map\nAction: I look\nResult: Map done\n\nnatively too',
      reasoning_messages: [{ role: 'assistant', content: thought('Map', 'final_answer') }],
      metrics: {
        details: { model: [{ id: 'scripted' }], reasoning_model: [{ id: 'deep', total_tokens: 15 }] },
      },
    });
    expect(body.messages.map(({ role, content }: Body) => [role, content])).toEqual([
      ['user', 'How far is it?'],
      ['assistant', 'Nine.'],
    ]);
    const stored = (await service.get(`/agents/a/runs/${body.run_id}`)).body;
    for (const field of ['reasoning_steps', 'reasoning_content', 'reasoning_messages'])
      expect(stored[field]).toEqual(body[field]);
    const [listed] = (await service.get(`/agents/a/runs?session_id=${body.session_id}`)).body;
    expect(listed.reasoning_steps).toEqual(body.reasoning_steps);
  });

  test('keeps to the least and the greatest number of steps', async () => {
    const eager = scriptedModel([thought('A', 'final_answer'), thought('B', 'final_answer')]);
    const least = await serve({ reasoningModel: eager, reasoningMinSteps: 2 }, 'ok');
    expect((await least.run()).reasoning_steps).toHaveLength(2);
    const endless = scriptedModel(() => thought('More', 'continue'));
    const most = await serve({ reasoningModel: endless, reasoningMaxSteps: 3 }, 'ok');
    expect((await most.run()).reasoning_steps).toHaveLength(3);
  });

  test('takes what a model says without the form as its one step', async () => {
    const reasoningModel = scriptedModel([{ text: 'It is nine miles.', reasoning: 'by the map' }], {
      structuredOutput: 'prompted',
    });
    const { run } = await serve({ reasoningModel }, 'Nine.');
    expect((await run()).reasoning_steps).toEqual([
      {
        title: null,
        action: null,
        result: 'It is nine miles.',
        reasoning: 'by the map',
        next_action: 'final_answer',
        confidence: null,
      },
    ]);
    const [asked] = reasoningModel.requests;
    expect(asked).not.toHaveProperty('output');
    expect(asked?.messages.map(({ content }) => content).join()).toContain('"next_action"');
  });

  test('that fails does not fail the run', async () => {
    const reasoningModel = scriptedModel([thought('Map', 'continue'), { error: 'overloaded' }]);
    const { service, stream } = await serve({ reasoningModel }, 'Nine.');
    const events = await stream();
    expect(events.names.filter((name) => name.startsWith('Reasoning'))).toEqual([
      'ReasoningStarted',
      'ReasoningStep',
      'ReasoningCompleted',
    ]);
    expect(events.first('RunCompleted')).toMatchObject({
      content: 'Nine.',
      reasoning_steps: [stepOf('Map', 'continue')],
    });
    expect(service.logged.some(({ message }) => message.includes('reasoning_model failed'))).toBe(true);
  });

  test('ends with the run when it is cancelled', async () => {
    const reached = gate();
    const reasoningModel = scriptedModel([
      {
        waitFor: (signal) => {
          reached.open();
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
      },
    ]);
    const assistant = agent({ id: 'a', model: scriptedModel(['never']), reasoningModel });
    const controller = new AbortController();
    const running = assistant.run('How far?', { signal: controller.signal });
    await reached.opened;
    controller.abort();
    expect(await running).toMatchObject({ status: 'cancelled', content: 'The caller aborted the run' });
  });

  test('is shown among the settings', async () => {
    const { service } = await serve({ reasoningModel: 'openai:gpt-5-mini', reasoningMaxSteps: 4 });
    expect((await service.get('/agents/a')).body.reasoning).toEqual({
      reasoning: true,
      reasoning_max_steps: 4,
      reasoning_model: { name: expect.any(String), model: 'gpt-5-mini', provider: 'OpenAI' },
    });
    const plain = await serve({});
    expect((await plain.service.get('/agents/a')).body).not.toHaveProperty('reasoning');
  });

  test('refuses bounds that make no sense', () => {
    const model = scriptedModel([]);
    expect(() => agent({ id: 'a', model, reasoningMinSteps: 5, reasoningMaxSteps: 2 })).toThrow(/more than/);
    expect(() => agent({ id: 'a', model, numFollowups: 0 })).toThrow(/numFollowups is 0/);
  });
});

describe('a model that thinks by itself', () => {
  test('is followed while it thinks', async () => {
    const { service, stream } = await serve({}, { reasoning: 'let me see', text: 'Nine miles.' });
    const events = await stream();
    expect(outline(events.names)).toEqual([
      'RunStarted',
      'ModelRequestStarted',
      'ReasoningStarted',
      'ReasoningContentDelta',
      'ReasoningCompleted',
      'RunContent',
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
    expect(events.first('ReasoningContentDelta')).toMatchObject({
      reasoning_content: 'let me see',
      agent_id: 'a',
    });
    expect(events.all('RunContent').map(({ content }) => content)).toEqual(['', 'Nine ', 'miles.']);
    const { body } = await service.get(`/agents/a/runs/${events.first('RunStarted').run_id}`);
    expect(body.reasoning_content).toBe('let me see');
    expect(body.events.map(({ event }: Body) => event)).toEqual([
      'RunStarted',
      'ModelRequestStarted',
      'ReasoningStarted',
      'ReasoningCompleted',
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
  });

  test('may think between its words', async () => {
    const model: Model = {
      ...scriptedModel([]),
      async *stream() {
        for (const piece of ['hm, ', 'well: ']) yield { type: 'reasoning', text: piece };
        yield { type: 'text', text: 'Nine ' };
        yield { type: 'reasoning', text: 'or ten?' };
        yield { type: 'text', text: 'miles.' };
        const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
        const said = { content: 'Nine miles.', reasoningContent: 'hm, well: or ten?', toolCalls: [] };
        yield { type: 'response', response: { ...said, usage, finishReason: 'stop' } };
      },
    };
    const { stream } = await serve({ model });
    const events = await stream();
    const reasoning = events.events.filter(({ event }) => /^(Reasoning|RunContent$)/.test(event));
    expect(
      reasoning.map(({ event, content, reasoning_content }) => [event, reasoning_content || content]),
    ).toEqual([
      ['ReasoningStarted', undefined],
      ['ReasoningContentDelta', 'hm, '],
      ['ReasoningContentDelta', 'well: '],
      ['ReasoningCompleted', { reasoning_steps: [] }],
      ['RunContent', ''],
      ['RunContent', 'Nine '],
      ['ReasoningStarted', undefined],
      ['ReasoningContentDelta', 'or ten?'],
      ['ReasoningCompleted', { reasoning_steps: [] }],
      ['RunContent', 'miles.'],
    ]);
    expect(events.first('RunCompleted').reasoning_content).toBe('hm, well: or ten?');
  });

  test('keeps its thoughts of every call', async () => {
    const { run } = await serve(
      { tools: [lookUp] },
      { reasoning: 'I need the map', ...call('map') },
      { reasoning: 'nine, then', text: 'Nine.' },
    );
    expect((await run()).reasoning_content).toBe('I need the map\n\nnine, then');
  });
});

describe('reasoning tools', () => {
  const think = {
    name: 'my_think',
    arguments: { title: 'Plan', thought: 'first the map', action: 'open it', confidence: 0.7 },
  };
  const analyze = {
    name: 'my_analyze',
    arguments: { title: 'Check', result: 'nine', analysis: 'fits', next_action: 'final_answer' },
  };

  test('report each call as a reasoning step', async () => {
    const { stream } = await serve(
      { tools: [toolkit({ name: 'kit', prefix: 'my_', tools: [reasoningTools()] })] },
      { toolCalls: [think] },
      { toolCalls: [analyze] },
      'Nine.',
    );
    const events = await stream();
    const names = events.names.filter((name) => /^(Reasoning|ToolCall|RunContentC)/.test(name));
    expect(names).toEqual([
      'ToolCallStarted',
      'ToolCallCompleted',
      'ReasoningStarted',
      'ReasoningStep',
      'ToolCallStarted',
      'ToolCallCompleted',
      'ReasoningStep',
      'ReasoningCompleted',
      'RunContentCompleted',
    ]);
    const steps = [
      {
        title: 'Plan',
        action: 'open it',
        result: null,
        reasoning: 'first the map',
        next_action: 'continue',
        confidence: 0.7,
      },
      {
        title: 'Check',
        action: null,
        result: 'nine',
        reasoning: 'fits',
        next_action: 'final_answer',
        confidence: null,
      },
    ];
    expect(events.all('ReasoningStep').map(({ content }) => content)).toEqual(steps);
    expect(events.first('ReasoningCompleted').content).toEqual({ reasoning_steps: steps });
    expect(events.first('RunCompleted').reasoning_steps).toEqual(steps);
  });

  test('are not taken for a tool of the same name', async () => {
    const own = tool({ name: 'think', description: 'My own', execute: () => 'hm' });
    const { stream } = await serve({ tools: [own] }, { toolCalls: [{ name: 'think' }] }, 'Nine.');
    expect((await stream()).names.filter((name) => name.startsWith('Reasoning'))).toEqual([]);
  });
});

describe('follow-ups', () => {
  test('are suggested when the answer is there', async () => {
    const followupModel = scriptedModel(
      ['{"followups":["How long?"," And by train? ","How long?","Why?","Who?"]}'],
      {
        id: 'small',
      },
    );
    const { service, stream } = await serve({ followups: true, followupModel }, 'Nine miles.');
    const events = await stream();
    expect(outline(events.names).slice(-5)).toEqual([
      'ModelRequestCompleted',
      'FollowupsStarted',
      'FollowupsCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
    const followups = ['How long?', 'And by train?', 'Why?'];
    expect(events.first('FollowupsCompleted').followups).toEqual(followups);
    expect(events.first('RunCompleted')).toMatchObject({
      followups,
      metrics: { details: { followup_model: [{ id: 'small' }] } },
    });
    const { body } = await service.get(`/agents/a/runs/${events.first('RunStarted').run_id}`);
    expect(body.followups).toEqual(followups);
    const [asked] = followupModel.requests;
    expect(asked?.messages.at(-1)?.content).toMatch(/How far is it\?[\s\S]*Nine miles\./);
    expect(asked?.messages[0]?.content).toContain('3');
  });

  test('that cannot be generated do not fail the run', async () => {
    for (const failure of [{ error: 'overloaded' }, 'no list at all']) {
      const { stream } = await serve({ followups: true, numFollowups: 2 }, 'Nine.', failure);
      const events = await stream();
      expect(events.first('FollowupsCompleted').followups).toEqual([]);
      expect(events.names.at(-1)).toBe('RunCompleted');
      expect(events.first('RunCompleted')).not.toHaveProperty('followups');
    }
  });

  test('are in the answer of the library', async () => {
    const model = scriptedModel(['Nine.', '["How long?"]']);
    const output = await agent({ id: 'a', model, followups: true }).run('How far?');
    expect(output).toMatchObject({ content: 'Nine.', followups: ['How long?'] });
  });
});

describe('session summaries', () => {
  const summaries = (...texts: ScriptedTurn[]) => scriptedModel(texts, { id: 'summariser' });
  const summary = (text: string) => JSON.stringify({ summary: text, topics: ['travel', ' travel ', 3] });

  test('are kept with the session and shown to the model of later runs', async () => {
    const sessionSummaryModel = summaries(summary('Asked how far.'), summary('Asked how far and how long.'));
    const { model, stream, run } = await serve(
      { enableSessionSummaries: true, sessionSummaryModel },
      'Nine miles.',
      'Two hours.',
    );
    const first = await stream({ session_id: 's1' });
    expect(first.names.slice(-4)).toEqual([
      'RunContentCompleted',
      'SessionSummaryStarted',
      'SessionSummaryCompleted',
      'RunCompleted',
    ]);
    const emitted = first.first('SessionSummaryCompleted').session_summary;
    expect(emitted).toEqual({
      summary: 'Asked how far.',
      topics: ['travel'],
      updated_at: expect.any(String),
    });
    expect(new Date(emitted.updated_at).toISOString()).toBe(emitted.updated_at);
    expect(first.first('RunCompleted').metrics.details.session_summary_model).toEqual([
      expect.objectContaining({ id: 'summariser', total_tokens: 15 }),
    ]);
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(['user']);

    await run({ session_id: 's1', message: 'How long?' });
    expect(model.requests[1]?.messages[0]).toMatchObject({
      role: 'system',
      content: expect.stringContaining('<session_summary>\nAsked how far.\n</session_summary>'),
    });
    const material = sessionSummaryModel.requests.map(({ messages }) => messages.at(-1)!.content);
    expect(material[0]).toMatch(/How far is it\?[\s\S]*Nine miles\./);
    expect(material[1]).toContain('Asked how far.');
    expect(material[1]).toMatch(/How long\?[\s\S]*Two hours\./);
    expect(material[1]).not.toContain('Nine miles.');
  });

  test('read a bounded part of a long run', async () => {
    const sessionSummaryModel = summaries(summary('Long.'));
    const { run } = await serve(
      { enableSessionSummaries: true, sessionSummaryModel },
      'word '.repeat(40_000),
    );
    await run();
    const read = sessionSummaryModel.requests[0]!.messages.reduce(
      (sum, { content }) => sum + content.length,
      0,
    );
    expect(read).toBeLessThan(40_000);
  });

  test('that cannot be made do not fail the run, and leave the old one', async () => {
    const sessionSummaryModel = summaries(summary('Kept.'), { error: 'overloaded' });
    const { model, stream, run } = await serve(
      { enableSessionSummaries: true, sessionSummaryModel },
      'One.',
      'Two.',
      'Three.',
    );
    await run({ session_id: 's1' });
    const second = await stream({ session_id: 's1' });
    expect(second.first('SessionSummaryCompleted').session_summary.summary).toBe('Kept.');
    expect(second.first('RunCompleted')).toMatchObject({ content: 'Two.' });
    await run({ session_id: 's1' });
    expect(model.requests[2]?.messages[0]?.content).toContain('Kept.');
  });

  test('are not shown when the agent does not want them shown', async () => {
    const sessionSummaryModel = summaries(summary('Hidden.'), summary('Hidden.'));
    const { model, service, run } = await serve(
      { enableSessionSummaries: true, addSessionSummaryToContext: false, sessionSummaryModel },
      'One.',
      'Two.',
    );
    await run({ session_id: 's1' });
    await run({ session_id: 's1' });
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain('Hidden.');
    expect((await service.get('/agents/a')).body.sessions.enable_session_summaries).toBe(true);
  });

  test('work for an agent without a service too', async () => {
    const sessionSummaryModel = summaries(summary('In memory.'), summary('More.'));
    const model = scriptedModel(['One.', 'Two.']);
    const assistant = agent({ id: 'a', model, enableSessionSummaries: true, sessionSummaryModel });
    await assistant.run('one', { sessionId: 'library' });
    await assistant.run('two', { sessionId: 'library' });
    expect(model.requests[1]?.messages[0]?.content).toContain('In memory.');
  });
});

describe('compression of tool results', () => {
  const settings = (...short: ScriptedTurn[]) => ({
    tools: [lookUp],
    compressToolResults: true,
    compressToolResultsAboveTokens: 300,
    compressionModel: scriptedModel(short, { id: 'presser' }),
  });

  test('shortens the old ones between model calls, and the transcript keeps both forms', async () => {
    const given = settings('rivers: short', 'roads: short');
    const { model, service, stream } = await serve(
      { ...given, addHistoryToContext: true },
      call('rivers'),
      call('roads'),
      call('towns'),
      'Nine.',
      'Again nine.',
    );
    const events = await stream({ session_id: 's1' });
    expect(outline(events.names).filter((name) => /Compression|ModelRequestS|ToolCallC/.test(name))).toEqual([
      'ModelRequestStarted',
      'ToolCallCompleted',
      'ModelRequestStarted',
      'ToolCallCompleted',
      'CompressionStarted',
      'CompressionCompleted',
      'ModelRequestStarted',
      'ToolCallCompleted',
      'CompressionStarted',
      'CompressionCompleted',
      'ModelRequestStarted',
    ]);
    expect(events.first('CompressionCompleted')).toMatchObject({
      tool_results_compressed: 1,
      original_size: 848,
      compressed_size: 13,
    });
    const results = (request: number) =>
      model.requests[request]!.messages.filter(({ role }) => role === 'tool').map(({ content }) =>
        content.slice(0, 13),
      );
    expect(results(1)).toEqual(['rivers: many ']);
    expect(results(2)).toEqual(['rivers: short', 'roads: many w']);
    expect(results(3)).toEqual(['rivers: short', 'roads: short', 'towns: many w']);
    const [asked] = given.compressionModel.requests;
    expect(asked?.messages.at(-1)?.content).toMatch(/How far is it\?[\s\S]*look_up[\s\S]*rivers: many words/);

    const { body } = await service.get(`/agents/a/runs/${events.first('RunStarted').run_id}`);
    const tools = body.messages.filter(({ role }: Body) => role === 'tool');
    expect(tools.map(({ compressed_content }: Body) => compressed_content)).toEqual([
      'rivers: short',
      'roads: short',
      undefined,
    ]);
    expect(tools[0].content).toHaveLength(848);
    expect(body.tools[0].result).toHaveLength(848);
    expect(body.metrics.details.compression_model).toEqual([
      expect.objectContaining({ id: 'presser', total_tokens: 30 }),
    ]);

    await stream({ session_id: 's1', message: 'Sure?' });
    expect(results(4)).toEqual(['rivers: short', 'roads: short', 'towns: many w']);
  });

  test('that fails, is declined or makes nothing shorter leaves a result as it is and is not tried again', async () => {
    const given = settings(
      { error: 'overloaded' },
      'longer '.repeat(500),
      { text: 'No.', finishReason: 'refusal' },
      'hills: short',
    );
    const { model, stream } = await serve(
      given,
      call('rivers'),
      call('roads'),
      call('towns'),
      call('hills'),
      call('lakes'),
      'Nine.',
    );
    const events = await stream();
    expect(events.first('RunCompleted').content).toBe('Nine.');
    expect(
      events.all('CompressionCompleted').map(({ tool_results_compressed }) => tool_results_compressed),
    ).toEqual([0, 0, 0, 1]);
    const last = model.requests.at(-1)!.messages.filter(({ role }) => role === 'tool');
    expect(last.map(({ content }) => content.length > 100)).toEqual([true, true, true, false, true]);
  });

  test('costs nothing while there is little', async () => {
    const given = settings();
    const { stream } = await serve(
      { ...given, compressToolResultsAboveTokens: 5_000 },
      call('a'),
      call('b'),
      'Nine.',
    );
    expect((await stream()).names.filter((name) => name.startsWith('Compression'))).toEqual([]);
  });
});
