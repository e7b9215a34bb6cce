import { z } from 'zod';
import { errors } from '../../../core/errors/errors.js';
import { lazyObject } from '../../../core/schemas/lazy-schema.js';
import { asset, type ContentReply, type Reply, reply } from '../response/results.js';
import { defineRoute, type Route, type RouteRequest } from '../route.js';
import { consoleAddress, consolePath } from './browser-request.js';
import { type ConsoleFile, consoleFile, madeOf } from './files.js';

/**
 * Only the console's own scripts and styles, also in its elements. `connect-src` names schemes and no hosts: a person
 * may point the console at another service, whose address the service that sends the page does not know.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self' http: https:",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders = {
  'cache-control': 'no-cache',
  'content-security-policy': contentSecurityPolicy,
  'x-frame-options': 'DENY',
};

/** Their names change with their content. */
const hashedHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };
const fileHeaders = { 'cache-control': 'no-cache' };

/** What a browser asks for by name. Every other path is a page of the console, which reads its address. */
const namedFile = /^assets(?:\/|$)|^[^/]+\.\w+$/;

type Asked = Pick<RouteRequest<never, never, never>, 'headers' | 'calledAddress'>;
type Headers = Readonly<Record<string, string>>;

const facts = {
  method: 'GET',
  // the files hold no data, and a browser sends no token with an address that is opened
  public: true,
  tag: 'Console',
  undocumented: true,
  responses: { 200: { contentType: 'text/html' } },
} as const;

/** The console at `/console`: its page for each of its addresses, and its files. */
export const consoleRoutes: readonly Route<unknown>[] = [
  defineRoute({
    ...facts,
    path: consolePath,
    operationId: 'get_console',
    summary: 'The console',
    handler: (_services, request) => page(request),
  }),
  defineRoute({
    ...facts,
    path: `${consolePath}/*`,
    operationId: 'get_console_file',
    summary: 'A page or a file of the console',
    params: lazyObject(() => ({ '*': z.string() })),
    handler: (_services, request) => {
      const name = request.params['*'];
      return namedFile.test(name) ? namedAsset(name, request) : page(request);
    },
  }),
];

/** The page at each address where browsers find this service. There are few, but requests choose them. */
const pages = new Map<string, Promise<ConsoleFile>>();
const mostPages = 20;

async function page(request: Asked): Promise<ContentReply | Reply> {
  const address = consoleAddress(request);
  let made = pages.get(address);
  if (made === undefined) {
    made = pageAt(address);
    if (pages.size >= mostPages) pages.clear();
    pages.set(address, made);
    made.catch(() => pages.delete(address));
  }
  return answered(await made, request, pageHeaders);
}

/** Relative addresses in the page, and those that its script makes, begin there. */
async function pageAt(address: string): Promise<ConsoleFile> {
  const built = await consoleFile('index.html');
  if (built === undefined)
    throw errors.notFound('The files of the console are missing: npm run build makes them.');
  const href = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const text = built.content.toString().replace('<base href="/">', () => `<base href="${href}/">`);
  return madeOf(Buffer.from(text), built.type);
}

async function namedAsset(name: string, request: Asked): Promise<ContentReply | Reply> {
  const file = name === 'index.html' ? undefined : await consoleFile(name);
  if (file === undefined) throw errors.notFound();
  return answered(file, request, name.startsWith('assets/') ? hashedHeaders : fileHeaders);
}

function answered(file: ConsoleFile, { headers }: Asked, more: Headers): ContentReply | Reply {
  const known = { ...more, etag: file.etag, vary: 'accept-encoding' };
  if (isKnown(headers['if-none-match'], file.etag)) return reply(304, undefined, known);
  if (!/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(headers['accept-encoding']?.toString() ?? ''))
    return asset(file.content, file.type, known);
  return asset(file.compressed, file.type, { ...known, 'content-encoding': 'gzip' });
}

/** Proxies that compress mark a tag as weak. */
function isKnown(tags: string | string[] | undefined, etag: string): boolean {
  const given = tags?.toString().split(',') ?? [];
  return given.some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}
