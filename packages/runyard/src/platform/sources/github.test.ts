import { expect, it } from 'vitest';
import { findAll, list, textOf } from '../../../test/support/sources/found.js';
import { privateKeyIn, verifiedClaims } from '../../../test/support/sources/rsa-key.js';
import { startWebServer } from '../../../test/tools/web-server.js';
import { type GitHubSourceOptions, gitHubSource } from './github.js';

const blob = (path: string, sha: string, mode = '100644') => ({ path, sha, mode, type: 'blob', size: 5 });
const folder = (path: string, sha: string) => ({ path, sha, mode: '040000', type: 'tree' });
const trees: Readonly<Record<string, readonly unknown[]>> = {
  'release/1': [blob('README.md', 'b0'), folder('docs', 't1'), blob('link', 'b9', '120000')],
  t1: [blob('a.md', 'b1'), folder('deep', 't2')],
  t2: [blob('ü.md', 'b2'), { path: 'module', sha: 'c', mode: '160000', type: 'commit' }],
  't1 recursive': [blob('a.md', 'b1'), folder('deep', 't2'), blob('deep/ü.md', 'b2')],
};

async function hub(options: Partial<GitHubSourceOptions> = {}, token = 'TOKEN') {
  const state = { truncated: false, limited: false, issued: 0, verify: (_: string) => true };
  const server = await startWebServer((request, response) => {
    const url = new URL(request.url!, 'http://x');
    const send = (body: unknown, status = 200) => response.writeHead(status).end(JSON.stringify(body));
    const given = (request.headers.authorization ?? '').slice('Bearer '.length);
    if (url.pathname === '/app/installations/42/access_tokens') {
      if (!state.verify(given)) return send({}, 401);
      state.issued += 1;
      return send({ token, expires_at: new Date(Date.now() + 3_600_000).toISOString() }, 201);
    }
    if (state.limited) return response.writeHead(403, { 'x-ratelimit-remaining': '0' }).end();
    if (given !== token) return send({}, 401);
    const [, sha] = /^\/repos\/acme\/handbook\/git\/trees\/([^/]+)$/.exec(url.pathname) ?? [];
    if (sha !== undefined) {
      const recursive = url.searchParams.has('recursive');
      const tree = trees[decodeURIComponent(sha) + (recursive ? ' recursive' : '')];
      if (tree === undefined) return send({}, 404);
      const truncated = recursive && state.truncated;
      return send({ tree: truncated ? tree.slice(0, 1) : tree, truncated });
    }
    const [, id] = /^\/repos\/acme\/handbook\/git\/blobs\/(\w+)$/.exec(url.pathname) ?? [];
    return id && request.headers.accept === 'application/vnd.github.raw+json'
      ? response.end(id)
      : send({}, 404);
  });
  const source = gitHubSource({
    id: 'docs-git',
    branch: 'release/1',
    endpoint: server.url,
    repo: 'acme/handbook',
    token: { env: 'RUNYARD_TEST_GITHUB_TOKEN' },
    ...options,
  });
  return { source, server, state };
}

process.env.RUNYARD_TEST_GITHUB_TOKEN = 'TOKEN';

it('lists, finds and streams the files of a branch', async () => {
  const { source, state } = await hub();
  expect(await list(source)).toMatchObject({
    folders: [{ prefix: 'docs/', name: 'docs' }],
    files: [{ key: 'README.md', size: 5, lastModified: null, contentType: 'text/markdown' }],
    totalCount: 1,
  });
  for (state.truncated of [false, true])
    expect((await findAll(source, 'docs')).map(({ path }) => path)).toEqual(['docs/a.md', 'docs/deep/ü.md']);
  const [file] = await findAll(source, 'docs/deep/ü.md');
  expect(await textOf(file!)).toBe('b2');
  expect(file).toMatchObject({
    virtualPath: 'github://acme/handbook/release/1/docs/deep/ü.md',
    provenance: {
      github_repo: 'acme/handbook',
      github_branch: 'release/1',
      github_path: 'docs/deep/ü.md',
      github_filename: 'ü.md',
    },
  });
  await expect(findAll(source, 'docs/none.md')).rejects.toMatchObject({ status: 404 });
  state.limited = true;
  await expect(list(source)).rejects.toThrow('the rate limit of GitHub is reached');
});

it('takes the repository from the request, and its identity includes it', async () => {
  const { source } = await hub();
  expect(source.identity('docs/a.md', {})).toBe('github:acme/handbook@release/1:docs/a.md');
  expect(source.identity('docs/a.md', { repo: 'a/b' })).toBe('github:a/b@release/1:docs/a.md');
  expect(() => source.check('a', { branch: 'x' })).toThrow(
    "Unknown source_params for GitHubConfig: ['branch']. Allowed: ['repo'].",
  );
  for (const repo of ['a', 'a/b/c', '../x', 'a/..', 'a/b?c'])
    expect(() => source.check('a', { repo }), repo).toThrow('is not of the form owner/repo');
  const open = (await hub({ repo: undefined } as never)).source;
  expect(() => open.check('a', {})).toThrow(
    `GitHub config 'docs-git' has no 'repo' set. Provide source_params={"repo": "owner/repo"} with the request, or configure a default on the source.`,
  );
  await expect(list(open)).rejects.toMatchObject({ status: 400 });
  expect((await findAll(open, 'README.md', { repo: 'acme/handbook' }))[0]!.path).toBe('README.md');
  await expect(findAll(open, 'README.md', { repo: 'acme/none' })).rejects.toThrow(
    "Branch 'release/1' of repository 'acme/none' does not exist",
  );
  const closed = (await hub({ repos: ['acme/handbook'] })).source;
  expect(() => closed.check('a', { repo: 'acme/payroll' })).toThrow('is not among those of the source');
});

it('gets the token of an installed app', async () => {
  // in the form that GitHub gives it out
  const privateKey = () => privateKeyIn('pkcs1');
  const app = { token: undefined, appId: 7, installationId: '42', privateKey };
  const { source, state } = await hub(app as never, 'INSTALLED');
  state.verify = (jwt) => {
    const { iss, iat, exp } = verifiedClaims(jwt) ?? {};
    return iss === '7' && Number(exp) - Number(iat) <= 600;
  };
  await Promise.all([list(source), findAll(source, 'docs')]);
  expect(state.issued).toBe(1);
  expect(() => gitHubSource({ id: 'x', appId: 1, token: 't' })).toThrow('give token, or all of');
});
