import { auth, createPrivateKeyJwtAuth } from '@modelcontextprotocol/client';
import { exportJWK, generateKeyPair } from 'jose';
import { expect, test } from 'vitest';
import { freshSqlite } from '../support/databases.js';
import type { Fetch } from './browser.js';
import { guardedService } from './guarded-service.js';
import { OfficialClient } from './official-client.js';

const publicUrl = 'https://agents.example';
const serverUrl = `${publicUrl}/mcp`;

/** Several processes behind one address: each request reaches another one. */
function balanced(...urls: readonly string[]): Fetch {
  let turn = 0;
  return (url, init) => fetch(String(url).replace(publicUrl, urls[turn++ % urls.length] ?? ''), init);
}

test('the official client connects, calls and refreshes, whichever process answers', async () => {
  const place = await freshSqlite();
  const [one, other] = [
    await guardedService(await place.open(), { publicUrl }),
    await guardedService(await place.open(), { publicUrl }),
  ];
  const fetchFn = balanced(one, other);
  const call = (token?: string) =>
    fetchFn(serverUrl, {
      method: 'POST',
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
  const refused = await call();
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/mcp"`,
  );

  const client = new OfficialClient();
  await client.connect(serverUrl, fetchFn);
  const first = client.tokens();
  expect(first).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
  const userId = `__oauth__:${client.clientInformation()?.client_id}`;
  expect(await (await call(first?.access_token)).json()).toEqual({
    userId,
    scope: { kind: 'user', userId },
    held: ['agents:run', 'teams:run', 'workflows:run', 'sessions:read', 'config:read'],
  });

  expect(await auth(client, { serverUrl, fetchFn })).toBe('AUTHORIZED');
  const second = client.tokens();
  expect(second?.refresh_token).not.toBe(first?.refresh_token);
  expect((await call(second?.access_token)).status).toBe(200);
});

test('a client with a metadata document needs no registration, and proves who it is with its key', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const clientId = 'https://client.example/oauth/metadata.json';
  const document = {
    client_id: clientId,
    client_name: 'A <b>client</b>',
    redirect_uris: ['http://127.0.0.1/callback'],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [await exportJWK(publicKey)] },
  };
  const fetched: string[] = [];
  const fetchDocument = async (url: string) => {
    fetched.push(url);
    return { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(document)) };
  };
  const database = await (await freshSqlite()).open();
  const fetchFn = balanced(await guardedService(database, { publicUrl, fetchDocument }));
  const client = new OfficialClient();
  client.clientMetadataUrl = clientId;
  const thief = await generateKeyPair('ES256', { extractable: true });
  const authentication = async (key: typeof privateKey) =>
    createPrivateKeyJwtAuth({
      issuer: clientId,
      subject: clientId,
      privateKey: await exportJWK(key),
      alg: 'ES256',
    });
  client.addClientAuthentication = await authentication(thief.privateKey);
  await expect(client.connect(serverUrl, fetchFn)).rejects.toThrow(/does not prove/);
  client.addClientAuthentication = await authentication(privateKey);
  await client.connect(serverUrl, fetchFn);
  expect(client.clientInformation()?.client_id).toBe(clientId);
  expect(fetched).toEqual([clientId]);

  // the same proof does not serve twice
  let proof = '';
  client.addClientAuthentication = async (_headers, parameters, ...rest) => {
    if (proof === '') await (await authentication(privateKey))(_headers, parameters, ...rest);
    proof ||= parameters.get('client_assertion') ?? '';
    parameters.set('client_assertion', proof);
    parameters.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  };
  expect(await auth(client, { serverUrl, fetchFn })).toBe('AUTHORIZED');
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: client.tokens()?.refresh_token ?? '',
    client_assertion: proof,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  });
  const again = await fetchFn(`${publicUrl}/token`, { method: 'POST', body: form });
  expect(await again.json()).toMatchObject({
    error: 'invalid_client',
    error_description: expect.stringContaining('used before'),
  });
});
