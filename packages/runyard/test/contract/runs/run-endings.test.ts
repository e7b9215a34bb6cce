import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type AgentSettings, agent, step, team, tool, toolResult, workflow } from '../../../src/index.js';
import { type ScriptedAnswer, scriptedModel } from '../../../src/testing.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';

const book = new ScriptBook();
const page = { url: 'https://example.com/a', title: 'A', citedText: 'tea is hot', start: 0, end: 3 };
const cited: ScriptedAnswer = {
  text: 'Tea is hot.',
  citations: {
    sources: [
      page,
      { ...page, start: 4, end: 6 },
      { title: 'Notes', filename: 'notes.pdf', fileId: 'f1', documentIndex: 0, citedText: 'hot' },
    ],
    searchQueries: ['tea temperature'],
  },
};
const ring = tool({
  name: 'ring',
  description: 'Rings the bell',
  inputSchema: z.object({}),
  stopAfterCall: true,
  showResult: true,
  execute: () => 'ding',
});
const last = scriptedModel(() => ({ text: 'polished', finishReason: 'length' }), { id: 'last' });
const member = agent({ id: 'member', model: scriptedModel(() => cited) });
const delegate = {
  toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: 'member', task: 't' } }],
};
const registered = agent({ id: 'a', model: book.model, tools: [ring] });
let service: TestService;

beforeAll(async () => {
  service = await TestService.start({
    agents: [
      registered,
      agent({ id: 'strict', model: book.model, failOn: ['refusal'] }),
      agent({ id: 'written', model: book.model, outputModel: last }),
      agent({ id: 'hooked', model: book.model, postHooks: [({ content }) => `${content}!`] }),
    ],
    teams: [
      team({ id: 'route', mode: 'route', model: book.model, members: [member] }),
      team({ id: 'desk', model: book.model, members: [member] }),
    ],
    workflows: [
      workflow({ id: 'w', steps: [step({ name: 's', agent: member })] }),
      workflow({
        id: 'own',
        steps: [step({ name: 's', agent: member }), step({ name: 'f', run: () => 'made by a function' })],
      }),
    ],
  });
});
afterAll(() => service.stop());

const plain = (source: Body) => ({ ...source, start_index: undefined, end_index: undefined });
const sources = [
  { url: page.url, title: 'A', cited_text: 'tea is hot', start_index: 0, end_index: 3 },
  { url: page.url, title: 'A', cited_text: 'tea is hot', start_index: 4, end_index: 6 },
  { title: 'Notes', file_name: 'notes.pdf', file_id: 'f1', document_index: 0, cited_text: 'hot' },
];
const citations = {
  urls: [{ url: page.url, title: 'A' }],
  documents: [{ document_title: 'Notes', cited_text: 'hot', file_name: 'notes.pdf' }],
  search_queries: ['tea temperature'],
  sources,
};
const placeless = { ...citations, sources: [plain(sources[0]), sources[2]] };

/** A run in every way in which it can be read: what of it says how the answer ended. */
async function readings(kind: 'agents' | 'teams' | 'workflows', id: string, write: () => string) {
  const ending = ({ content, finish_reason, finish_message, citations: given }: Body) =>
    JSON.parse(JSON.stringify({ content, finish_reason, finish_message, citations: given }));
  const path = `/${kind}/${id}/runs`;
  const { body } = await service.submit(path, { message: write(), stream: false });
  const stream = await (await service.submitForStream(path, { message: write(), stream: true })).end();
  const completed = stream.events.at(-1)!;
  const query = `session_id=${completed.session_id}`;
  const stored = (await service.get(`${path}/${completed.run_id}?${query}`)).body;
  const [listed] = (await service.get(`${path}?${query}`)).body;
  return {
    whole: ending(body),
    event: ending(completed),
    stored: ending(stored),
    listed: ending(listed),
    stream,
  };
}

