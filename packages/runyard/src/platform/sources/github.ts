import { z } from 'zod';
import { errors } from '../../core/errors/errors.js';
import type { ContentSource, SourceParameters } from '../../core/knowledge/sources/source.js';
import { checkOptions, ownerOf } from '../../core/options/check-options.js';
import { anyOf, count, listOf, name, objectOf, text } from '../../core/options/kinds.js';
import {
  type Credential,
  credential,
  keptForAWhile,
  type Lent,
  Remembered,
  readCredential,
} from './credentials.js';
import {
  clientLimits,
  endpointOf,
  FileSource,
  ifThere,
  type RemoteFile,
  type RemotePage,
  type RemoteQuery,
  type SourceOptions,
  type SourceService,
  sizeOf,
  sourceShape,
} from './file-source.js';
import { checkDelimiter, walkFolders } from './folder-walk.js';
import { encoded, encodedPath, lastPart } from './paths.js';
import { bearer, requestToken, ServiceClient, type ServiceFault } from './service-client.js';

export interface GitHubSourceOptions extends SourceOptions {
  /** As in `owner/repo`. Left out: requests name it. */
  readonly repo?: string;
  /** The repositories that requests may name. Left out: all that the credentials can read. */
  readonly repos?: readonly string[];
  /** Default `main`. */
  readonly branch?: string;
  /** A token. Or an installed app: `appId`, `installationId` and `privateKey`. Neither: public repositories. */
  readonly token?: Credential;
  readonly appId?: string | number;
  readonly installationId?: string | number;
  /** Of the app, in PEM. */
  readonly privateKey?: Credential;
  /** The folder that the source consists of. Everything outside of it is refused. */
  readonly folder?: string;
  /** Of GitHub Enterprise. Default `https://api.github.com`. */
  readonly endpoint?: string;
}

const gitHubOptions = objectOf<GitHubSourceOptions>({
  ...sourceShape,
  repo: name,
  repos: listOf(name),
  branch: name,
  token: credential,
  appId: anyOf(name, count(1)),
  installationId: anyOf(name, count(1)),
  privateKey: credential,
  folder: text,
  endpoint: name,
});

/** The files of a repository at GitHub, on one branch. */
export function gitHubSource(options: GitHubSourceOptions): ContentSource {
  const owner = ownerOf('Source', options);
  checkOptions(owner, options, gitHubOptions);
  const { token, appId, installationId, privateKey, repo, repos = [] } = options;
  const app = [appId, installationId, privateKey].filter((one) => one !== undefined).length;
  if ((app !== 0 && app !== 3) || (app === 3 && token !== undefined))
    throw errors.invalidConfig(`${owner}: give token, or all of appId, installationId and privateKey.`);
  for (const one of [repo ?? 'a/b', ...repos])
    if (!isRepository(one)) throw errors.invalidConfig(`${owner}: '${one}' is not of the form owner/repo.`);
  return new FileSource(options, options.folder, new GitHubService(gitHubOptions.plain(options)));
}

const tree = z.object({
  tree: z.array(
    z.object({
      path: z.string(),
      mode: z.string(),
      type: z.string(),
      sha: z.string(),
      size: z.number().optional(),
    }),
  ),
  truncated: z.boolean().default(false),
});
type TreeEntry = z.infer<typeof tree>['tree'][number];

const symbolicLink = '120000';

class GitHubService implements SourceService {
  readonly type = 'github';
  readonly contentType = 'github';
  readonly configName = 'GitHubConfig';
  readonly parameters = ['repo'];
  readonly #options: GitHubSourceOptions;
  readonly #branch: string;
  readonly #address: string;
  readonly #client: ServiceClient<string | null>;

