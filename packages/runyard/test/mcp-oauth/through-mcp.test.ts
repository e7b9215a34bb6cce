import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { agent, Runyard, type RunyardOptions } from '../../src/index.js';
import { mcp } from '../../src/interfaces.js';
import { connectSecret, signingKey } from './guarded-service.js';
import { OfficialClient } from './official-client.js';

async function listening(options: RunyardOptions): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-mcp-oauth-'));
  const app = new Runyard({
    port: 0,
    logLevel: 'silent',
    dataDir,
    agents: [agent({ id: 'assistant', model: 'offline' })],
    ...options,
  });
  onTestFinished(async () => {
    await app.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return (await app.listen()).url;
}

/** Connects as a program does that knows the address alone. */
async function connected(url: string): Promise<{ client: Client; userId: string }> {
  const authProvider = new OfficialClient();
  const transport = () => new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider });
  const first = transport();
  const newClient = () => new Client({ name: 'test', version: '1' });
  await expect(newClient().connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
  await first.finishAuth((await authProvider.approved()).searchParams);
  const client = newClient();
  await client.connect(transport());
  onTestFinished(() => client.close());
  return { client, userId: `__oauth__:${authProvider.clientInformation()?.client_id}` };
}

const textOf = (result: Awaited<ReturnType<Client['callTool']>>) => JSON.stringify(result);

test('a client that knows the address alone connects, runs an agent, and sees nothing of another client', async () => {
  const url = await listening({ interfaces: [mcp({ oauth: { secret: connectSecret, signingKey } })] });
  const [one, other] = [await connected(url), await connected(url)];
  const call = (client: Client, name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });
  const run = await call(one.client, 'run_agent', { agent_id: 'assistant', message: 'Hi', session_id: 's' });
  expect(run).toMatchObject({ structuredContent: { status: 'completed', session_id: 's' } });
  expect(textOf(await call(one.client, 'get_sessions', {}))).toContain(one.userId);
  expect(textOf(await call(other.client, 'get_sessions', {}))).not.toContain(one.userId);
  expect(await call(other.client, 'get_session_runs', { session_id: 's' })).toMatchObject({ isError: true });

  // REST keeps its own mode, and says where the authorization server is
  const info = await (await fetch(`${url}/info`)).json();
  expect(info).toMatchObject({ mcp: { enabled: true, path: '/mcp', oauth: {} } });
  const refused = await fetch(`${url}/mcp`, { method: 'POST' });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`,
  );
});

test('settings alone turn it on, and a service that cannot know its address does not open', async () => {
  const settings = {
    mcp: true,
    mcpOauth: true,
    mcpOauthSecret: connectSecret,
    mcpOauthSigningKey: signingKey,
  };
  const url = await listening({ ...settings, mcpPublicUrl: 'https://agents.example/' });
  expect(await (await fetch(`${url}/info`)).json()).toMatchObject({
    mcp: {
      oauth: {
        authorization_servers: ['https://agents.example/'],
        resource: 'https://agents.example/mcp',
      },
    },
  });
  await expect(listening({ ...settings, host: '0.0.0.0' })).rejects.toThrow(/public address/);
});