describe('why the model stopped', () => {
  const limit = 'The model reached its limit of output tokens.';
  test.each<[string, ScriptedAnswer, Body]>([
    ['is said', { text: 'done' }, { content: 'done', finish_reason: 'stop' }],
    [
      'is said of a cut answer',
      { text: 'do', finishReason: 'length' },
      { content: 'do', finish_reason: 'length' },
    ],
    [
      'is the content when there is no other',
      { text: '', finishReason: 'refusal', finishMessage: 'I do not do that.' },
      { content: 'I do not do that.', finish_reason: 'refusal', finish_message: 'I do not do that.' },
    ],
    [
      'needs no explanation',
      { text: '', finishReason: 'length' },
      { content: limit, finish_reason: 'length' },
    ],
    [
      'stands beside the text that there is',
      { text: 'I could', finishReason: 'content_filter', finishMessage: 'SAFETY' },
      { content: 'I could', finish_reason: 'content_filter', finish_message: 'SAFETY' },
    ],
    [
      'is a tool that ended the run',
      { toolCalls: [{ name: 'ring' }], finishReason: 'stop' },
      { content: 'ding', finish_reason: 'tool_calls' },
    ],
  ])('%s', async (name, answer, expected) => {
    const read = await readings('agents', 'a', () => book.write(name, answer));
    expect(read.whole).toEqual(expected);
    expect(read.stored).toEqual(expected);
    expect(read.event).toEqual(expected);
    expect(read.listed).toEqual({ finish_message: null, citations: null, ...expected });
    expect(read.stream.content).toBe(expected.content === 'ding' ? '' : expected.content);
    const request = read.stream.first('ModelRequestCompleted');
    expect(request.finish_reason).toBe(answer.finishReason ?? 'stop');
  });

  test('is in the messages, so that the next run of the session has something to read', async () => {
    const message = book.write('and now?', { finishReason: 'refusal' });
    const { body } = await service.run('a', { message, session_id: 'refused' });
    expect(body.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: 'The model declined to answer.',
    });
  });

  test('is asked of the model that wrote the content', async () => {
    const read = await readings('agents', 'written', () => book.write('write it', cited));
    expect(read.whole).toEqual({ content: 'polished', finish_reason: 'length', citations: placeless });
  });

  test('a refusal is not rewritten', async () => {
    const asked = last.requests.length;
    for (const refusal of [{ finishMessage: 'No.' }, { text: 'No.' }]) {
      const message = () => book.write('nothing', { ...refusal, finishReason: 'refusal' });
      const { stream, whole } = await readings('agents', 'written', message);
      expect(whole).toMatchObject({ content: 'No.', finish_reason: 'refusal' });
      expect(stream.content).toBe('No.');
    }
    expect(last.requests).toHaveLength(asked);
  });

  test.each<[string, Partial<AgentSettings>]>([
    ['the model', {}],
    ['a parser model', { parserModel: scriptedModel([]) }],
  ])('a refusal does not become data by %s', async (_who, settings) => {
    const refusal = { text: 'I would rather not.', finishReason: 'refusal' } as const;
    const outputSchema = z.object({ sum: z.number() });
    const a = agent({ id: 'a', model: scriptedModel([refusal]), outputSchema, ...settings });
    expect(await a.run('1 + 2')).toMatchObject({
      content: refusal.text,
      contentType: 'str',
      finishReason: 'refusal',
    });
  });

  test('is that of an output model that declined', async () => {
    const outputModel = scriptedModel([{ finishReason: 'content_filter', finishMessage: 'SAFETY' }]);
    const output = await agent({ id: 'a', model: scriptedModel(['notes']), outputModel }).run('hi');
    const content = 'The content filter of the provider withheld the answer: SAFETY';
    expect(output).toMatchObject({ content, finishReason: 'content_filter', finishMessage: 'SAFETY' });
    expect(output.messages.at(-1)).toMatchObject({ role: 'assistant', content });
  });

  test('is the same when the run failed after the answer and was tried again', async () => {
    const model = scriptedModel([cited]);
    const outputModel = scriptedModel([{ error: 'down' }, { text: 'polished', finishReason: 'other' }]);
    const a = agent({ id: 'a', model, outputModel });
    const { runId, status } = await a.run('hi');
    expect(status).toBe('error');
    const output = await a.continue(runId);
    expect(output).toMatchObject({ content: 'polished', finishReason: 'other' });
    expect(output.citations).toMatchObject({ searchQueries: ['tea temperature'] });
    expect(output.citations?.sources[0]).not.toHaveProperty('start');
  });
});

