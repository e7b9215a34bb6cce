import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { findAll, list, textOf } from '../../../test/support/sources/found.js';
import { startWebServer } from '../../../test/tools/web-server.js';
import { type AzureBlobSourceOptions, azureBlobSource } from './azure-blob.js';

const signature = 'sv=2022-11-02&sp=rl&sig=TOP%2FSECRET%3D';

async function container(options: Partial<AzureBlobSourceOptions>) {
  const posted: string[] = [];
  const state = { slow: false };
  const server = await startWebServer((request, response) => {
    const url = new URL(request.url!, 'http://x');
    if (request.method === 'POST') {
      request.on('data', (part) => posted.push(String(part)));
      request.on('end', () =>
        response.end(JSON.stringify({ access_token: 'application', expires_in: 3600 })),
      );
      return;
    }
    const isAllowed =
      request.headers.authorization === 'Bearer application' || url.searchParams.get('sig') === 'TOP/SECRET=';
    if (!isAllowed || request.headers['x-ms-version'] === undefined) return response.writeHead(403).end();
    if (!url.pathname.startsWith('/files'))
      return response.writeHead(404, { 'x-ms-error-code': 'ContainerNotFound' }).end();
    if (state.slow) return response.destroy();
    if (url.searchParams.get('comp') === 'list') {
      const isSecond = url.searchParams.get('marker') === 'more';
      const blob = (name: string) =>
        `<Blob>${name}<Properties><Content-Length>5</Content-Length><Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT</Last-Modified></Properties></Blob>`;
      return response.end(
        isSecond
          ? `<EnumerationResults><Blobs>${blob('<Name Encoded="true">docs/oddx%0C.md</Name>')}</Blobs><NextMarker/></EnumerationResults>`
          : `\ufeff<?xml version="1.0"?><EnumerationResults><Blobs>${blob('<Name>docs/a&amp;b.md</Name>')}<BlobPrefix><Name>docs/deep/</Name></BlobPrefix></Blobs><NextMarker>more</NextMarker></EnumerationResults>`,
      );
    }
    if (url.pathname !== '/files/docs/a%26b.md') return response.writeHead(404).end();
    response.writeHead(200, { 'content-length': '5' });
    return response.end(request.method === 'HEAD' ? undefined : 'alpha');
  });
  const source = azureBlobSource({
    id: 'docs-azure',
    storageAccount: 'contoso',
    container: 'files',
    endpoint: server.url,
    authority: server.url,
    ...options,
  });
  return { source, server, state, posted };
}

it('lists, finds and streams with a shared access signature', async () => {
  const { source, state } = await container({ sasToken: `?${signature}` });
  expect(await list(source, { prefix: 'docs/' })).toMatchObject({
    folders: [{ prefix: 'docs/deep/', name: 'deep' }],
    files: [{ key: 'docs/a&b.md', size: 5, lastModified: '2026-01-02T03:04:05Z' }, { key: 'docs/oddx\f.md' }],
  });
  const [file] = await findAll(source, 'docs/a&b.md');
  expect(await textOf(file!)).toBe('alpha');
  expect(file).toMatchObject({
    virtualPath: 'azure://contoso/files/docs/a&b.md',
    provenance: {
      azure_storage_account: 'contoso',
      azure_container: 'files',
      azure_blob_name: 'docs/a&b.md',
      azure_filename: 'a&b.md',
    },
  });
  expect(source.identity('docs', {})).toBe('azureblob:docs-azure:docs');
  // a folder without a slash; one of its names cannot be part of an address
  const [, odd] = await findAll(source, 'docs');
  await expect(textOf(odd!)).rejects.toMatchObject({ status: 400 });
  state.slow = true;
  const failure = await list(source).catch((error: Error) => error);
  expect(failure).toMatchObject({ status: 502 });
  expect(inspect([failure, source], { depth: 9 }) + JSON.stringify(source)).not.toContain('SECRET');
});

it('gets a token for an application', async () => {
  const application = {
    tenantId: 'tenant',
    clientId: 'client',
    clientSecret: () => Promise.resolve('s&cret'),
  };
  const { source, posted, server } = await container(application);
  await Promise.all([list(source), list(source)]);
  expect(posted).toHaveLength(1);
  expect(Object.fromEntries(new URLSearchParams(posted[0]))).toEqual({
    grant_type: 'client_credentials',
    client_id: 'client',
    client_secret: 's&cret',
    scope: 'https://storage.azure.com/.default',
  });
  expect(server.requests[0]!.url).toBe('/tenant/oauth2/v2.0/token');
  const elsewhere = await container({ ...application, container: 'none' });
  await expect(list(elsewhere.source)).rejects.toThrow("Container 'none' does not exist");
  const refused = await container({ sasToken: 'sig=wrong' });
  await expect(list(refused.source)).rejects.toThrow('Invalid or missing Azure credentials for this source');
  await expect(container({ tenantId: 'only' })).rejects.toThrow('give sasToken, or all of');
});
