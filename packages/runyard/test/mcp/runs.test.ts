import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { agent, Runyard, type RunyardOptions, tool } from '../../src/index.js';
import { mcp } from '../../src/interfaces.js';
import { type ScriptedTurn, scriptedModel } from '../../src/testing.js';
import { signedWithSecret } from '../support/clients/issuer.js';
import { freshSqlite } from '../support/databases.js';
import type { Body } from '../support/service.js';
import { gate, until } from '../support/until.js';
import { callTool, type Frame, framesOf, RawClient, streamed } from './fixture.js';

const deleted: string[] = [];

/** A service whose agent answers like this, as one process. */
async function startYard(turns: readonly ScriptedTurn[], options: RunyardOptions) {
  const remove = tool({
    name: 'delete_file',
    description: 'Deletes a file',
    inputSchema: z.object({ path: z.string() }),
    requiresConfirmation: true,
    execute: ({ path }) => `deleted ${deleted.push(path)}`,
  });
  const assistant = agent({
    id: 'assistant',
    name: 'Assistant',
    model: scriptedModel(turns),
    tools: [remove],
  });
  const app = new Runyard({
    port: 0,
    logLevel: 'silent',
    interfaces: [mcp()],
    agents: [assistant],
    ...options,
  });
  const { url } = await app.listen();
  const stop = () => app.close({ graceMs: 0 });
  onTestFinished(stop);
  const get = async (path: string): Promise<Body> => (await fetch(url + path)).json();
  return { url: `${url}/mcp`, stop, get };
}

const deletes = (path: string) => ({ toolCalls: [{ name: 'delete_file', arguments: { path } }] });
const runs = (id: number, message: string) =>
  callTool(id, 'run_agent', {
    arguments: { agent_id: 'assistant', message, session_id: 's' },
    _meta: { progressToken: 'p' },
  });

/** Reads until a frame fits, and leaves. The last id is where a client resumes. */
async function readUntil(answer: Response, fits: (frame: Frame) => boolean) {
  let lastId = '';
  for await (const frame of streamed(answer)) {
    lastId = frame.id ?? lastId;
    if (fits(frame)) return { frame, lastId };
  }
  throw new Error('The stream ended.');
}

test('the official client runs an agent, follows its progress, and its person answers', async () => {
  const { url: database } = await freshSqlite();
  const yard = await startYard([deletes('/http'), 'Gone'], { database });
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { confirmed: true } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(yard.url)));
  onTestFinished(() => client.close());
  const reported: (string | undefined)[] = [];
  const result = await client.callTool(
    { name: 'run_agent', arguments: { agent_id: 'assistant', message: 'Delete it' } },
    { onprogress: ({ message }) => void reported.push(message) },
  );
  expect(result).toMatchObject({
    content: [{ type: 'text', text: 'Gone' }],
    structuredContent: { status: 'completed' },
  });
  expect(asked).toEqual([expect.stringContaining('{"path":"/http"}')]);
  expect(deleted).toContain('/http');
  expect(reported[0]).toBe('Agent Assistant started');
  expect(reported).toContain('Tool call completed: delete_file');
});

test('a run whose process stops is continued, and its client gets the one answer elsewhere', async () => {
  const { url: database } = await freshSqlite();
  const first = await startYard([{ waitFor: gate().opened }], { database });
  const client = new RawClient(first.url);
  await client.connect();
  const { lastId } = await readUntil(await client.post(runs(1, 'Wait')), ({ id }) => id !== undefined);
  // the stream has its first id before the run is stored
  const before: Body = await until('the run is stored', async () => (await first.get('/sessions/s/runs'))[0]);
  await first.stop();

  const second = await startYard(['Done'], { database });
  client.at(second.url);
  const answer = (await framesOf(await client.resume(lastId))).at(-1)?.data;
  expect(answer).toMatchObject({
    id: 1,
    result: {
      content: [{ text: 'Done' }],
      structuredContent: { run_id: before.run_id, status: 'completed' },
    },
  });
  expect(await second.get('/sessions/s/runs')).toHaveLength(1);
});

test('a person who was asked before a restart is asked again, and answers once', async () => {
  const { url: database } = await freshSqlite();
  const first = await startYard([deletes('/again')], { database });
  const client = new RawClient(first.url);
  await client.connect('2025-11-25', { elicitation: {} });
  const isForm = ({ data }: Frame) => data?.method === 'elicitation/create';
  const { lastId } = await readUntil(await client.post(runs(1, 'Delete again')), isForm);
  await first.stop();

  const second = await startYard(['Gone again'], { database });
  client.at(second.url);
  const stream = streamed(await client.resume(lastId));
  let form: Frame | undefined;
  for (let next = await stream.next(); !next.done; next = await stream.next()) {
    form = next.value;
    if (isForm(form)) break;
  }
  const { id } = form?.data ?? {};
  await client.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { confirmed: true } } });
  let last: Frame | undefined;
  for await (const frame of stream) last = frame;
  expect(last?.data).toMatchObject({ id: 1, result: { content: [{ text: 'Gone again' }] } });
  expect(deleted.filter((path) => path === '/again')).toHaveLength(1);
});

test('a cancelled request is answered, and its run keeps what it has said', async () => {
  const { url: database } = await freshSqlite();
  const said = gate();
  const yard = await startYard([{ chunks: ['Once upon', said.opened, ' a time'] }], { database });
  const client = new RawClient(yard.url);
  await client.connect();
  const answer = client.post(runs(1, 'Tell')).then(framesOf);
  const stored = async () => (await yard.get('/sessions/s/runs'))[0];
  await expect.poll(async () => (await stored())?.content).toBe('Once upon');
  await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  expect((await answer).at(-1)?.data).toEqual({
    jsonrpc: '2.0',
    id: 1,
    error: { code: 0, message: 'Request cancelled' },
  });
  await expect.poll(async () => (await stored()).status).toBe('cancelled');
  expect((await stored()).content).toBe('Once upon');
});

test('a form is answered and a request cancelled by a token that may run the component', async () => {
  const secret = 'a secret that is known to this test alone';
  const bearer = async (scopes: string[]) => ({
    authorization: `Bearer ${await signedWithSecret(secret, { sub: 'ada', scopes })}`,
  });
  const { url: database } = await freshSqlite();
  const settings = { database, authorization: true, jwtKeys: [secret] };
  const yard = await startYard([deletes('/answered'), 'Gone'], settings);
  const client = new RawClient(yard.url, await bearer(['agents:assistant:run']));
  const reading = await bearer(['agents:read', 'sessions:read']);
  await client.connect('2025-11-25', { elicitation: {} });
  const asking = await client.post(runs(1, 'Delete it'));
  const frames = streamed(asking);
  const asked = async () => {
    for await (const { data } of frames) if (data?.method === 'elicitation/create') return data.id;
  };
  const answer = {
    jsonrpc: '2.0',
    id: await asked(),
    result: { action: 'accept', content: { confirmed: true } },
  };
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  for (const message of [answer, cancel]) expect((await client.post(message, reading)).status).toBe(403);
  expect(deleted).not.toContain('/answered');
  expect((await client.post(answer)).status).toBe(202);
  await until('the call is executed', () => deleted.includes('/answered'));
});
