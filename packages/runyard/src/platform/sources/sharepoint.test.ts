import { expect, it } from 'vitest';
import { findAll, list, textOf } from '../../../test/support/sources/found.js';
import { startWebServer } from '../../../test/tools/web-server.js';
import { type SharePointSourceOptions, sharePointSource } from './sharepoint.js';

const file = (id: string, name: string) => ({
  id,
  name,
  size: 5,
  lastModifiedDateTime: '2026-01-02T03:04:05Z',
  file: { mimeType: 'text/plain' },
});
const folder = (name: string) => ({ id: name, name, folder: { childCount: 1 } });

async function site(options: Partial<SharePointSourceOptions> = {}) {
  const downloads = await startWebServer((_, response) => response.end('alpha'));
  const state: { next?: string } = {};
  const server = await startWebServer((request, response) => {
    const send = (body: unknown) => response.end(JSON.stringify(body));
    if (request.method === 'POST') return send({ access_token: 'graph', expires_in: 3600 });
    if (request.headers.authorization !== 'Bearer graph') return response.writeHead(401).end();
    const address = `http://${request.headers.host}/v1.0`;
    switch (decodeURIComponent(request.url!.replace('/v1.0', ''))) {
      case '/sites/contoso.sharepoint.com:/sites/handbook':
        return send({ id: 'contoso,1,2' });
      case '/sites/contoso,1,2/drive':
        return send({ id: 'drive' });
      case '/sites/contoso,1,2/drives':
        return send({ value: [{ id: 'drive', name: 'Policies' }] });
      case '/drives/drive/root/children?$top=200':
        return send({ value: [file('1', 'top.txt'), folder('a b')] });
      case '/drives/drive/root:/a b:/children?$top=200':
        return send({ value: [file('2', 'x.txt')], '@odata.nextLink': state.next ?? `${address}/next` });
      case '/next':
        return send({ value: [folder('deep')] });
      case '/drives/drive/root:/a b/deep:/children?$top=200':
        return send({ value: [file('3', "o'.txt")] });
      case '/drives/drive/root:/a b':
        return send(folder('a b'));
      case '/drives/drive/root:/a b/x.txt':
        return send(file('2', 'x.txt'));
      case '/drives/drive/items/2/content':
        return response.writeHead(302, { location: `${downloads.url}/file?tempauth=1` }).end();
      default:
        return response.writeHead(404).end('{}');
    }
  });
  const source = sharePointSource({
    id: 'docs-sp',
    tenantId: 'tenant',
    clientId: 'client',
    clientSecret: 'TOP-SECRET',
    hostname: 'contoso.sharepoint.com',
    sitePath: '/sites/handbook',
    endpoint: server.url,
    authority: server.url,
    allowedHosts: [downloads.host],
    ...options,
  });
  return { source, server, downloads, state };
}

it('lists a library, walks its folders and streams files from where Graph leads', async () => {
  const { source, server, downloads } = await site();
  expect(await list(source)).toMatchObject({
    folders: [{ prefix: 'a b/', name: 'a b' }],
    files: [{ key: 'top.txt', size: 5, lastModified: '2026-01-02T03:04:05Z', contentType: 'text/plain' }],
  });
  expect((await list(source, { prefix: 'to' })).folders).toEqual([]);
  expect((await findAll(source, 'a b')).map(({ path }) => path)).toEqual(['a b/x.txt', "a b/deep/o'.txt"]);
  const [found] = await findAll(source, 'a b/x.txt');
  expect(await textOf(found!)).toBe('alpha');
  // the token is for Graph
  expect(downloads.requests[0]!.headers.authorization).toBeUndefined();
  expect(found).toMatchObject({
    virtualPath: 'sharepoint://contoso.sharepoint.com/sites/handbook/a b/x.txt',
    provenance: {
      sharepoint_hostname: 'contoso.sharepoint.com',
      sharepoint_site_id: 'contoso,1,2',
      sharepoint_path: 'a b/x.txt',
      sharepoint_filename: 'x.txt',
    },
  });
  expect(source.identity('a b', {})).toBe('sharepoint:docs-sp:sites/handbook/:a b');
  expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  await expect(findAll(source, 'none')).rejects.toMatchObject({ status: 404 });
  await expect(list(source, { delimiter: '-' })).rejects.toMatchObject({ status: 400 });
});

it('sends its token to no other place, and keeps to its folder and library', async () => {
  const { source, state, downloads } = await site({ folder: 'a b', drive: 'Policies' });
  state.next = `${downloads.url}/steal`;
  await expect(findAll(source, 'a b/')).rejects.toMatchObject({ status: 502 });
  expect(downloads.requests).toHaveLength(0);
  expect(() => source.check('top.txt', {})).toThrow("is outside of the prefix 'a b/'");
  const unknown = await site({ drive: 'None' });
  await expect(list(unknown.source)).rejects.toThrow("Document library 'None' does not exist");
  const wrong = await site({ sitePath: 'sites/none' });
  await expect(list(wrong.source)).rejects.toThrow("Site 'sites/none' does not exist");
});
