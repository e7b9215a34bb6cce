import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { findAll, list, textOf } from '../../../test/support/sources/found.js';
import { privateKeyIn, verifiedClaims } from '../../../test/support/sources/rsa-key.js';
import { startWebServer } from '../../../test/tools/web-server.js';
import { type GcsSourceOptions, gcsSource } from './gcs.js';

const pem = privateKeyIn('pkcs8');
const files: Readonly<Record<string, string>> = {
  'docs/a.md': 'alpha',
  'docs/b c.md': 'beta',
  'docs/deep/c.md': 'gamma',
  'x.md': 'x',
};

/** The tokens that it issued, and what it answers once instead. */
async function storage(options: Partial<GcsSourceOptions> = {}) {
  const tokens: string[] = [];
  const state = { lifetime: 3600, valid: (token: string) => token === tokens.at(-1) };
  const send = (response: ServerResponse, body: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const server = await startWebServer((request, response) => {
    const url = new URL(request.url!, 'http://x');
    if (url.pathname === '/token') {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        if (!isSigned(new URLSearchParams(body).get('assertion')!)) return send(response, {}, 400);
        tokens.push(`token-${tokens.length}`);
        return send(response, { access_token: tokens.at(-1), expires_in: state.lifetime });
      });
      return;
    }
    if (!state.valid((request.headers.authorization ?? '').slice('Bearer '.length)))
      return send(response, {}, 401);
    const [, bucket, object] = /^\/storage\/v1\/b\/([^/]+)\/o(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
    if (bucket !== 'handbook') return send(response, {}, 404);
    if (object === undefined) return send(response, listing(url.searchParams));
    const name = decodeURIComponent(object);
    const text = files[name];
    if (text === undefined) return send(response, {}, 404);
    if (url.searchParams.get('alt') === 'media') return response.end(text);
    return send(response, { name, size: String(text.length), contentType: 'text/markdown' });
  });
  const key = {
    client_email: 'reader@project.example',
    private_key: pem,
    token_uri: `${server.url}/token`,
  };
  const source = gcsSource({
    id: 'docs-gcs',
    bucket: 'handbook',
    endpoint: server.url,
    credentials: JSON.stringify(key),
    ...options,
  });
  return { server, source, tokens, state };
}

function isSigned(assertion: string): boolean {
  const { iss, scope, exp, iat } = verifiedClaims(assertion) ?? {};
  return (
    iss === 'reader@project.example' &&
    scope === 'https://www.googleapis.com/auth/devstorage.read_only' &&
    Number(exp) - Number(iat) === 3600
  );
}

/** One object for each answer. */
function listing(query: URLSearchParams) {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter');
  const shown = new Set(
    Object.keys(files)
      .filter((name) => name.startsWith(prefix))
      .map((name) => {
        const cut = delimiter === null ? -1 : name.indexOf(delimiter, prefix.length);
        return cut < 0 ? name : name.slice(0, cut + 1);
      }),
  );
  const at = Number(query.get('pageToken') ?? 0);
  const one = [...shown][at];
  const next = at + 1 < shown.size && { nextPageToken: String(at + 1) };
  if (one?.endsWith('/')) return { prefixes: [one], ...next };
  return {
    items: one === undefined ? [] : [{ name: one, size: '5', updated: '2026-01-02T03:04:05.6Z' }],
    ...next,
  };
}

it('lists, finds and streams with a token that the key of a service account signed for', async () => {
  const { source, tokens } = await storage();
  expect(await list(source, { prefix: 'docs/' })).toMatchObject({
    folders: [{ prefix: 'docs/deep/', name: 'deep' }],
    files: [
      { key: 'docs/a.md', size: 5, lastModified: '2026-01-02T03:04:05Z', contentType: 'text/markdown' },
      { key: 'docs/b c.md' },
    ],
    totalCount: 2,
  });
  const found = await findAll(source, 'docs');
  expect(found.map(({ virtualPath }) => virtualPath)).toEqual([
    'gcs://handbook/docs/a.md',
    'gcs://handbook/docs/b c.md',
    'gcs://handbook/docs/deep/c.md',
  ]);
  expect(await Promise.all(found.map(textOf))).toEqual(['alpha', 'beta', 'gamma']);
  expect((await findAll(source, 'x.md'))[0]).toMatchObject({
    provenance: { gcs_bucket: 'handbook', gcs_blob_name: 'x.md' },
  });
  expect(source.identity('docs/', {})).toBe('gcs:handbook:docs/');
  expect(tokens).toHaveLength(1);
});

it('renews a token once, before it expires and after it was refused', async () => {
  const { source, tokens, state } = await storage();
  await list(source);
  state.valid = (token) => token === 'token-1';
  await Promise.all([list(source), list(source), findAll(source, 'x.md')]);
  expect(tokens).toHaveLength(2);
  state.valid = () => false;
  await expect(list(source)).rejects.toMatchObject({
    status: 401,
    message: 'Invalid or missing Google Cloud credentials for this source',
  });
  expect(tokens).toHaveLength(3);
  const short = await storage();
  short.state.lifetime = 0;
  await list(short.source, { prefix: 'x' });
  await list(short.source, { prefix: 'x' });
  expect(short.tokens).toHaveLength(2);
});

it('says what is missing, and nothing of its key', async () => {
  const missing = await storage({ bucket: 'elsewhere' });
  await expect(list(missing.source)).rejects.toThrow("Bucket 'elsewhere' does not exist");
  const broken = await storage({ credentials: `{"private_key": "${pem.slice(30, 60)}` });
  const failure = await list(broken.source).catch((error: Error) => error);
  expect(failure).toMatchObject({ status: 401 });
  const shown =
    inspect([failure, broken.source, missing.source], { depth: 9 }) + JSON.stringify(missing.source);
  expect(shown).not.toContain(pem.slice(35, 50));
  const { source } = await storage({ credentials: undefined, accessToken: () => 'given' } as never);
  await expect(list(source)).rejects.toMatchObject({ status: 401 });
  expect(() => gcsSource({ id: 'g', bucket: 'b', credentialsPath: 'a', accessToken: 'b' })).toThrow(
    'give one of',
  );
});
