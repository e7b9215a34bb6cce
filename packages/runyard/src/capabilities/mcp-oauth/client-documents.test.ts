import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import type { FetchedContent } from '../../platform/net/fetch-content.js';
import { checkAssertion } from './client-assertion.js';
import { ClientDocuments, documentFetch } from './client-documents.js';
import { documentClient } from './clients.js';
import { OauthKeys } from './keys.js';

const clientId = 'https://client.example/metadata.json';
const metadata = { client_id: clientId, redirect_uris: ['https://client.example/callback'] };

function content(value: unknown, contentType: string | undefined = 'application/json'): FetchedContent {
  return { contentType, bytes: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)) };
}

function documentsOf(answer: FetchedContent | Error) {
  const fetched: string[] = [];
  const documents = new ClientDocuments(async (url) => {
    fetched.push(url);
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return { documents, fetched };
}

test('a document is fetched once for many who ask', async () => {
  const { documents, fetched } = documentsOf(content(metadata));
  const found = await Promise.all([documents.find(clientId, 'a'), documents.find(clientId, 'b')]);
  expect(found).toEqual([await documents.find(clientId, 'c'), found[0]]);
  expect(found[0]).toMatchObject({ clientId, authentication: 'none', refreshes: true });
  expect(fetched).toEqual([clientId]);
});

test.each([
  [content({ ...metadata, client_id: 'https://other.example/metadata.json' }), /not its address/],
  [content({ ...metadata, token_endpoint_auth_method: 'client_secret_basic' }), /not supported/],
  [content({ ...metadata, token_endpoint_auth_method: 'private_key_jwt' }), /jwks/],
  [content({ ...metadata, redirect_uris: ['javascript:x'] }), /redirect/],
  [content(metadata, 'text/html'), /not JSON/],
  [content('{'), /could not be fetched/],
  [new Error('connect ECONNREFUSED 10.0.0.1'), /^The document at the client_id could not be fetched\.$/],
])('a document that cannot be trusted is no client', async (answer, fault) => {
  await expect(documentsOf(answer).documents.find(clientId, 'a')).rejects.toThrow(fault);
});

test.each([
  'https://client.example/',
  'https://client.example',
  'https://user:password@client.example/a',
  'https://client.example/a#b',
  'https://client.example/a/../b',
  'https://CLIENT.example/a',
  `https://client.example/${'x'.repeat(200)}`,
])('%s is not even fetched', async (id) => {
  const { documents, fetched } = documentsOf(content({ ...metadata, client_id: id }));
  await expect(documents.find(id, 'a')).rejects.toThrow(/client_id/);
  expect(fetched).toEqual([]);
});

test('one address has us fetch no more than so many documents', async () => {
  const { documents, fetched } = documentsOf(new Error('none'));
  const find = (count: number, address: string) =>
    documents.find(`https://client.example/${count}`, address).catch(({ status }) => status);
  for (let count = 0; count < 30; count++) expect(await find(count, 'a')).toBe(400);
  expect(await find(31, 'a')).toBe(429);
  expect(await find(32, 'b')).toBe(400);
  expect(fetched).toHaveLength(31);
});

test('nothing within the own network is fetched', async () => {
  const documents = new ClientDocuments(documentFetch([]));
  for (const url of ['https://127.0.0.1/a', 'https://169.254.169.254/latest', 'https://[::1]/a'])
    await expect(documents.find(url, 'a')).rejects.toThrow(/could not be fetched/);
});

test('an assertion proves one client to this server, for a short time and once', async () => {
  const [own, foreign] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const jwks = { keys: [await exportJWK(own.publicKey)] };
  const client = documentClient(clientId, {
    ...metadata,
    token_endpoint_auth_method: 'private_key_jwt',
    jwks,
  });
  const site = {
    issuer: 'https://agents.example/',
    resource: 'https://agents.example/mcp',
    tokenEndpoint: 'https://agents.example/token',
    clientAddress: 'a',
  };
  const spent = new Set<string>();
  const store = { spend: async (hash: string) => !spent.has(hash) && spent.add(hash).has(hash) };
  const { documents } = documentsOf(new Error('not asked for'));
  const present = async (more: JWTPayload = {}, { privateKey } = own) => {
    const exp = Math.floor(Date.now() / 1000) + 300;
    const claims = { iss: clientId, sub: clientId, aud: site.issuer, jti: 'one', exp, ...more };
    const jwt = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    return checkAssertion(client, jwt, site, { documents, keys: new OauthKeys('k'.repeat(32)), store });
  };
  const notProven = /does not prove/;
  const now = Date.now() / 1000;
  for (const wrong of [
    { iss: 'https://other.example/metadata.json' },
    { sub: 'https://other.example/metadata.json' },
    { aud: site.resource },
    { jti: undefined },
    { exp: undefined },
    { exp: Math.floor(now) - 60 },
  ])
    await expect(present(wrong)).rejects.toThrow(notProven);
  await expect(present({}, foreign)).rejects.toThrow(notProven);
  await expect(present({ exp: Math.ceil(now) + 1000 })).rejects.toThrow(/lasts more than 600 s/);
  expect(spent.size).toBe(0);
  await present({ aud: site.tokenEndpoint });
  await expect(present()).rejects.toThrow(/used before/);
  await present({ jti: 'two' });
});