describe('what the answer cites', () => {
  test('has one shape in every reading', async () => {
    const read = await readings('agents', 'a', () => book.write('cite', cited));
    const expected = { content: cited.text, finish_reason: 'stop', citations };
    for (const reading of [read.whole, read.event, read.stored]) expect(reading).toEqual(expected);
    expect(read.listed).toEqual({ ...expected, finish_message: null });
  });

  test('has no places in a content that a hook rewrote', async () => {
    const read = await readings('agents', 'hooked', () => book.write('cite and shout', cited));
    expect(read.whole).toEqual({ content: 'Tea is hot.!', finish_reason: 'stop', citations: placeless });
  });

  test('is that of the leader of a team, or of the member whose answer is the answer of the team', async () => {
    const led = await readings('teams', 'desk', () => book.write('lead', delegate, 'The member knows.'));
    for (const reading of [led.whole, led.event, led.stored])
      expect(reading).toEqual({ content: 'The member knows.', finish_reason: 'stop' });
    const routed = await readings('teams', 'route', () => book.write('route', delegate));
    for (const reading of [routed.whole, routed.event, routed.stored])
      expect(reading).toEqual({ content: cited.text, finish_reason: 'stop', citations });
    const [nested] = led.stream.first('TeamRunCompleted').member_responses;
    expect(nested).toMatchObject({ finish_reason: 'stop', citations });
  });

  test('is that of the step that made the content of a workflow', async () => {
    const read = await readings('workflows', 'w', () => 'go');
    for (const reading of [read.whole, read.event, read.stored])
      expect(reading).toEqual({ content: cited.text, finish_reason: 'stop', citations });
    expect(read.listed).toMatchObject({ finish_reason: 'stop', citations });
    expect((await readings('workflows', 'own', () => 'go')).whole).toEqual({ content: 'made by a function' });
  });
});

