import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { errors } from '../../../core/errors/errors.js';
import { lazyObject } from '../../../core/schemas/lazy-schema.js';
import { asset, type ContentReply, html } from '../response/results.js';
import { defineRoute, type Route } from '../route.js';
import type { ApiDescription } from './openapi.js';

/** Nothing from anywhere else: no fonts, no scripts, no beacons. Swagger UI styles its elements in place. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const assetTypes: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

/** `/openapi.json`, and the API browser at `/docs` unless it is turned off. */
export function documentationRoutes(description: ApiDescription, browser: boolean): Route<unknown>[] {
  const openapi = defineRoute({
    method: 'GET',
    path: '/openapi.json',
    operationId: 'get_openapi',
    public: true,
    tag: 'Documentation',
    summary: 'Get the OpenAPI document',
    undocumented: true,
    responses: { 200: { contentType: 'application/json' } },
    handler: (_services, { basePath }) =>
      asset(description.json(basePath), 'application/json', { 'cache-control': 'no-cache' }),
  });
  return browser ? [openapi, browserPage, browserAsset] : [openapi];
}

const browserPage = defineRoute({
  method: 'GET',
  path: '/docs',
  operationId: 'get_docs',
  scope: null,
  tag: 'Documentation',
  summary: 'The API browser',
  undocumented: true,
  responses: { 200: { contentType: 'text/html' } },
  handler: (_services, { basePath }) =>
    html(page(basePath), {
      'cache-control': 'no-cache',
      'content-security-policy': contentSecurityPolicy,
      'x-frame-options': 'DENY',
    }),
});

const browserAsset = defineRoute({
  method: 'GET',
  path: '/docs/assets/:file',
  operationId: 'get_docs_asset',
  // Files of an open-source package: they reveal nothing about the service.
  public: true,
  tag: 'Documentation',
  summary: 'Get a file of the API browser',
  undocumented: true,
  params: lazyObject(() => ({ file: z.string() })),
  responses: { 200: { contentType: 'application/octet-stream' } },
  handler: (_services, { params, basePath }) =>
    params.file === 'start.js' ? startScript(basePath) : packageFile(params.file),
});

function page(basePath: string): string {
  const assets = `${basePath}/docs/assets`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API</title>
<link rel="icon" type="image/png" href="${assets}/favicon-32x32.png">
<link rel="stylesheet" href="${assets}/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="${assets}/swagger-ui-bundle.js"></script>
<script src="${assets}/start.js"></script>
</body>
</html>
`;
}

/** `validatorUrl: null` keeps the browser from sending the description to a validation service. */
function startScript(basePath: string): ContentReply {
  const script = `SwaggerUIBundle({
  url: ${JSON.stringify(`${basePath}/openapi.json`)},
  dom_id: '#api',
  deepLinking: true,
  validatorUrl: null,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
});
`;
  return asset(script, 'text/javascript; charset=utf-8', { 'cache-control': 'no-cache' });
}

const files = new Map<string, Promise<Buffer>>();

/** The bundle has a copy beside itself; the compiled modules and the sources use the package that it is a copy of. */
function browserFile(name: string): string {
  const own = fileURLToPath(new URL(`../browser/${name}`, import.meta.url));
  if (existsSync(own)) return own;
  return createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`);
}

/** Read from disk at the first use; the package's version is fixed, so browsers may keep it for a day. */
async function packageFile(name: string): Promise<ContentReply> {
  const type = assetTypes.get(name);
  if (type === undefined) throw errors.notFound();
  let file = files.get(name);
  if (!file) {
    file = readFile(browserFile(name));
    files.set(name, file);
  }
  return asset(await file, type, { 'cache-control': 'public, max-age=86400' });
}
