import { z } from 'zod';
import { errors } from '../../core/errors/errors.js';
import type { ContentSource } from '../../core/knowledge/sources/source.js';
import { checkOptions, ownerOf } from '../../core/options/check-options.js';
import { name, objectOf, required, text } from '../../core/options/kinds.js';
import { type Credential, credential, Remembered } from './credentials.js';
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
import { walkFolders } from './folder-walk.js';
import { defaultAuthority, microsoftToken } from './microsoft-token.js';
import { encoded, encodedPath, lastPart } from './paths.js';
import { bearer, ServiceClient, type ServiceRequest } from './service-client.js';

export interface SharePointSourceOptions extends SourceOptions {
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: Credential;
  /** As in `contoso.sharepoint.com`. */
  readonly hostname: string;
  /** As in `sites/handbook`. Default: the root site. */
  readonly sitePath?: string;
  /** The id of the site, instead of its path. */
  readonly siteId?: string;
  /** The name of a document library. Default: the one that the site begins with. */
  readonly drive?: string;
  /** The folder that the source consists of. Everything outside of it is refused. */
  readonly folder?: string;
  /** Default `https://graph.microsoft.com`. */
  readonly endpoint?: string;
  /** Where the application gets its token. Default `https://login.microsoftonline.com`. */
  readonly authority?: string;
}

const sharePointOptions = objectOf<SharePointSourceOptions>({
  ...sourceShape,
  tenantId: required(name),
  clientId: required(name),
  clientSecret: required(credential),
  hostname: required(name),
  sitePath: text,
  siteId: name,
  drive: name,
  folder: text,
  endpoint: name,
  authority: name,
});

/** A document library of a SharePoint site. */
export function sharePointSource(options: SharePointSourceOptions): ContentSource {
  checkOptions(ownerOf('Source', options), options, sharePointOptions);
  const given = sharePointOptions.plain(options);
  return new FileSource(options, options.folder, new SharePointService(given));
}

const item = z.object({
  id: z.string(),
  name: z.string(),
  size: z.number().optional(),
  lastModifiedDateTime: z.string().optional(),
  file: z.object({ mimeType: z.string().optional() }).optional(),
  folder: z.unknown().optional(),
});
const children = z.object({ value: z.array(item), '@odata.nextLink': z.string().optional() });
const withId = z.object({ id: z.string() });
const drives = z.object({ value: z.array(z.object({ id: z.string(), name: z.string() })) });

/** Sites and libraries move rarely. */
const keptPlaceMs = 600_000;
const placeTimeoutMs = 60_000;

class SharePointService implements SourceService {
  readonly type = 'sharepoint';
  readonly contentType = 'sharepoint';
  readonly configName = 'SharePointConfig';
  readonly parameters = [];
  readonly #options: SharePointSourceOptions;
  readonly #address: string;
  readonly #site: string;
  readonly #client: ServiceClient<string>;
  readonly #drive: Remembered<string>;
  #siteId: string | null;

