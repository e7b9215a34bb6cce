import { expect, test } from 'vitest';
import { forEachDatabase } from '../support/databases.js';
import { until } from '../support/until.js';
import { callTool, type Frame, framesOf, RawClient, slowTool, startMcp, streamed } from './fixture.js';

const progress = { _meta: { progressToken: 'p' } };
const answerOf = (id: number, text: unknown) => ({
  data: { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } },
});

/** Leaves at the first id, which comes when the stream begins. */
async function leftAt(answer: Response): Promise<string> {
  for await (const { id } of streamed(answer)) if (id !== undefined) return id;
  throw new Error('The stream ended without an id.');
}

forEachDatabase((dialect, freshPlace) => {
  test('a restart loses neither the session nor the answer: the request finds its run again', async () => {
    const place = await freshPlace();
    const slow = slowTool();
    const first = await startMcp(slow, { database: place.url });
    const client = new RawClient(first.url);
    await client.connect();
    const lastId = await leftAt(await client.post(callTool(7, 'slow', progress)));
    await first.stop();

    const later = slowTool();
    const second = await startMcp(later, { database: place.url });
    client.at(second.url);
    const resumed = await client.resume(lastId);
    expect(resumed.status).toBe(200);
    await until('the request is dispatched again', () => later.calls.length === 1);
    const [before, again] = [slow.calls[0], later.calls[0]];
    expect([before?.isRepeated, again?.isRepeated]).toEqual([false, true]);
    expect(again?.runId).toBe(before?.runId);
    later.answer.open('done');
    const rest = await framesOf(resumed);
    // what was sent before the client left had no id
    const reported = rest.flatMap(({ data }) => data?.params?.progress ?? []);
    expect(reported).toEqual([0, 1]);
    expect(rest.at(-1)).toMatchObject(answerOf(7, `done of ${before?.runId}`));
    // once more, from what was stored
    expect((await framesOf(await client.resume(lastId))).filter(({ data }) => data !== undefined)).toEqual(
      rest.filter(({ data }) => data !== undefined),
    );
    expect(await framesOf(await client.resume(rest.at(-1)?.id ?? ''))).toEqual([]);
    expect(later.calls).toHaveLength(1);
  });

  test('a stream is resumed while the request is in progress, and only by its session', async () => {
    const { url: database } = await freshPlace();
    const slow = slowTool();
    const { url } = await startMcp(slow, { database });
    const [client, other] = [new RawClient(url), new RawClient(url)];
    await Promise.all([client.connect(), other.connect()]);
    const lastId = await leftAt(await client.post(callTool(1, 'slow')));
    const stranger = await other.resume(lastId);
    expect(stranger.status).toBe(400);
    expect(await stranger.json()).toMatchObject({
      error: { message: 'Bad Request: The event id is unknown. Send the request again.' },
    });
    const resumed = await client.resume(lastId);
    slow.answer.open('done');
    expect((await framesOf(resumed)).at(-1)).toMatchObject(answerOf(1, expect.stringMatching(/^done of /)));
    expect(slow.calls).toHaveLength(1);
  });

  test('a client that left before the answer finds it', async () => {
    const place = await freshPlace();
    const slow = slowTool();
    const { url } = await startMcp(slow, { database: place.url });
    const client = new RawClient(url);
    await client.connect();
    const lastId = await leftAt(await client.post(callTool(1, 'slow')));
    const { query } = await place.open();
    const stored = () => query.selectFrom('mcp_requests').select('request_key').executeTakeFirst();
    await until('the request is stored', stored);
    slow.answer.open('done');
    const frames = await framesOf(await client.resume(lastId));
    expect(frames.at(-1)).toMatchObject(answerOf(1, expect.stringMatching(/^done of /)));
    expect(slow.calls).toHaveLength(1);
  });

  test('an answer that was written, but not read, is there for the client that comes back', async () => {
    const { url: database } = await freshPlace();
    const slow = slowTool();
    slow.answer.open('done');
    const { url } = await startMcp(slow, { database });
    const client = new RawClient(url);
    await client.connect();
    const written = await framesOf(await client.post(callTool(1, 'slow')));
    const expected = answerOf(1, expect.stringMatching(/^done of /));
    expect(written.at(-1)).toMatchObject(expected);
    expect((await framesOf(await client.resume(written[0]?.id ?? ''))).at(-1)).toMatchObject(expected);
    expect(slow.calls).toHaveLength(1);
  });

  test('a position beyond the last event ends with the answer', async () => {
    const { url: database } = await freshPlace();
    const slow = slowTool();
    const { url } = await startMcp(slow, { database });
    const client = new RawClient(url);
    await client.connect();
    const lastId = await leftAt(await client.post(callTool(1, 'slow')));
    const resumed = await client.resume(lastId.replace(/_.*/, '_999999999'));
    slow.answer.open('done');
    await framesOf(resumed);
  });

  test('what a process asked before it stopped is not the question of the next one', async () => {
    const { url: database } = await freshPlace();
    const first = await startMcp(slowTool(), { database });
    const client = new RawClient(first.url);
    await client.connect('2025-11-25', { elicitation: {} });
    const earlier = await nextMessage(streamed(await client.post(callTool(1, 'ask'))));
    await first.stop();
    client.at((await startMcp(slowTool(), { database })).url);
    const asking = streamed(await client.resume(`${earlier.id.slice(0, 36)}_1`));
    const question = await nextMessage(asking);
    expect(question.method).toBe('elicitation/create');
    for (const [id, name] of [
      [earlier.id, 'Eve'],
      [question.id, 'Ada'],
    ])
      await client.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name } } });
    expect(await nextMessage(asking)).toMatchObject(answerOf(1, 'accept Ada').data);
  });

  test('a request that is cancelled after its process stopped is cancelled where the client is', async () => {
    const { url: database } = await freshPlace();
    const first = await startMcp(slowTool(), { database });
    const client = new RawClient(first.url);
    await client.connect();
    const lastId = await leftAt(await client.post(callTool(1, 'slow')));
    await first.stop();
    const later = slowTool();
    client.at((await startMcp(later, { database })).url);
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    expect((await framesOf(await client.resume(lastId))).at(-1)?.data).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: 0, message: 'Request cancelled' },
    });
    expect(later.calls).toMatchObject([{ isRepeated: true, cancelled: { aborted: true } }]);
  });

  if (dialect === 'sqlite') return;

  test('any process answers: it follows a request that another one serves', async () => {
    const { url: database } = await freshPlace();
    const slow = slowTool();
    const [one, two] = [await startMcp(slow, { database }), await startMcp(slowTool(), { database })];
    const client = new RawClient(one.url);
    await client.connect();
    const lastId = await leftAt(await client.post(callTool(1, 'slow')));
    client.at(two.url);
    expect((await framesOf(await client.post(callTool(2, 'quick')))).at(-1)).toMatchObject(
      answerOf(2, 'quick for null'),
    );
    const resumed = await untilKnown(() => client.resume(lastId));
    slow.answer.open('done');
    expect((await framesOf(resumed)).at(-1)).toMatchObject(answerOf(1, `done of ${slow.calls[0]?.runId}`));
  });

  test('a request whose process is gone is taken over by one, and that process is heard no longer', async () => {
    const place = await freshPlace();
    const slow = slowTool();
    const client = new RawClient((await startMcp(slow, { database: place.url })).url);
    await client.connect();
    const lastId = await leftAt(await client.post(callTool(1, 'slow')));
    const database = await place.open();
    await until('the lease of the stored request is ended', async () => {
      const stored = database.query.updateTable('mcp_requests').set({ lease_until: 0 });
      return (await stored.executeTakeFirst()).numUpdatedRows > 0n;
    });
    const later = slowTool();
    client.at((await startMcp(later, { database: place.url })).url);
    const resumed = [await client.resume(lastId), await client.resume(lastId)];
    await until('the request is taken over', () => later.calls.length > 0);
    slow.answer.open('late');
    later.answer.open('done');
    for (const answer of resumed)
      expect((await framesOf(answer)).at(-1)).toMatchObject(answerOf(1, `done of ${slow.calls[0]?.runId}`));
    expect(later.calls).toHaveLength(1);
  });

  test('what a client left for the process that took a request over is not taken by the one before', async () => {
    const place = await freshPlace();
    const [one, two] = [
      await startMcp(slowTool(), { database: place.url }),
      await startMcp(slowTool(), { database: place.url }),
    ];
    const client = new RawClient(one.url);
    await client.connect('2025-11-25', { elicitation: {} });
    const asking = streamed(await client.post(callTool(1, 'ask')));
    const question = await nextMessage(asking);
    const { query } = await place.open();
    await until('another process serves the stored request', async () => {
      const stored = query.updateTable('mcp_requests').set({ lease_owner: 'another' });
      return (await stored.executeTakeFirst()).numUpdatedRows > 0n;
    });
    client.at(two.url);
    const result = { action: 'accept', content: { name: 'Ada' } };
    await client.post({ jsonrpc: '2.0', id: question.id, result });
    for await (const { data } of asking) expect(data).toBeUndefined();
    expect(await query.selectFrom('mcp_inbox').select('message').execute()).toHaveLength(1);
  });

  test('answers to questions and cancellations reach the process that serves the request', async () => {
    const { url: database } = await freshPlace();
    const slow = slowTool();
    const [one, two] = [await startMcp(slow, { database }), await startMcp(slowTool(), { database })];
    const client = new RawClient(one.url);
    await client.connect('2025-11-25', { elicitation: {} });
    const asking = streamed(await client.post(callTool(1, 'ask')));
    const cancelled = streamed(await client.post(callTool(2, 'slow')));
    const question = await nextMessage(asking);
    expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Who?' } });
    expect((await cancelled.next()).value?.id).toBeDefined();
    client.at(two.url);
    const answered = await client.post({
      jsonrpc: '2.0',
      id: question.id,
      result: { action: 'accept', content: { name: 'Ada' } },
    });
    expect(answered.status).toBe(202);
    const params = { requestId: 2, reason: 'enough' };
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    expect(await nextMessage(asking)).toMatchObject(answerOf(1, 'accept Ada').data);
    expect(await nextMessage(cancelled)).toEqual({
      jsonrpc: '2.0',
      id: 2,
      error: { code: 0, message: 'Request cancelled' },
    });
    expect(slow.calls[0]?.cancelled).toMatchObject({ aborted: true, reason: 'enough' });
    // a session that ends in one process has ended in all
    client.at(one.url);
    const own = await client.request('GET', { accept: 'text/event-stream' });
    client.at(two.url);
    await client.request('DELETE');
    expect(await framesOf(own)).toEqual([]);
    client.at(one.url);
    await until(
      'the session is unknown',
      async () => (await client.post(callTool(3, 'quick'))).status === 404,
    );
  });
});

/** Another process knows the request when the one that serves it has stored it. */
function untilKnown(resume: () => Promise<Response>): Promise<Response> {
  return until('the request is stored', async () => {
    const answer = await resume();
    return answer.status === 200 && answer;
  });
}

async function nextMessage(stream: AsyncGenerator<Frame>) {
  for (;;) {
    const { value, done } = await stream.next();
    if (done) throw new Error('The stream has ended.');
    if (value.data !== undefined) return value.data;
  }
}
