import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, step, team, tool, workflow } from '../../runyard/src/index.js';
import { ScriptBook } from '../../runyard/test/support/providers/script-book.js';
import { TestService } from '../../runyard/test/support/service.js';
import { gate, until } from '../../runyard/test/support/until.js';
import {
  type ClientOptions,
  ConflictError,
  createClient,
  ForbiddenError,
  InvalidRequestError,
  NetworkError,
  NotFoundError,
  type RunyardClient,
} from '../src/index.js';

const book = new ScriptBook();
let refunds = 0;

const refund = tool({
  name: 'refund',
  description: 'Refunds',
  inputSchema: z.object({ euros: z.number() }),
  requiresConfirmation: true,
  execute: ({ euros }) => {
    refunds += 1;
    return `refunded ${euros}`;
  },
});

let service: TestService;
let client: RunyardClient;

beforeAll(async () => {
  const clerk = agent({ id: 'clerk', model: book.model, tools: [refund] });
  service = await TestService.start({
    agents: [clerk, agent({ id: 'reader', model: 'offline' })],
    teams: [team({ id: 'desk', model: book.model, members: [clerk] })],
    workflows: [
      workflow({
        id: 'letters',
        steps: [
          step({ name: 'write', agent: clerk }),
          step({ name: 'send', run: () => 'sent', review: { requiresConfirmation: true } }),
        ],
      }),
    ],
    routes: (server) => void server.post('/own', (request) => ({ got: request.body })),
  });
  client = createClient({ baseUrl: `${service.url}/` });
});

afterAll(() => service.stop());

/** A client whose requests are recorded, and whose responses are lost when the test says so. */
function watched(
  isLost: (method: string, path: string, count: number) => boolean,
  options?: Partial<ClientOptions>,
) {
  const sent: string[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const line = `${init?.method} ${new URL(String(url)).pathname}`;
    sent.push(line);
    const response = await globalThis.fetch(url, init);
    if (!isLost(init?.method ?? '', line, sent.filter((one) => one === line).length)) return response;
    await response.body?.cancel();
    throw new TypeError('the network changed');
  };
  return { sent, client: createClient({ baseUrl: service.url, fetch, ...options }) };
}

const paused = (message: string) =>
  book.write(message, { toolCalls: [{ name: 'refund', arguments: { euros: 20 } }] }, 'Done.');

describe('runs', () => {
  test('a run is returned when it has ended', async () => {
    const run = await client.agents.run('clerk', { message: 'Hello', session_id: 'greetings' });
    expect(run).toMatchObject({ status: 'completed', content: 'Answer to: Hello', session_id: 'greetings' });
  });

  test('a stream has the events in their order, its ids from the start, and the run at its end', async () => {
    const message = book.write('In pieces', { chunks: ['one ', 'two ', 'three'] });
    const stream = client.agents.stream('clerk', { message });
    const { runId, sessionId } = stream;
    let text = '';
    const indices: number[] = [];
    for await (const event of stream) {
      expect(event).toMatchObject({ run_id: runId, session_id: sessionId });
      indices.push(event.event_index);
      if (event.event === 'RunContent') text += event.content;
    }
    expect(text).toBe('one two three');
    expect(indices).toEqual(indices.map((_index, at) => at));
    expect(await stream.result()).toMatchObject({ run_id: runId, content: 'one two three' });
    // it has ended: there is nothing more to read
    for await (const event of stream) expect.unreachable(event.event);
  });

  test('a loop that was left continues where it was, and a stream is read once at a time', async () => {
    const more = gate();
    const message = book.write('Left', { chunks: ['one', more.opened, 'two'] });
    const stream = client.agents.stream('clerk', { message });
    const seen: number[] = [];
    for await (const event of stream) {
      seen.push(event.event_index);
      if (event.event === 'RunContent' && event.content === 'one') break;
    }
    const rest = (async () => {
      for await (const event of stream) {
        seen.push(event.event_index);
        more.open();
      }
    })();
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('being read already');
    more.open();
    expect((await stream.result()).content).toBe('onetwo');
    await rest;
    expect(seen).toEqual(seen.map((_index, at) => at));
  });

  test('a run in the background is waited for, and followed by another client', async () => {
    const more = gate();
    const message = book.write('Behind', { chunks: ['one', more.opened, 'two'] });
    const started = await client.agents.start('clerk', { message, run_id: 'behind' });
    expect(started.runId).toBe('behind');
    expect(['pending', 'running']).toContain((await client.agents.getRun('clerk', 'behind')).status);
    const other = createClient({ baseUrl: service.url }).agents.follow('clerk', 'behind');
    const names: string[] = [];
    const reading = (async () => {
      for await (const { event } of other) names.push(event);
    })();
    more.open();
    expect((await started.wait()).content).toBe('onetwo');
    await reading;
    expect([names[0], names.at(-1)]).toEqual(['RunStarted', 'RunCompleted']);
    expect(other.sessionId).toBe(started.sessionId);
  });

  test('an aborted stream ends with the reason, and the run continues', async () => {
    const more = gate();
    const message = book.write('Aborted', { chunks: ['one', more.opened, 'two'] });
    const controller = new AbortController();
    const stream = client.agents.stream('clerk', { message }, { signal: controller.signal });
    const reason = new Error('closed the page');
    await expect(
      (async () => {
        for await (const { event } of stream) if (event === 'RunContent') controller.abort(reason);
      })(),
    ).rejects.toBe(reason);
    more.open();
    const run = await client.agents.follow('clerk', stream.runId).result();
    expect(run).toMatchObject({ status: 'completed', content: 'onetwo' });
  });

  test('a cancelled run ends its stream', async () => {
    const message = book.write('Cancelled', { chunks: ['one', new Promise(() => {}), 'two'] });
    const stream = client.agents.stream('clerk', { message });
    const names: string[] = [];
    for await (const { event } of stream) {
      if (event === 'RunContent' && !names.includes(event)) void stream.cancel();
      names.push(event);
    }
    expect(names.slice(-2)).toEqual(['RunCancelled', 'RunCompleted']);
    expect((await stream.result()).status).toBe('cancelled');
    await client.agents.cancel('clerk', stream.runId);
  });
});

