import { errors } from '../../core/errors/errors.js';
import type { ContentSource } from '../../core/knowledge/sources/source.js';
import { checkOptions, ownerOf } from '../../core/options/check-options.js';
import { name, objectOf, required, text } from '../../core/options/kinds.js';
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
import { defaultAuthority, type MicrosoftApplication, microsoftToken } from './microsoft-token.js';
import { encoded, encodedPath, lastPart, queryOf } from './paths.js';
import { bearer, ServiceClient, type ServiceFault, type ServiceRequest } from './service-client.js';
import { childOf, childrenOf, textOf, type XmlElement } from './xml.js';

export interface AzureBlobSourceOptions extends SourceOptions {
  readonly storageAccount: string;
  readonly container: string;
  /** A shared access signature. Or an application: `tenantId`, `clientId` and `clientSecret`. */
  readonly sasToken?: Credential;
  readonly tenantId?: string;
  readonly clientId?: string;
  readonly clientSecret?: Credential;
  /** The folder that the source consists of. Everything outside of it is refused. */
  readonly prefix?: string;
  /** Default `https://<account>.blob.core.windows.net`. It may be inside your network. */
  readonly endpoint?: string;
  /** Where the application gets its token. Default `https://login.microsoftonline.com`. */
  readonly authority?: string;
}

const azureOptions = objectOf<AzureBlobSourceOptions>({
  ...sourceShape,
  storageAccount: required(name),
  container: required(name),
  sasToken: credential,
  tenantId: name,
  clientId: name,
  clientSecret: credential,
  prefix: text,
  endpoint: name,
  authority: name,
});

/** A container of Azure Blob Storage. */
export function azureBlobSource(options: AzureBlobSourceOptions): ContentSource {
  const owner = ownerOf('Source', options);
  checkOptions(owner, options, azureOptions);
  const given = azureOptions.plain(options);
  const proof = given.sasToken === undefined ? application(given) : given.sasToken;
  if (proof === undefined || (given.sasToken !== undefined && given.clientSecret !== undefined))
    throw errors.invalidConfig(`${owner}: give sasToken, or all of tenantId, clientId and clientSecret.`);
  return new FileSource(options, options.prefix, new AzureBlobService(given, proof));
}

function application(options: AzureBlobSourceOptions): MicrosoftApplication | undefined {
  const { id, tenantId, clientId, clientSecret } = options;
  if (tenantId === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return {
    tenantId,
    clientId,
    clientSecret,
    authority: endpointOf(id, options.authority ?? defaultAuthority),
  };
}

/** Of the protocol: tokens of applications are accepted since 2017, names in XML are encoded since 2020. */
const version = '2021-12-02';

class AzureBlobService implements SourceService {
  readonly type = 'azureblob';
  readonly contentType = 'azure_blob';
  readonly configName = 'AzureBlobConfig';
  readonly parameters = [];
  readonly #id: string;
  readonly #account: string;
  readonly #container: string;
  readonly #address: string;
  readonly #client: ServiceClient<string>;

  constructor(options: AzureBlobSourceOptions, proof: Credential | MicrosoftApplication) {
    const { id, storageAccount, container, endpoint } = options;
    const address = endpointOf(id, endpoint ?? `https://${storageAccount}.blob.core.windows.net`);
    const isSignature = options.sasToken !== undefined;
    this.#id = id;
    this.#account = storageAccount;
    this.#container = container;
    this.#address = `${address}/${encoded(container)}`;
    this.#client = new ServiceClient({
      ...clientLimits(options, endpoint === undefined ? undefined : address),
      service: 'Azure',
      credentials: new Remembered(() =>
        typeof proof === 'object' && 'tenantId' in proof
          ? microsoftToken(proof, 'https://storage.azure.com/.default')
          : keptForAWhile(() => readCredential(proof)),
      ),
      sign: (request, token) => (isSignature ? withSignature(request, token) : bearer(request, token)),
      faultOf: (fault) =>
        isContainerMissing(fault) ? errors.sourceContainerMissing('Container', container) : undefined,
    });
  }

  identity(path: string): string {
    return `azureblob:${this.#id}:${path}`;
  }

  virtualPath(path: string): string {
    return `azure://${this.#account}/${this.#container}/${path}`;
  }

  provenance(path: string) {
    return {
      azure_storage_account: this.#account,
      azure_container: this.#container,
      azure_blob_name: path,
      azure_filename: lastPart(path),
    };
  }

  async fileAt(path: string, _: unknown, signal: AbortSignal): Promise<RemoteFile | undefined> {
    const headers = await ifThere(this.#client.head(this.#request(path), signal));
    // an account with folders has entries for them
    if (headers === undefined || headers['x-ms-meta-hdi_isfolder'] === 'true') return undefined;
    return {
      key: path,
      size: sizeOf(headers['content-length']),
      lastModified: timeOf(headers['last-modified']),
      contentType: headers['content-type'] ?? null,
    };
  }

  async *pages({ prefix, delimiter, signal }: RemoteQuery): AsyncGenerator<RemotePage> {
    let marker: string | undefined;
    do {
      const query = queryOf({
        restype: 'container',
        comp: 'list',
        maxresults: '1000',
        prefix,
        delimiter: delimiter || undefined,
        marker,
      });
      const url = `${this.#address}?${query}`;
      const result = await this.#client.xml({ url, work: 'list files', headers: versioned }, signal);
      yield pageOf(childOf(result, 'Blobs'));
      marker = textOf(result, 'NextMarker') || undefined;
    } while (marker !== undefined);
  }

  open({ key }: RemoteFile, _: unknown, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#client.stream(this.#request(key), signal);
  }

  #request(path: string): ServiceRequest {
    const url = `${this.#address}/${encodedPath(path)}`;
    return { url, headers: versioned, work: `read '${path}'`, path };
  }
}

const versioned = { 'x-ms-version': version };

function withSignature(request: ServiceRequest, token: string): ServiceRequest {
  const separator = request.url.includes('?') ? '&' : '?';
  return { ...request, url: request.url + separator + token.replace(/^\?/, '') };
}

function isContainerMissing({ status, headers, text }: ServiceFault): boolean {
  return status === 404 && (headers['x-ms-error-code'] ?? text).includes('ContainerNotFound');
}

function pageOf(blobs: XmlElement | undefined): RemotePage {
  return {
    folders: childrenOf(blobs, 'BlobPrefix').map(nameOf),
    files: childrenOf(blobs, 'Blob')
      .map((blob) => ({ blob, properties: childOf(blob, 'Properties') }))
      .filter(({ properties }) => textOf(properties, 'ResourceType') !== 'directory')
      .map(({ blob, properties }) => ({
        key: nameOf(blob),
        size: sizeOf(textOf(properties, 'Content-Length')),
        lastModified: timeOf(textOf(properties, 'Last-Modified')),
        contentType: textOf(properties, 'Content-Type') || null,
      })),
  };
}

/** A name with characters that XML cannot hold is encoded. */
function nameOf(element: XmlElement): string {
  const found = childOf(element, 'Name');
  const given = found?.text ?? '';
  if (!/Encoded\s*=\s*["']true/i.test(found?.attributes ?? '')) return given;
  try {
    return decodeURIComponent(given);
  } catch {
    return given;
  }
}
