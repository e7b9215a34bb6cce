import { errors } from '../../core/errors/errors.js';
import type { ContentSource } from '../../core/knowledge/sources/source.js';
import { checkOptions, ownerOf } from '../../core/options/check-options.js';
import { flag, name, objectOf, required, text } from '../../core/options/kinds.js';
import { type Credential, credential, keptForAWhile, Remembered, readCredential } from './credentials.js';
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
import { encodedPath, queryOf } from './paths.js';
import { ServiceClient, type ServiceRequest } from './service-client.js';
import { childrenOf, parseXml, textOf, type XmlElement } from './xml.js';

export interface S3SourceOptions extends SourceOptions {
  readonly bucket: string;
  /** Default: `AWS_REGION` of the environment, or `us-east-1`. */
  readonly region?: string;
  /** Of another service that speaks S3, such as MinIO or R2. It may be inside your network. */
  readonly endpoint?: string;
  /** The bucket is in the path and not in the host name. Default: with an `endpoint`, yes. */
  readonly pathStyle?: boolean;
  /** Default: `AWS_ACCESS_KEY_ID` of the environment. */
  readonly accessKeyId?: Credential;
  /** Default: `AWS_SECRET_ACCESS_KEY` of the environment. */
  readonly secretAccessKey?: Credential;
  /** Default, without keys of its own: `AWS_SESSION_TOKEN` of the environment, if it is set. */
  readonly sessionToken?: Credential;
  /** The folder that the source consists of. Everything outside of it is refused. */
  readonly prefix?: string;
}

const s3Options = objectOf<S3SourceOptions>({
  ...sourceShape,
  bucket: required(name),
  region: name,
  endpoint: name,
  pathStyle: flag,
  accessKeyId: credential,
  secretAccessKey: credential,
  sessionToken: credential,
  prefix: text,
});

/** A bucket of Amazon S3, or of another service that speaks S3. */
export function s3Source(options: S3SourceOptions): ContentSource {
  const owner = ownerOf('Source', options);
  checkOptions(owner, options, s3Options);
  if ((options.accessKeyId === undefined) !== (options.secretAccessKey === undefined))
    throw errors.invalidConfig(`${owner}: give accessKeyId and secretAccessKey, or neither.`);
  return new FileSource(options, options.prefix, new S3Service(s3Options.plain(options)));
}

interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

class S3Service implements SourceService {
  readonly type = 's3';
  readonly contentType = 's3';
  readonly configName = 'S3Config';
  readonly parameters = [];
  readonly #bucket: string;
  readonly #region: string | undefined;
  readonly #address: string;
  readonly #client: ServiceClient<AwsKeys>;

  constructor(options: S3SourceOptions) {
    const { id, bucket, endpoint } = options;
    const region = options.region ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? 'us-east-1';
    const url = new URL(endpointOf(id, endpoint ?? `https://s3.${region}.amazonaws.com`));
    // a certificate for *.s3.… does not cover a bucket with a dot in its name
    const pathStyle = options.pathStyle ?? (endpoint !== undefined || bucket.includes('.'));
    if (!pathStyle) url.host = `${bucket}.${url.host}`;
    this.#bucket = bucket;
    this.#region = options.region;
    this.#address = url.href.replace(/\/+$/, '') + (pathStyle ? `/${encodedPath(bucket)}` : '');
    this.#client = new ServiceClient({
      ...clientLimits(options, endpoint === undefined ? undefined : url.href),
      service: 'AWS',
      credentials: new Remembered(() => keptForAWhile(() => awsKeys(options))),
      sign: (request, keys) => signed(request, keys, region),
      faultOf: ({ status, headers, text }) => {
        const home = headers['x-amz-bucket-region'] ?? region;
        // a request for another region is redirected or refused: neither says why
        if (home !== region && /^[a-z0-9-]{1,40}$/.test(home))
          return errors.sourceFailed('reach the bucket', `it is in the region ${home}.`);
        return status === 404 && codeOf(text) === 'NoSuchBucket'
          ? errors.sourceContainerMissing('Bucket', bucket)
          : undefined;
      },
    });
  }

  identity(path: string): string {
    return `s3:${this.#bucket}:${path}`;
  }

  virtualPath(path: string): string {
    return `s3://${this.#bucket}/${path}`;
  }

  provenance(path: string) {
    return {
      s3_bucket: this.#bucket,
      s3_object_name: path,
      ...(this.#region !== undefined && { s3_region: this.#region }),
    };
  }

  async fileAt(path: string, _: unknown, signal: AbortSignal): Promise<RemoteFile | undefined> {
    const headers = await ifThere(this.#client.head(this.#request(path), signal));
    return (
      headers && {
        key: path,
        size: sizeOf(headers['content-length']),
        lastModified: timeOf(headers['last-modified']),
        contentType: headers['content-type'] ?? null,
      }
    );
  }

  async *pages({ prefix, delimiter, signal }: RemoteQuery): AsyncGenerator<RemotePage> {
    let token: string | undefined;
    do {
      const query = queryOf({
        'list-type': '2',
        'max-keys': '1000',
        'encoding-type': 'url',
        prefix,
        delimiter: delimiter || undefined,
        'continuation-token': token,
      });
      const url = `${this.#address}/?${query}`;
      const result = await this.#client.xml({ url, work: 'list files' }, signal);
      yield pageOf(result);
      token = textOf(result, 'IsTruncated') === 'true' ? textOf(result, 'NextContinuationToken') : undefined;
    } while (token !== undefined);
  }

  open({ key }: RemoteFile, _: unknown, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#client.stream(this.#request(key), signal);
  }

  #request(path: string): ServiceRequest {
    return { url: `${this.#address}/${encodedPath(path)}`, work: `read '${path}'`, path };
  }
}

async function awsKeys(options: S3SourceOptions): Promise<AwsKeys> {
  const {
    accessKeyId = { env: 'AWS_ACCESS_KEY_ID' },
    secretAccessKey = { env: 'AWS_SECRET_ACCESS_KEY' },
    sessionToken = options.accessKeyId === undefined && process.env.AWS_SESSION_TOKEN
      ? { env: 'AWS_SESSION_TOKEN' }
      : undefined,
  } = options;
  return {
    accessKeyId: await readCredential(accessKeyId),
    secretAccessKey: await readCredential(secretAccessKey),
    ...(sessionToken !== undefined && { sessionToken: await readCredential(sessionToken) }),
  };
}

/** As SigV4 signs a request without a body. */
async function signed(request: ServiceRequest, keys: AwsKeys, region: string): Promise<ServiceRequest> {
  const { AwsV4Signer } = await import('aws4fetch');
  const { url, method = 'GET' } = request;
  const signer = new AwsV4Signer({ ...keys, url, method, service: 's3', region });
  const { headers } = await signer.sign();
  return { ...request, headers: Object.fromEntries(headers) };
}

function pageOf(result: XmlElement): RemotePage {
  const isEncoded = textOf(result, 'EncodingType') === 'url';
  const read = (key = '') => (isEncoded ? decoded(key) : key);
  return {
    folders: childrenOf(result, 'CommonPrefixes').map((folder) => read(textOf(folder, 'Prefix'))),
    files: childrenOf(result, 'Contents').map((file) => ({
      key: read(textOf(file, 'Key')),
      size: sizeOf(textOf(file, 'Size')),
      lastModified: timeOf(textOf(file, 'LastModified')),
      contentType: null,
    })),
  };
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', '%20'));
  } catch {
    return key;
  }
}

function codeOf(text: string): string | undefined {
  try {
    return textOf(parseXml(text), 'Code');
  } catch {
    return undefined;
  }
}