describe('answers', () => {
  test('a paused run continues with the answer, and its stream begins there', async () => {
    const stream = client.agents.stream('clerk', { message: paused('Refund 20') });
    let calls: { tool_call_id: string }[] = [];
    for await (const event of stream) if (event.event === 'RunPaused') calls = [...event.tools];
    expect(calls).toHaveLength(1);
    const before = refunds;
    const rest = stream.continue({
      tools: calls.map(({ tool_call_id }) => ({ tool_call_id, confirmed: true })),
    });
    const events = [];
    for await (const event of rest) events.push(event);
    expect(events[0]?.event).toBe('RunContinued');
    expect(events[0]!.event_index).toBe(stream.lastEventIndex + 1);
    expect(await rest.result()).toMatchObject({
      run_id: stream.runId,
      status: 'completed',
      content: 'Done.',
    });
    expect(refunds).toBe(before + 1);
  });

  test('an answer whose response was lost is not given twice', async () => {
    const run = await client.agents.run('clerk', { message: paused('Refund 20, lost') });
    const requirements = run.requirements!.map(({ id }) => ({ id, confirmation: true }));
    const lossy = watched((_method, path, count) => path.endsWith('/continue') && count === 1);
    const before = refunds;
    const stream = lossy.client.agents.continueStream('clerk', run.run_id, { requirements });
    const names = [];
    for await (const { event } of stream) names.push(event);
    expect([names[0], names.at(-1)]).toEqual(['RunContinued', 'RunCompleted']);
    expect((await stream.result()).status).toBe('completed');
    expect(refunds).toBe(before + 1);
  });

  test('an answer that did not arrive is given again', async () => {
    const run = await client.agents.run('clerk', { message: paused('Refund 20, refused') });
    let refused = 0;
    const fetch: typeof globalThis.fetch = (url, init) => {
      if (!String(url).endsWith('/continue') || refused === 1) return globalThis.fetch(url, init);
      refused += 1;
      return Promise.reject(new TypeError('refused'));
    };
    const unlucky = createClient({ baseUrl: service.url, fetch });
    const tools = run.tools!.map((call) => ({ ...call, confirmed: true }));
    expect(await unlucky.agents.continue('clerk', run.run_id, { tools })).toMatchObject({
      status: 'completed',
    });
    expect(refused).toBe(1);
  });

  test('a copy that was asked for and may have begun is not made twice', async () => {
    const run = await client.agents.run('clerk', { message: 'Copied' });
    const lossy = watched((_method, path) => path.endsWith('/continue'));
    const answers = { input: 'And again', session_id: run.session_id };
    await expect(lossy.client.agents.continue('clerk', run.run_id, answers)).rejects.toThrow(NetworkError);
    expect(lossy.sent.filter((line) => line.endsWith('/continue'))).toHaveLength(1);
  });

  test('a copy of a run has its own id and all of its events', async () => {
    const run = await client.agents.run('clerk', { message: 'First' });
    const stream = client.agents.continueStream('clerk', run.run_id, { input: 'Second' });
    const indices: number[] = [];
    for await (const { event_index } of stream) indices.push(event_index);
    expect(indices[0]).toBe(0);
    const copy = await stream.result();
    expect(copy).toMatchObject({
      run_id: stream.runId,
      forked_from_run_id: run.run_id,
      content: 'Answer to: Second',
    });
  });

  test('teams and workflows pause and continue', async () => {
    const asked = book.write('Team, refund', {
      toolCalls: [
        { name: 'delegate_task_to_member', arguments: { member_id: 'clerk', task: paused('Clerk, refund') } },
      ],
    });
    const started = await client.teams.run('desk', { message: asked });
    expect(started).toMatchObject({ status: 'paused', team_id: 'desk' });
    const requirements = started.requirements!.map(({ id }) => ({ id, confirmation: true }));
    expect(await client.teams.continue('desk', started.run_id, { requirements })).toMatchObject({
      status: 'completed',
      run_id: started.run_id,
    });

    const stream = client.workflows.stream('letters', { message: 'Dear all' });
    const names: string[] = [];
    for await (const { event } of stream) names.push(event);
    expect([names[0], names.at(-1)]).toEqual(['WorkflowStarted', 'WorkflowPaused']);
    const { step_requirements } = await stream.result();
    const rest = stream.continue({
      step_requirements: step_requirements!.map(({ step_id }) => ({ step_id, confirmed: true })),
    });
    expect(await rest.result()).toMatchObject({ status: 'completed', content: 'sent', run_id: stream.runId });
  });
});

