import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { errors } from '../../core/errors/errors.js';
import type { ContentSource } from '../../core/knowledge/sources/source.js';
import { checkOptions, ownerOf } from '../../core/options/check-options.js';
import { name, objectOf, required, text } from '../../core/options/kinds.js';
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
  timeOf,
} from './file-source.js';
import { encoded, queryOf } from './paths.js';
import { bearer, oauthToken, requestToken, ServiceClient, type ServiceRequest } from './service-client.js';

export interface GcsSourceOptions extends SourceOptions {
  readonly bucket: string;
  /** The project that is billed for the requests, if the bucket asks for one. */
  readonly project?: string;
  /** The key of a service account: the text of its JSON file. */
  readonly credentials?: Credential;
  /** Where the JSON file of the key is. Default: `GOOGLE_APPLICATION_CREDENTIALS` of the environment. */
  readonly credentialsPath?: string;
  /** An access token instead of a key, such as one of a workload identity. */
  readonly accessToken?: Credential;
  /** The folder that the source consists of. Everything outside of it is refused. */
  readonly prefix?: string;
  /** Default `https://storage.googleapis.com`. */
  readonly endpoint?: string;
}

const gcsOptions = objectOf<GcsSourceOptions>({
  ...sourceShape,
  bucket: required(name),
  project: name,
  credentials: credential,
  credentialsPath: name,
  accessToken: credential,
  prefix: text,
  endpoint: name,
});

/** A bucket of Google Cloud Storage. */
export function gcsSource(options: GcsSourceOptions): ContentSource {
  const owner = ownerOf('Source', options);
  checkOptions(owner, options, gcsOptions);
  const { credentials, credentialsPath, accessToken } = options;
  if ([credentials, credentialsPath, accessToken].filter((one) => one !== undefined).length > 1)
    throw errors.invalidConfig(`${owner}: give one of credentials, credentialsPath and accessToken.`);
  return new FileSource(options, options.prefix, new GcsService(gcsOptions.plain(options)));
}

const service = 'Google Cloud';
const fileFields = 'name,size,updated,contentType';

const object = z.object({
  name: z.string(),
  size: z.string().optional(),
  updated: z.string().optional(),
  contentType: z.string().optional(),
});
const listing = z.object({
  items: z.array(object).default([]),
  prefixes: z.array(z.string()).default([]),
  nextPageToken: z.string().optional(),
});

class GcsService implements SourceService {
  readonly type = 'gcs';
  readonly contentType = 'gcs';
  readonly configName = 'GcsConfig';
  readonly parameters = [];
  readonly #bucket: string;
  readonly #project: string | undefined;
  readonly #objects: string;
  readonly #client: ServiceClient<string>;

  constructor(options: GcsSourceOptions) {
    const { id, bucket, project, endpoint, accessToken } = options;
    const address = endpointOf(id, endpoint ?? 'https://storage.googleapis.com');
    this.#bucket = bucket;
    this.#project = project;
    this.#objects = `${address}/storage/v1/b/${encoded(bucket)}/o`;
    this.#client = new ServiceClient({
      ...clientLimits(options, endpoint === undefined ? undefined : address),
      service,
      credentials: new Remembered(() =>
        accessToken === undefined
          ? serviceAccountToken(options)
          : keptForAWhile(() => readCredential(accessToken)),
      ),
      sign: bearer,
    });
  }

  identity(path: string): string {
    return `gcs:${this.#bucket}:${path}`;
  }

  virtualPath(path: string): string {
    return `gcs://${this.#bucket}/${path}`;
  }

  provenance(path: string) {
    return { gcs_bucket: this.#bucket, gcs_blob_name: path };
  }

  async fileAt(path: string, _: unknown, signal: AbortSignal): Promise<RemoteFile | undefined> {
    const request = this.#request(path, { fields: fileFields });
    const found = await ifThere(this.#client.json(object, request, signal));
    return found && fileOf(found);
  }

  async *pages({ prefix, delimiter, signal }: RemoteQuery): AsyncGenerator<RemotePage> {
    let token: string | undefined;
    do {
      const query = queryOf({
        prefix,
        delimiter: delimiter || undefined,
        maxResults: '1000',
        pageToken: token,
        fields: `items(${fileFields}),prefixes,nextPageToken`,
        userProject: this.#project,
      });
      const request = { url: `${this.#objects}?${query}`, work: 'list files', path: prefix };
      const answer = await ifThere(this.#client.json(listing, request, signal));
      if (answer === undefined) throw errors.sourceContainerMissing('Bucket', this.#bucket);
      yield { folders: answer.prefixes, files: answer.items.map(fileOf) };
      token = answer.nextPageToken || undefined;
    } while (token !== undefined);
  }

  open({ key }: RemoteFile, _: unknown, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#client.stream(this.#request(key, { alt: 'media' }), signal);
  }

  #request(path: string, parameters: Readonly<Record<string, string>>): ServiceRequest {
    const query = queryOf({ ...parameters, userProject: this.#project });
    return { url: `${this.#objects}/${encoded(path)}?${query}`, work: `read '${path}'`, path };
  }
}

function fileOf({ name: key, size, updated, contentType }: z.infer<typeof object>): RemoteFile {
  return { key, size: sizeOf(size), lastModified: timeOf(updated), contentType: contentType ?? null };
}

const serviceAccount = z.object({
  client_email: z.string(),
  private_key: z.string(),
  private_key_id: z.string().optional(),
  token_uri: z.string().default('https://oauth2.googleapis.com/token'),
});

/** A token for the key of a service account, which signs the request for it. */
async function serviceAccountToken(options: GcsSourceOptions): Promise<Lent<string>> {
  const key = serviceAccount.safeParse(await accountKey(options)).data;
  if (key === undefined) throw new Error('The credentials are not the JSON key of a service account.');
  const [{ SignJWT }, { createPrivateKey }] = await Promise.all([import('jose'), import('node:crypto')]);
  const assertion = await new SignJWT({ scope: 'https://www.googleapis.com/auth/devstorage.read_only' })
    .setProtectedHeader({ alg: 'RS256', ...(key.private_key_id && { kid: key.private_key_id }) })
    .setIssuer(key.client_email)
    .setAudience(key.token_uri)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(createPrivateKey(key.private_key));
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion,
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return requestToken(service, { url: key.token_uri, headers, body }, oauthToken);
}

async function accountKey(options: GcsSourceOptions): Promise<unknown> {
  const { credentials, credentialsPath = process.env.GOOGLE_APPLICATION_CREDENTIALS } = options;
  if (credentials === undefined && credentialsPath === undefined)
    throw new Error(
      'Neither credentials, credentialsPath, accessToken nor GOOGLE_APPLICATION_CREDENTIALS is set.',
    );
  const key =
    credentials === undefined
      ? await readFile(credentialsPath ?? '', 'utf8')
      : await readCredential(credentials);
  try {
    return JSON.parse(key);
  } catch {
    // what JSON.parse says repeats a part of the key
    throw new Error('The credentials are not JSON.');
  }
}