  constructor(options: SharePointSourceOptions) {
    const { id, endpoint, tenantId, clientId, clientSecret, sitePath = '' } = options;
    const address = endpointOf(id, endpoint ?? 'https://graph.microsoft.com');
    const authority = endpointOf(id, options.authority ?? defaultAuthority);
    this.#options = options;
    this.#address = `${address}/v1.0`;
    this.#site = sitePath.replace(/^\/+|\/+$/g, '');
    this.#siteId = options.siteId ?? null;
    this.#client = new ServiceClient({
      ...clientLimits(options, endpoint === undefined ? undefined : address),
      service: 'Microsoft',
      credentials: new Remembered(() =>
        microsoftToken({ tenantId, clientId, clientSecret, authority }, `${address}/.default`),
      ),
      sign: bearer,
    });
    this.#drive = new Remembered(async () => ({
      value: await this.#findDrive(AbortSignal.timeout(placeTimeoutMs)),
      until: Date.now() + keptPlaceMs,
    }));
  }

  identity(path: string): string {
    const { id, siteId, hostname, drive = '' } = this.#options;
    return `sharepoint:${id}:${siteId ?? (this.#site || hostname)}/${drive}:${path}`;
  }

  virtualPath(path: string): string {
    const { hostname, siteId, drive } = this.#options;
    const parts = [hostname, this.#site || siteId, drive, path];
    return `sharepoint://${parts.filter((part) => part).join('/')}`;
  }

  provenance(path: string) {
    return {
      sharepoint_hostname: this.#options.hostname,
      sharepoint_site_id: this.#siteId,
      sharepoint_path: path,
      sharepoint_filename: lastPart(path),
    };
  }

  async fileAt(path: string, _: unknown, signal: AbortSignal): Promise<RemoteFile | undefined> {
    const root = await this.#root();
    const request = { url: `${root}:/${encodedPath(path)}`, work: `read '${path}'`, path };
    const found = await ifThere(this.#client.json(item, request, signal));
    return found === undefined || found.folder !== undefined ? undefined : fileOf(found, path);
  }

  pages(query: RemoteQuery): AsyncIterable<RemotePage> {
    return walkFolders(query, (folder) => this.#children(folder, query.signal));
  }

  async *open({ key, handle = '' }: RemoteFile, _: unknown, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const url = `${this.#address}/drives/${encoded(await this.#drive.get())}/items/${encoded(handle)}/content`;
    yield* this.#client.stream({ url, work: `read '${key}'`, path: key }, signal);
  }

  async *#children(folder: string, signal: AbortSignal): AsyncGenerator<RemotePage> {
    const root = await this.#root();
    const place = folder === '' ? root : `${root}:/${encodedPath(folder.slice(0, -1))}:`;
    let url: string | undefined = `${place}/children?$top=200`;
    while (url !== undefined) {
      const request: ServiceRequest = { url, work: 'list files', path: folder };
      const page: z.infer<typeof children> | undefined = await ifThere(
        this.#client.json(children, request, signal),
      );
      if (page === undefined) return;
      yield {
        folders: page.value.filter(isFolder).map((one) => `${folder}${one.name}/`),
        files: page.value.filter((one) => !isFolder(one)).map((one) => fileOf(one, folder + one.name)),
      };
      url = page['@odata.nextLink'];
      // the token is for this service only
      if (url !== undefined && !url.startsWith(`${this.#address}/`))
        throw errors.sourceFailed('list files', 'the service names a next page elsewhere.');
    }
  }

  async #root(): Promise<string> {
    return `${this.#address}/drives/${encoded(await this.#drive.get())}/root`;
  }

  async #findDrive(signal: AbortSignal): Promise<string> {
    const { hostname, siteId, drive } = this.#options;
    const work = 'find the site';
    const place = this.#site === '' ? encoded(hostname) : `${encoded(hostname)}:/${encodedPath(this.#site)}`;
    const find = <Schema extends z.ZodType>(schema: Schema, path: string, kind: string, called: string) =>
      ifThere(this.#client.json(schema, { url: `${this.#address}/sites/${path}`, work, path }, signal)).then(
        (found) => {
          if (found === undefined) throw errors.sourceContainerMissing(kind, called);
          return found;
        },
      );
    const site = siteId ?? (await find(withId, place, 'Site', this.#site || hostname)).id;
    this.#siteId = site;
    if (drive === undefined) return (await find(withId, `${encoded(site)}/drive`, 'Site', site)).id;
    const { value } = await find(drives, `${encoded(site)}/drives`, 'Site', site);
    const own = value.find((one) => one.name === drive);
    if (own === undefined) throw errors.sourceContainerMissing('Document library', drive);
    return own.id;
  }
}

function isFolder({ folder }: z.infer<typeof item>): boolean {
  return folder !== undefined;
}

function fileOf(found: z.infer<typeof item>, key: string): RemoteFile {
  return {
    key,
    size: sizeOf(found.size),
    lastModified: timeOf(found.lastModifiedDateTime),
    contentType: found.file?.mimeType ?? null,
    handle: found.id,
  };
}