describe('requests that fail', () => {
  test('a start whose response was lost is one run, in a stream and in the background', async () => {
    const lossy = watched((method, _path, count) => method === 'POST' && count === 1);
    const session_id = 'lost starts';
    const stream = lossy.client.agents.stream('clerk', { message: 'Lost', session_id });
    const indices: number[] = [];
    for await (const { event_index } of stream) indices.push(event_index);
    expect(indices).toEqual(indices.map((_index, at) => at));
    expect(lossy.sent.filter((line) => line === 'POST /agents/clerk/runs')).toHaveLength(2);
    const again = watched((method, _path, count) => method === 'POST' && count === 1);
    await (await again.client.agents.start('clerk', { message: 'Lost', session_id })).wait();
    const runs = await client.agents.listRuns('clerk', { session_id });
    expect(runs.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });

  test('what only reads is repeated; what changes is not', async () => {
    const lossy = watched((_method, _path, count) => count <= 2);
    expect(await lossy.client.service.healthCheck()).toMatchObject({ status: 'ok' });
    expect(lossy.sent).toHaveLength(3);
    await expect(lossy.client.sessions.create({ session_name: 'Once' })).rejects.toThrow(NetworkError);
    expect(lossy.sent).toHaveLength(4);
    await expect(lossy.client.agents.list({ retries: 0 })).rejects.toMatchObject({
      cause: expect.any(TypeError),
    });
  });

  test('errors have classes, the code and the text of the service, and the id of the request', async () => {
    const error = await client.sessions.get('unknown').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({
      status: 404,
      errorCode: 'session_not_found',
      detail: expect.stringContaining('unknown'),
      requestId: expect.stringMatching(/./),
      name: 'NotFoundError',
    });
    await expect(client.agents.run('nobody', { message: 'Hello' })).rejects.toThrow(NotFoundError);
    await client.agents.run('clerk', { message: 'Taken', run_id: 'taken' });
    await expect(client.agents.run('clerk', { message: 'Taken', run_id: 'taken' })).rejects.toThrow(
      ConflictError,
    );
    const invalid = await client.traces.list({ limit: -1 }).catch((thrown: unknown) => thrown);
    expect(invalid).toBeInstanceOf(InvalidRequestError);
    expect(invalid).toMatchObject({ faults: [{ loc: ['query', 'limit'] }] });
    const foreign = createClient({ baseUrl: service.url, headers: { origin: 'https://evil.example' } });
    await expect(foreign.sessions.create({})).rejects.toThrow(ForbiddenError);
    await expect(
      client.agents.run('clerk', { message: 'Hello' }, { signal: AbortSignal.abort('no') }),
    ).rejects.toBe('no');
  });

  test('an id that leads elsewhere is refused before anything is sent', async () => {
    for (const id of ['', '.', '..']) expect(() => client.sessions.delete(id)).toThrow(TypeError);
    await expect(client.agents.run('..', { message: 'Hello' })).rejects.toThrow(TypeError);
  });

  test.each(['a/b', '...', 'ü 🚀 %2F?x#y', '__proto__'])(
    'the id %s finds its run and session',
    async (id) => {
      const run = await client.agents.run('clerk', { message: 'Hello', run_id: id, session_id: id });
      expect(run).toMatchObject({ run_id: id, session_id: id, status: 'completed' });
      expect(await client.sessions.get(id)).toMatchObject({ session_id: id });
    },
  );
});

describe('everything else', () => {
  test('operations of all kinds are reached: lists, bodies with a query, deletions, lines, own routes', async () => {
    const { session_id } = await client.sessions.create(
      { session_name: 'Plans' },
      { query: { type: 'agent' } },
    );
    await client.sessions.rename(session_id, { session_name: 'Größere Pläne & mehr' });
    const { data, meta } = await client.sessions.list({ session_name: 'Größere Pläne & mehr', limit: 5 });
    expect(data.map((session) => session.session_id)).toEqual([session_id]);
    expect(meta.total_count).toBe(1);
    expect(await client.sessions.delete(session_id)).toBeUndefined();

    const { id } = await client.datasets.create({ name: 'Cases' });
    const file = new File(['{"input":"one"}\n{"input":"two"}\n'], 'cases.jsonl', {
      type: 'application/jsonl',
    });
    const progress: number[] = [];
    const onUploadProgress = ({ loaded, total }: { loaded: number; total: number }) =>
      progress.push(loaded / total);
    expect(await client.datasets.importCases(id, { file: [file] }, { onUploadProgress })).toMatchObject({
      added: 2,
    });
    expect(progress.at(-1)).toBe(1);
    const lines = (await client.datasets.exportCases(id)).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).input)).toEqual(['one', 'two']);
    expect(await client.request('POST', '/own', { body: { order: 1001 } })).toEqual({ got: { order: 1001 } });
  });

  test('files are sent with a run, and progress is reported', async () => {
    const note = new File(['The launch is on Friday.'], 'note.txt', { type: 'text/plain' });
    const input = { message: 'What does the file say?', files: [note], metadata: { from: 'a test' } };
    const run = await client.agents.run('reader', input);
    expect(run).toMatchObject({ content: expect.stringContaining('Friday'), metadata: { from: 'a test' } });
    const large = new File(['.'.repeat(300_000)], 'large.txt', { type: 'text/plain' });
    const reports: { loaded: number; total: number }[] = [];
    const options = { onUploadProgress: (report: { loaded: number; total: number }) => reports.push(report) };
    const stream = client.agents.stream('reader', { message: 'And this one?', files: [large] }, options);
    const indices: number[] = [];
    for await (const { event_index } of stream) indices.push(event_index);
    expect(indices[0]).toBe(0);
    expect((await stream.result()).status).toBe('completed');
    expect(reports.at(-1)).toEqual({ loaded: 300_000, total: 300_000 });
    const loaded = reports.map((report) => report.loaded);
    expect(loaded).toEqual(loaded.toSorted((left, right) => left - right));
  });

  test('the events of a job are followed to its end', async () => {
    const scorer = {
      name: 'Answers',
      agent_id: 'clerk',
      eval_type: 'reliability' as const,
      input: 'Hello',
      expected_tool_calls: [],
    };
    const { id } = await client.evals.run({ ...scorer, background: true });
    const names: string[] = [];
    for await (const { event } of client.evals.followEvents(id)) names.push(event);
    expect([names[0], names.at(-1)]).toEqual(['JobStarted', 'JobCompleted']);
    await until('it is stored', async () => (await client.evals.get(id)).status !== 'running');
  });
});