describe('failOn', () => {
  const failing = (settings: Partial<AgentSettings>, answers: ScriptedAnswer[]) => {
    const model = scriptedModel(answers, { id: 'first' });
    return { model, a: agent({ id: 'a', model, failOn: ['refusal', 'length'], ...settings }) };
  };
  const refused: ScriptedAnswer = { text: 'Well', finishReason: 'refusal', finishMessage: 'Not my thing.' };

  test('makes it a failure that names the reason, and asks the same model once', async () => {
    const { model, a } = failing({ retries: 3, delayBetweenRetriesMs: 1 }, [refused]);
    const output = await a.run('hi');
    expect(output).toMatchObject({
      status: 'error',
      content: "The model 'first' of Runyard did not complete its answer (refusal): Not my thing.",
      error: {
        code: 'model_stopped',
        additionalData: {
          retryable: false,
          finish_reason: 'refusal',
          finish_message: 'Not my thing.',
          model: 'first',
          model_provider: 'Runyard',
        },
      },
      metrics: { total_tokens: 15 },
    });
    expect(JSON.stringify(output.messages)).not.toContain('Well');
    expect(model.requests).toHaveLength(1);
  });

  test('is reported over HTTP like any failure', async () => {
    const message = () => book.write('be strict', refused);
    const { body } = await service.run('strict', { message: message() });
    const stream = await (await service.stream('strict', { message: message() })).end();
    const failure = { error_type: 'model_stopped', additional_data: { finish_reason: 'refusal' } };
    expect(body).toMatchObject({ status: 'error', ...failure });
    expect(stream.first('RunError')).toMatchObject({ content: body.content, ...failure });
    expect(JSON.stringify(body.messages)).not.toContain('Well');
  });

  test('leaves other reasons alone', async () => {
    const { a } = failing({}, [{ text: 'half', finishReason: 'content_filter' }]);
    expect(await a.run('hi')).toMatchObject({ status: 'completed', finishReason: 'content_filter' });
  });

  test('calls the fall-back models, and counts what every model used', async () => {
    const second = scriptedModel([{ text: 'I will', finishReason: 'length' }], { id: 'second' });
    const third = scriptedModel(['gladly'], { id: 'third' });
    const { a } = failing({ fallbackModels: [second, third] }, [refused]);
    const output = await a.run('hi');
    expect(output).toMatchObject({ status: 'completed', content: 'gladly', finishReason: 'stop' });
    expect((output.metrics.details as Body).model.map(({ id }: Body) => id).sort()).toEqual([
      'first',
      'second',
      'third',
    ]);
    expect(output.metrics.total_tokens).toBe(45);
  });

  test('concerns the models that rewrite an answer too', async () => {
    const outputModel = scriptedModel([refused], { id: 'editor' });
    const { a } = failing({ outputModel }, [{ text: 'notes' }]);
    expect(await a.run('hi')).toMatchObject({
      error: { code: 'model_stopped', message: /'editor'.*refusal/ },
    });
  });

  test('lets a failed run be tried again', async () => {
    const { a } = failing({}, [refused, { text: 'all right' }]);
    const { runId } = await a.run('hi');
    expect(await a.continue(runId)).toMatchObject({ status: 'completed', content: 'all right' });
  });

  test('is checked when the agent is made', () => {
    expect(() => failing({ failOn: ['refused' as never] }, [])).toThrow(
      "failOn[0] is 'refused'. Give 'length', 'content_filter', 'refusal' or 'other'.",
    );
    expect(() => agent({ id: 'a', model: 'offline', failsOn: [] } as never)).toThrow('Did you mean failOn?');
  });
});

describe('in code', () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const picture = { text: 'Look', media: [{ mimeType: 'image/png', bytes }] };

  test('the output says how the answer ended', async () => {
    const model = scriptedModel([{ ...cited, finishReason: 'length', finishMessage: 'cut' }]);
    const output = await agent({ id: 'a', model }).run('hi');
    expect(output).toMatchObject({
      finishReason: 'length',
      finishMessage: 'cut',
      citations: cited.citations,
    });
  });

  test('what was made has its bytes, without a service too', async () => {
    const painter = agent({ id: 'painter', model: scriptedModel(() => picture) });
    const leader = scriptedModel([
      {
        toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: 'painter', task: 'paint' } }],
      },
      'Painted',
    ]);
    const outputs = [
      await painter.run('paint'),
      await team({ id: 't', model: leader, members: [painter] }).run('paint'),
      await workflow({ id: 'w', steps: [step({ name: 's', agent: painter })] }).run('paint'),
    ];
    for (const { media } of outputs) {
      expect(media).toMatchObject([{ kind: 'image', mimeType: 'image/png', size: 3 }]);
      expect(await media[0]!.bytes()).toEqual(bytes);
    }
  });

  test('what is at an address is fetched by the application', async () => {
    const url = 'https://example.com/a.png';
    const draw = tool({
      name: 'draw',
      description: 'Draws',
      inputSchema: z.object({}),
      execute: () => toolResult('drawn', { media: [{ kind: 'image', id: 'i', url }] }),
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'draw' }] }, 'There it is']);
    const { media } = await agent({ id: 'a', model, tools: [draw] }).run('draw');
    await expect(media[0]?.bytes()).rejects.toThrow(`The image 'i' is at ${url}: fetch it there.`);
  });

  test('a registered agent reads them from its database', async () => {
    const message = book.write('paint it', picture);
    const { media } = await registered.run(message);
    expect(await media[0]!.bytes()).toEqual(bytes);
  });
});