  constructor(options: GitHubSourceOptions) {
    const { id, endpoint, branch = 'main' } = options;
    this.#options = options;
    this.#branch = branch;
    this.#address = endpointOf(id, endpoint ?? 'https://api.github.com');
    this.#client = new ServiceClient({
      ...clientLimits(options, endpoint === undefined ? undefined : this.#address),
      service: 'GitHub',
      credentials: new Remembered(() => gitHubToken(options, this.#address)),
      sign: (request, token) => (token === null ? request : bearer(request, token)),
      faultOf,
    });
  }

  checkParameters(parameters: SourceParameters): void {
    const { repos, repo: own } = this.#options;
    const repo = this.#repo(parameters);
    if (!isRepository(repo))
      throw errors.sourceParametersRefused(
        `source_params: '${repo.slice(0, 200)}' is not of the form owner/repo.`,
      );
    if (repos !== undefined && repo !== own && !repos.includes(repo))
      throw errors.sourceParametersRefused(`source_params: repo '${repo}' is not among those of the source.`);
  }

  identity(path: string, parameters: SourceParameters): string {
    return `github:${this.#repo(parameters)}@${this.#branch}:${path}`;
  }

  virtualPath(path: string, parameters: SourceParameters): string {
    return `github://${this.#repo(parameters)}/${this.#branch}/${path}`;
  }

  provenance(path: string, parameters: SourceParameters) {
    return {
      github_repo: this.#repo(parameters),
      github_branch: this.#branch,
      github_path: path,
      github_filename: lastPart(path),
    };
  }

  async fileAt(
    path: string,
    parameters: SourceParameters,
    signal: AbortSignal,
  ): Promise<RemoteFile | undefined> {
    const repo = this.#repo(parameters);
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    const sha = await this.#folderSha(repo, folder, signal);
    const { tree: entries } = sha === undefined ? { tree: [] } : await this.#tree(repo, sha, signal);
    const found = entries.find((entry) => folder + entry.path === path);
    return found && isFile(found) ? fileOf(found, folder) : undefined;
  }

  async *pages(query: RemoteQuery): AsyncGenerator<RemotePage> {
    const { prefix, delimiter, parameters, signal } = query;
    checkDelimiter(delimiter);
    const repo = this.#repo(parameters);
    const start = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    const sha = await this.#folderSha(repo, start, signal);
    if (sha === undefined) return;
    if (delimiter === '') {
      const all = await this.#tree(repo, sha, signal, true);
      if (!all.truncated) {
        const files = all.tree.filter(isFile).map((entry) => fileOf(entry, start));
        yield { folders: [], files: files.filter(({ key }) => key.startsWith(prefix)) };
        return;
      }
    }
    // too large for one answer: folder by folder
    const shas = new Map([[start, sha]]);
    yield* walkFolders(query, (folder) => this.#children(repo, folder, shas, signal));
  }

  open(
    { key, handle = '' }: RemoteFile,
    parameters: SourceParameters,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array> {
    const url = `${this.#address}/repos/${encodedPath(this.#repo(parameters))}/git/blobs/${encoded(handle)}`;
    const headers = { accept: 'application/vnd.github.raw+json' };
    return this.#client.stream({ url, headers, work: `read '${key}'`, path: key }, signal);
  }

  async *#children(
    repo: string,
    folder: string,
    shas: Map<string, string>,
    signal: AbortSignal,
  ): AsyncGenerator<RemotePage> {
    const sha = shas.get(folder);
    if (sha === undefined) return;
    const { tree: entries } = await this.#tree(repo, sha, signal);
    const folders = entries.filter(({ type }) => type === 'tree');
    for (const entry of folders) shas.set(`${folder}${entry.path}/`, entry.sha);
    yield {
      folders: folders.map(({ path }) => `${folder}${path}/`),
      files: entries.filter(isFile).map((entry) => fileOf(entry, folder)),
    };
  }

  /** The tree of a folder, from the root downwards; undefined when there is no such folder. */
  async #folderSha(repo: string, folder: string, signal: AbortSignal): Promise<string | undefined> {
    let sha = this.#branch;
    for (const part of folder.split('/').slice(0, -1)) {
      const { tree: entries } = await this.#tree(repo, sha, signal);
      const found = entries.find(({ path, type }) => path === part && type === 'tree');
      if (found === undefined) return undefined;
      sha = found.sha;
    }
    return sha;
  }

  async #tree(repo: string, sha: string, signal: AbortSignal, recursive = false) {
    const url = `${this.#address}/repos/${encodedPath(repo)}/git/trees/${encoded(sha)}`;
    const request = { url: recursive ? `${url}?recursive=1` : url, work: 'list files', path: repo };
    const found = await ifThere(this.#client.json(tree, request, signal));
    if (found === undefined)
      throw errors.sourceContainerMissing(`Branch '${this.#branch}' of repository`, repo);
    return found;
  }

  #repo(parameters: SourceParameters): string {
    const repo = parameters.repo ?? this.#options.repo;
    if (repo === undefined) throw errors.sourceWithoutRepository(this.#options.id);
    return repo;
  }
}

function isRepository(repo: string): boolean {
  return /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(repo) && !repo.split('/').some((part) => /^\.+$/.test(part));
}

/** Links and modules of other repositories are none. */
function isFile({ type, mode }: TreeEntry): boolean {
  return type === 'blob' && mode !== symbolicLink;
}

function fileOf({ path, size, sha }: TreeEntry, folder: string): RemoteFile {
  return { key: folder + path, size: sizeOf(size), lastModified: null, contentType: null, handle: sha };
}

function faultOf({ status, headers, text }: ServiceFault) {
  const work = 'read the repository';
  if (status === 429 || (status === 403 && headers['x-ratelimit-remaining'] === '0'))
    return errors.sourceFailed(work, 'the rate limit of GitHub is reached.');
  if (status === 403 && text.includes('too_large'))
    return errors.sourceFailed(work, 'GitHub gives out no file of this size.');
  return undefined;
}

const installationToken = z
  .object({ token: z.string(), expires_at: z.string() })
  .transform(({ token, expires_at }) => ({ token, lifetimeMs: Date.parse(expires_at) - Date.now() || 0 }));

async function gitHubToken(options: GitHubSourceOptions, address: string): Promise<Lent<string | null>> {
  const { token, appId, installationId, privateKey } = options;
  if (token !== undefined) return keptForAWhile(() => readCredential(token));
  if (privateKey === undefined) return { value: null, until: Number.POSITIVE_INFINITY };
  const [{ SignJWT }, { createPrivateKey }] = await Promise.all([import('jose'), import('node:crypto')]);
  const now = Math.floor(Date.now() / 1000);
  const jwt = await new SignJWT({})
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer(String(appId))
    // clocks differ, and GitHub takes no token from the future
    .setIssuedAt(now - 60)
    .setExpirationTime(now + 540)
    .sign(createPrivateKey(await readCredential(privateKey)));
  return requestToken(
    'GitHub',
    {
      url: `${address}/app/installations/${encoded(String(installationId))}/access_tokens`,
      headers: { authorization: `Bearer ${jwt}`, accept: 'application/vnd.github+json' },
    },
    installationToken,
  );
}
