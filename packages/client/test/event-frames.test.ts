import { expect, test } from 'vitest';
import { type AgentEvent, createClient, RunyardError } from '../src/index.js';
import { frame, respondWith, ScriptedService, stream } from './support/scripted-service.js';

/** A client for which each response of a stream has come in these pieces. */
function receiving(...responses: readonly (readonly Uint8Array[])[]) {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (url) => {
    const pieces = responses[asked.length];
    asked.push(new URL(String(url)).search);
    if (!pieces) return new Response(null, { status: 204 });
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    return new Response(body, { headers: stream });
  };
  return { asked, client: createClient({ baseUrl: 'http://service', fetch }) };
}

const bytes = (text: string) => new TextEncoder().encode(text);

async function eventsOf(...responses: readonly (readonly Uint8Array[])[]): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of receiving(...responses).client.agents.follow('a', 'r')) events.push(event);
  return events;
}

const started = frame(0, 'RunStarted');
const content = frame(1, 'RunContent', { content: 'Größe 🚀' });
const completed = frame(2, 'RunCompleted');
const whole = started + content + completed;

test.each([
  ['LF', whole],
  ['CRLF', whole.replaceAll('\n', '\r\n')],
  ['CR', whole.replaceAll('\n', '\r')],
  ['a byte order mark', `\uFEFF${whole}`],
  ['data on several lines', whole.replaceAll(',"', ',\ndata: "')],
  ['no space after the colon', whole.replaceAll(/^(\w+): /gm, '$1:')],
  [
    'comments, a reconnection time, unknown fields and frames without data',
    `: hello\n\nretry: 1\n\nretry\n\n: heartbeat\n\n${started}__proto__: x\nconstructor: y\nid: 7\n\n${content}: x\n${completed}`,
  ],
  ['an id without data, which is not that of the next frame', `id: 7\n\ndata: {}\n\n${whole}`],
  [
    'announcements, and ids that are no index',
    `event: subscribed\ndata: {}\n\nid: x\ndata: {"event":"RunError"}\n\nid: -1\ndata: {}\n\n${whole}`,
  ],
])('events are read with %s, wherever the pieces are divided', async (_name, text) => {
  const all = bytes(text);
  const expected = [started, content, completed].map((one) => JSON.parse(one.slice(one.indexOf('{'))));
  expect(await eventsOf([all])).toEqual(expected);
  const single = Array.from(all, (byte) => [Uint8Array.of(byte), new Uint8Array()]);
  expect(await eventsOf(single.flat())).toEqual(expected);
  for (let at = 1; at < all.length; at += 1)
    expect(await eventsOf([all.subarray(0, at), all.subarray(at)]), `divided at ${at}`).toEqual(expected);
});

test('an event that was cut off comes whole with the next connection, also if it was cut in a character', async () => {
  const cuts = bytes(started + content);
  const rocket = cuts.lastIndexOf(0xf0);
  for (const end of [bytes(started).length + 10, rocket + 2, cuts.length - 1]) {
    const { client, asked } = receiving([cuts.subarray(0, end)], [bytes(content + completed)]);
    const texts: unknown[] = [];
    for await (const event of client.agents.follow('a', 'r'))
      texts.push(event.event === 'RunContent' ? event.content : event.event);
    expect(texts).toEqual(['RunStarted', 'Größe 🚀', 'RunCompleted']);
    expect(asked.slice(0, 2)).toEqual(['?last_event_index=-1', '?last_event_index=0']);
  }
});

test('each index is read once, in increasing order', async () => {
  const repeated = [started, started, content, started, content, completed, content, completed].join('');
  const events = await eventsOf([bytes(repeated)], [bytes(repeated)]);
  expect(events.map(({ event_index }) => event_index)).toEqual([0, 1, 2]);
});

test('events that may follow the last one are read if the service says that it could not send all', async () => {
  const cut = `${started}${frame(1, 'RunPaused')}event: error\ndata: {"error_code":"token_expired"}\n\n`;
  const rest = frame(2, 'RunContinued') + frame(3, 'RunCompleted');
  const events = await eventsOf([bytes(cut)], [bytes(rest)]);
  expect(events.map(({ event }) => event)).toEqual([
    'RunStarted',
    'RunPaused',
    'RunContinued',
    'RunCompleted',
  ]);
});

test.each(['RunCompleted', 'RunError', 'RunPaused'])(
  'after %s of the run, nothing is asked for',
  async (last) => {
    for (const prefix of ['', 'Team']) {
      const { client, asked } = receiving([bytes(started + frame(1, prefix + last))]);
      for await (const { event_index } of client.teams.follow('a', 'r')) expect(event_index).toBeLessThan(2);
      expect(asked).toEqual(['?last_event_index=-1']);
    }
  },
);

test('the end of a member is not the end of its team', async () => {
  const member = frame(1, 'RunCompleted', { run_id: 'of the member' });
  const responses = [[bytes(frame(0, 'TeamRunStarted') + member)], [bytes(frame(2, 'TeamRunCompleted'))]];
  const names: string[] = [];
  for await (const { event } of receiving(...responses).client.teams.follow('a', 'r')) names.push(event);
  expect(names).toEqual(['TeamRunStarted', 'RunCompleted', 'TeamRunCompleted']);
});

test('an event of five megabytes arrives', async () => {
  const text = 'ä🚀 '.repeat(700_000);
  const service = await ScriptedService.start(
    respondWith([started, frame(1, 'RunContent', { content: text }), completed]),
  );
  const client = createClient({ baseUrl: service.url });
  let received = '';
  for await (const event of client.agents.follow('a', 'r'))
    if (event.event === 'RunContent') received = String(event.content);
  expect(received === text).toBe(true);
});

test.each(['{"event":"RunCont', 'null', '"text"', '{}'])(
  'an event that cannot be read ends the stream with its index: %s',
  async (data) => {
    const { client, asked } = receiving([bytes(`${started}id: 1\ndata: ${data}\n\n`)]);
    const run = client.agents.follow('a', 'r');
    const names: string[] = [];
    const reading = (async () => {
      for await (const { event } of run) names.push(event);
    })();
    await expect(reading).rejects.toThrow(RunyardError);
    await expect(reading).rejects.toThrow('event 1 cannot be read');
    expect(names).toEqual(['RunStarted']);
    expect(run.lastEventIndex).toBe(0);
    expect(asked).toHaveLength(1);
  },
);
