import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { answered, payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';

const unresolved =
  'Run has unresolved HITL requirements. Provide the `requirements` parameter (or resolve an admin approval first).';

const book = new ScriptBook();
const { agent: payer, paid } = payingAgent(book, 'payer');
let service: TestService;
let life: RunLife;

beforeAll(async () => {
  const other = agent({ id: 'other', model: book.model });
  service = await TestService.start({ agents: [payer, other] });
  life = new RunLife(service, 'payer');
});
afterAll(() => service.stop());

const paidIn = (runId: string) => paid.filter((payment) => payment.runId === runId).map(({ cents }) => cents);

/** A run that waits for the confirmation of a payment. */
async function waiting(message: string, ...cents: number[]): Promise<Body> {
  book.write(message, { toolCalls: cents.map((amount) => payCall(amount)) }, { text: 'all done' });
  const run = await life.start({ message });
  expect(run.status).toBe('paused');
  return run;
}

describe('a paused run', () => {
  test('shows what it waits for, in its body, its stored copy and the list', async () => {
    const run = await waiting('show me', 7);
    const { body: listed } = await service.get(`/agents/payer/runs?session_id=${run.session_id}`);
    for (const body of [run, await life.stored(run.run_id), listed[0]]) {
      expect(body).toMatchObject({
        status: 'paused',
        content: expect.stringContaining("'pay'"),
        tools: [
          { tool_call_id: 'pay-7', tool_args: { cents: 7 }, requires_confirmation: true, confirmed: null },
        ],
        requirements: [{ id: expect.any(String), tool_execution: { tool_call_id: 'pay-7', result: null } }],
      });
    }
  });

  test.each([
    ['tools', (run: Body) => ({ tools: answered(run, { 'pay-7': { confirmed: true } }) })],
    [
      'requirements',
      (run: Body) => ({
        requirements: run.requirements.map((one: Body) => ({ ...one, confirmation: true })),
      }),
    ],
    [
      'the call inside a requirement',
      (run: Body) => ({
        requirements: [{ tool_execution: { ...run.tools[0], confirmed: true } }],
      }),
    ],
  ])('resumes with the answers in %s', async (name, form) => {
    const run = await waiting(`answers in ${name}`, 7);
    const { status, body } = await life.continue(run.run_id, form(run));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      run_id: run.run_id,
      session_id: run.session_id,
      status: 'completed',
      content: 'all done',
      tools: [{ tool_call_id: 'pay-7', result: 'paid 7', confirmed: true }],
      requirements: [{ confirmation: true }],
    });
    expect(body.events.map(({ event }: Body) => event)).toContain('RunContinued');
    expect(paidIn(run.run_id)).toEqual([7]);
  });

  test('resumes with the result of a call that the client executes', async () => {
    const message = 'run a command';
    const call = { id: 'shell-1', name: 'shell', arguments: '{}', client: 'execution' } as const;
    book.write(message, { toolCalls: [call] }, { text: 'listed' });
    const run = await life.start({ message });
    expect(run).toMatchObject({
      status: 'paused',
      tools: [
        { tool_call_id: 'shell-1', tool_name: 'shell', external_execution_required: true, result: null },
      ],
    });
    const { body } = await life.continue(run.run_id, {
      tools: answered(run, { 'shell-1': { result: 'a.txt' } }),
    });
    expect(body).toMatchObject({ status: 'completed', content: 'listed', tools: [{ result: 'a.txt' }] });
  });

  test('resumes in a stream that begins with RunContinued', async () => {
    const run = await waiting('streamed on', 8);
    const before = (await life.stored(run.run_id)).events.at(-1).event_index;
    const tools = answered(run, { 'pay-8': { confirmed: true } });
    const stream = await (await life.continueStreamed(run.run_id, { tools })).end();
    expect(stream.names[0]).toBe('RunContinued');
    expect(stream.names.at(-1)).toBe('RunCompleted');
    expect(stream.names).toEqual(expect.arrayContaining(['ToolCallStarted', 'ToolCallCompleted']));
    expect(stream.events.map(({ event_index }) => event_index)).toEqual(
      stream.events.map((_, position) => before + 1 + position),
    );
    expect(stream.response.headers.get('x-run-id')).toBe(run.run_id);
  });

  test('resumes in the background, with 202', async () => {
    const run = await waiting('on in the background', 9);
    const tools = answered(run, { 'pay-9': { confirmed: true } });
    const { status, body } = await life.continue(run.run_id, { tools, stream: undefined, background: true });
    expect(status).toBe(202);
    expect(Object.keys(body).sort()).toEqual(['run_id', 'session_id', 'status']);
    expect(body).toMatchObject({ run_id: run.run_id, session_id: run.session_id });
    expect(['pending', 'running']).toContain(body.status);
    expect(await life.rested(run.run_id)).toMatchObject({ status: 'completed', content: 'all done' });
    expect(paidIn(run.run_id)).toEqual([9]);
  });

  test('reports to the model that its call was rejected, and why', async () => {
    const run = await waiting('rejected', 10);
    const tools = answered(run, { 'pay-10': { confirmed: false, confirmation_note: 'too much' } });
    const { body } = await life.continue(run.run_id, { tools });
    expect(body).toMatchObject({ status: 'completed', tools: [{ confirmed: false }] });
    expect(body.messages.find(({ role }: Body) => role === 'tool').content).toContain('too much');
    expect(paidIn(run.run_id)).toEqual([]);
  });

  test('takes what a person filled in, and what came of a call outside', async () => {
    book.write(
      'a form and a call outside',
      {
        toolCalls: [
          { name: 'reserve', arguments: { train: 'ICE' }, id: 'reserve' },
          { name: 'fetch', arguments: { url: 'http://x' }, id: 'fetch' },
        ],
      },
      { text: 'done' },
    );
    const run = await life.start({ message: 'a form and a call outside' });
    const [reserve] = run.tools;
    expect(reserve.user_input_schema).toEqual([
      { name: 'seat', field_type: 'float', description: 'Which seat', value: null },
    ]);
    const { body } = await life.continue(run.run_id, {
      tools: answered(run, {
        reserve: { user_input_schema: [{ ...reserve.user_input_schema[0], value: 4 }] },
        fetch: { result: 'a page' },
      }),
    });
    expect(body.status).toBe('completed');
    expect(body.tools.map(({ result }: Body) => result)).toEqual(['ICE seat 4', 'a page']);
  });

  test('is not answered by an empty continue, and stays paused', async () => {
    const run = await waiting('empty', 11);
    for (const form of [{}, { tools: [] }, { tools: run.tools }, { input: 'go on' }]) {
      for (const stream of [false, true]) {
        const { status, body } = await life.continue(run.run_id, { ...form, stream });
        expect([status, body.detail]).toEqual([400, unresolved]);
      }
    }
    expect((await life.stored(run.run_id)).status).toBe('paused');
    expect(paidIn(run.run_id)).toEqual([]);
  });

  test('executes what the model asked for, whatever the request says about it', async () => {
    const run = await waiting('changed', 12);
    const changed = { confirmed: true, tool_name: 'fetch', tool_args: { cents: 999_999 } };
    const { body } = await life.continue(run.run_id, { tools: answered(run, { 'pay-12': changed }) });
    expect(body).toMatchObject({ status: 'completed', tools: [{ tool_name: 'pay', result: 'paid 12' }] });
    expect(paidIn(run.run_id)).toEqual([12]);
  });

  test('executes what is answered and waits for the rest', async () => {
    const run = await waiting('one by one', 13, 14);
    const first = [{ tool_call_id: 'pay-13', confirmed: true }];
    const { status, body: partly } = await life.continue(run.run_id, { tools: first });
    expect(status).toBe(200);
    expect(partly).toMatchObject({
      status: 'paused',
      tools: [
        { tool_call_id: 'pay-13', result: 'paid 13' },
        { tool_call_id: 'pay-14', result: null },
      ],
    });
    expect(paidIn(run.run_id)).toEqual([13]);
    // the same answer again is refused
    expect((await life.continue(run.run_id, { tools: first })).status).toBe(400);
    const tools = answered(partly, { 'pay-14': { confirmed: true } });
    const { body: whole } = await life.continue(run.run_id, { tools });
    expect(whole).toMatchObject({ status: 'completed', content: 'all done' });
    expect(paidIn(run.run_id)).toEqual([13, 14]);
  });

  test('can pause a second time, for another call', async () => {
    const message = 'twice';
    book.write(message, { toolCalls: [payCall(15)] }, { toolCalls: [payCall(16)] }, { text: 'done' });
    const run = await life.start({ message });
    const tools = answered(run, { 'pay-15': { confirmed: true } });
    const { body: again } = await life.continue(run.run_id, { tools });
    expect(again).toMatchObject({ status: 'paused', tools: [{ result: 'paid 15' }, { result: null }] });
    // the whole list comes back: what was answered before is not executed again
    const whole = answered(again, { 'pay-15': { confirmed: true }, 'pay-16': { confirmed: true } });
    const { body } = await life.continue(run.run_id, { tools: whole });
    expect(body).toMatchObject({ status: 'completed', content: 'done' });
    expect(paidIn(run.run_id)).toEqual([15, 16]);
  });

  test('that was confirmed does not execute its call again', async () => {
    const run = await waiting('again', 17);
    const tools = answered(run, { 'pay-17': { confirmed: true } });
    expect((await life.continue(run.run_id, { tools })).body.status).toBe('completed');
    for (const stream of [false, true]) {
      const { status, body } = await life.continue(run.run_id, { tools, stream });
      expect([status, body.error_code]).toEqual([409, 'cannot_continue']);
    }
    expect(paidIn(run.run_id)).toEqual([17]);
  });

  test('executes once however many continue it at the same time', async () => {
    const run = await waiting('at once', 18);
    const tools = answered(run, { 'pay-18': { confirmed: true } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => life.continue(run.run_id, { tools })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(paidIn(run.run_id)).toEqual([18]);
  });

  test('continues with what the user says next, and with other options', async () => {
    const run = await waiting('more to say', 19);
    const tools = answered(run, { 'pay-19': { confirmed: true } });
    const { body } = await life.continue(run.run_id, { tools, input: 'and be quick', metadata: { m: 1 } });
    expect(body).toMatchObject({ status: 'completed', metadata: { m: 1 } });
    expect(body.messages.map(({ role }: Body) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
    ]);
    expect(body.messages[3].content).toBe('and be quick');
  });

  test('can be left as it is while a copy continues', async () => {
    const run = await waiting('left behind', 20);
    const { status, body } = await life.continue(run.run_id, { fork: true, input: 'never mind' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ forked_from_run_id: run.run_id, status: 'completed' });
    expect(body.run_id).not.toBe(run.run_id);
    expect((await life.stored(run.run_id)).status).toBe('paused');
  });
});

describe('a continue is refused', () => {
  const refusals: [string, Body, string | RegExp][] = [
    ['tools that are no JSON', { tools: '{oops' }, 'Invalid JSON in tools field'],
    ['requirements that are no JSON', { requirements: '[' }, 'Invalid JSON in requirements field'],
    ['tools that are no list', { tools: '{}' }, /^Invalid structure or content for tools: /],
    ['a tool that is no object', { tools: '[1]' }, /^Invalid structure or content for tools: /],
    ['a tool without its id', { tools: [{ confirmed: true }] }, /^Invalid structure or content for tools: /],
    [
      'a word that is no boolean',
      { tools: [{ tool_call_id: 'pay-30', confirmed: 'yes' }] },
      /^Invalid structure or content for tools: /,
    ],
    [
      'a form with keys missing',
      { tools: [{ tool_call_id: 'pay-30', user_input_schema: [{ name: 'seat', value: 1 }] }] },
      /^Invalid structure or content for tools: .*field_type/,
    ],
    ['an unknown call', { tools: [{ tool_call_id: 'nobody', confirmed: true }] }, /'nobody'/],
    ['an unknown requirement', { requirements: [{ id: 'nothing', confirmation: true }] }, /'nothing'/],
    [
      'two answers to one call',
      {
        tools: [{ tool_call_id: 'pay-30', confirmed: true }],
        requirements: [{ tool_execution: { tool_call_id: 'pay-30', confirmed: false } }],
      },
      /answered twice/,
    ],
    ['a bad continue_from', { continue_from: 'middle' }, /continue_from 'middle'/],
    ['a negative continue_from', { continue_from: -1 }, /continue_from '-1'/],
    ['regenerate with fork', { regenerate: true, fork: true }, /regenerate .* fork/],
    ['regenerate with a number', { regenerate: true, continue_from: 1 }, /numeric continue_from/],
    ['replace_original alone', { replace_original: true }, /replace_original needs regenerate/],
    [
      'input with additional_instructions',
      { regenerate: true, input: 'a', additional_instructions: 'b' },
      /either input or additional_instructions/,
    ],
    [
      'additional_instructions alone',
      { additional_instructions: 'b' },
      /additional_instructions needs regenerate/,
    ],
    [
      'answers with fork',
      { fork: true, tools: [{ tool_call_id: 'pay-30', confirmed: true }] },
      /cannot be combined/,
    ],
    [
      'answers with continue_from',
      { continue_from: 'last_user', tools: [{ tool_call_id: 'pay-30', confirmed: true }] },
      /cannot be combined/,
    ],
  ];

  test.each(refusals)('with %s, streamed or not', async (name, form, detail) => {
    const run = await waiting(`refused: ${name}`, 30);
    for (const stream of [false, true]) {
      const { status, body } = await life.continue(run.run_id, { ...form, stream });
      expect([status, body.detail]).toEqual([
        400,
        typeof detail === 'string' ? detail : expect.stringMatching(detail),
      ]);
    }
    expect((await life.stored(run.run_id)).status).toBe('paused');
    expect(paidIn(run.run_id)).toEqual([]);
  });

  test('for a run that does not exist, or not for this request', async () => {
    const run = await waiting('hidden', 31);
    const tools = answered(run, { 'pay-31': { confirmed: true } });
    const elsewhere = new RunLife(service, 'other');
    const answers = [
      await life.continue('unknown', { tools }),
      await life.continue('unknown', { tools, stream: true }),
      await life.continue(run.run_id, { tools, session_id: 'another' }),
      await elsewhere.continue(run.run_id, { tools }),
    ];
    for (const { status, body } of answers) expect([status, body.detail]).toEqual([404, 'Run not found']);
    expect((await life.get('unknown')).status).toBe(404);
    expect(paidIn(run.run_id)).toEqual([]);
  });

  test('for a cancelled run, streamed or not', async () => {
    const run = await waiting('cancelled before', 32);
    await life.cancel(run.run_id);
    const tools = answered(run, { 'pay-32': { confirmed: true } });
    for (const stream of [false, true]) {
      const { status, body } = await life.continue(run.run_id, { tools, stream });
      expect([status, body.detail]).toEqual([409, `Cannot continue run ${run.run_id}: run is cancelled`]);
    }
    expect(paidIn(run.run_id)).toEqual([]);
  });
});
