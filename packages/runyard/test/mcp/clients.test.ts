import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { agent, Runyard, type RunyardOptions } from '../../src/index.js';
import { mcp } from '../../src/interfaces.js';
import { scriptedModel } from '../../src/testing.js';
import { signedWithSecret } from '../support/clients/issuer.js';
import { forEachDatabase, freshSqlite } from '../support/databases.js';
import { gate, until } from '../support/until.js';
import { callTool, framesOf, RawClient, streamed } from './fixture.js';

const info = { name: 'a client', version: '1' };
const hello = { name: 'run_agent', arguments: { agent_id: 'greeter', message: 'Hi' } };

const greeter = agent({ id: 'greeter', model: scriptedModel(() => 'Hello there.') });

async function started(options: RunyardOptions) {
  const app = new Runyard({ port: 0, logLevel: 'silent', agents: [greeter], ...options });
  const { url } = await app.listen();
  const stop = () => app.close({ graceMs: 0 });
  onTestFinished(stop);
  return { url: `${url}/mcp`, base: url, stop };
}

test('official clients old and new run an agent, and the newest falls back from a later version', async () => {
  const { url: database } = await freshSqlite();
  const { url } = await started({ database, mcp: true });
  const current = new Client(info, { versionNegotiation: { mode: 'auto' } });
  await current.connect(new StreamableHTTPClientTransport(new URL(url)));
  const plain = new Client(info);
  await plain.connect(new StreamableHTTPClientTransport(new URL(url)));
  const old = new OldClient(info);
  await old.connect(new OldTransport(new URL(url)));
  onTestFinished(async () => void (await Promise.all([current.close(), plain.close(), old.close()])));
  const reported: number[] = [];
  const onprogress = ({ progress }: { progress: number }) => reported.push(progress);
  const answers = [
    await current.callTool(hello, { onprogress }),
    await plain.callTool(hello),
    await old.callTool(hello, undefined, { onprogress }),
  ];
  for (const answer of answers)
    expect(answer).toMatchObject({
      content: [{ type: 'text', text: 'Hello there.' }],
      structuredContent: { status: 'completed' },
    });
  expect(reported).toEqual([0, 0]);
  for (const client of [current, plain, old]) expect((await client.listTools()).tools).toHaveLength(8);
  expect([current, plain, old].map((client) => client.getServerVersion()?.name)).toEqual([
    'Runyard',
    'Runyard',
    'Runyard',
  ]);
});

test('tokens: what is missing is said, sessions belong to their user, and authorize decides last', async () => {
  const { url: database } = await freshSqlite();
  const secret = 'the secret of the tests of this interface';
  const authorize = (userId: string | null) => userId !== 'mallory';
  const { url } = await started({
    database,
    authorization: true,
    jwtKeys: [secret],
    interfaces: [mcp({ authorize })],
  });
  const bearer = async (sub: string, scopes: string[] = []) => ({
    authorization: `Bearer ${await signedWithSecret(secret, { sub, scopes })}`,
  });
  const refusalOf = async (headers: Record<string, string>) => {
    const answer = await new RawClient(url, headers).post({});
    return [answer.status, await answer.json(), answer.headers.get('www-authenticate')];
  };
  expect(await refusalOf({})).toMatchObject([
    401,
    { detail: 'Authorization header missing' },
    'Bearer realm="mcp"',
  ]);
  expect(await refusalOf({ authorization: 'Bearer x.y.z' })).toMatchObject([
    401,
    {},
    'Bearer realm="mcp", error="invalid_token"',
  ]);
  expect(await refusalOf(await bearer('mallory'))).toMatchObject([
    401,
    { error: 'unauthorized', detail: 'Not authorized for the MCP server.' },
    expect.any(String),
  ]);
  const [ada, bob] = [
    new RawClient(url, await bearer('ada', ['agents:greeter:run'])),
    new RawClient(url, await bearer('bob')),
  ];
  await ada.connect();
  await bob.connect();
  const run = (id: number) => callTool(id, 'run_agent', { arguments: hello.arguments });
  expect((await framesOf(await ada.post(run(1)))).at(-1)?.data.result).toMatchObject({
    structuredContent: { status: 'completed' },
  });
  expect((await framesOf(await bob.post(run(1)))).at(-1)?.data.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('Required scope(s): agents:run') }],
  });
  bob.sessionId = ada.sessionId;
  expect((await bob.post(run(2))).status).toBe(404);
  expect((await bob.request('DELETE')).status).toBe(404);
  expect((await ada.post(run(3))).status).toBe(200);
});

forEachDatabase((_dialect, freshPlace) => {
  test('a run that a restart interrupts is continued once, and its client gets the answer', async () => {
    const { url: database } = await freshPlace();
    const answer = gate<string>();
    let calls = 0;
    const slow = (say: () => string | Promise<string>) =>
      agent({
        id: 'slow',
        model: scriptedModel(() => {
          calls += 1;
          return say();
        }),
      });
    const first = await started({ database, mcp: true, agents: [slow(() => answer.opened)] });
    const client = new RawClient(first.url);
    await client.connect();
    const args = { arguments: { agent_id: 'slow', message: 'Hi', session_id: 's' } };
    let lastId: string | undefined;
    for await (const { id } of streamed(await client.post(callTool(1, 'run_agent', args)))) {
      lastId = id;
      if (id !== undefined) break;
    }
    await until('the model is called', () => calls === 1);
    await first.stop();
    const second = await started({ database, mcp: true, agents: [slow(() => 'Here it is.')] });
    client.at(second.url);
    const rest = await framesOf(await client.resume(lastId ?? ''));
    expect(rest.at(-1)?.data.result).toMatchObject({
      content: [{ text: 'Here it is.' }],
      structuredContent: { status: 'completed', session_id: 's' },
    });
    const runs = await until('the run is stored', async () => {
      const listed = await fetch(`${second.base}/sessions/s/runs`);
      return listed.ok && ((await listed.json()) as { run_id: string }[]);
    });
    expect(runs.map(({ run_id }) => run_id)).toEqual([rest.at(-1)?.data.result.structuredContent.run_id]);
    expect(calls).toBe(2);
  });
});
