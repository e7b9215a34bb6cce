import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { capabilities, migrations } from '../../src/capabilities/capabilities.js';
import type { FetchDocument } from '../../src/capabilities/mcp-oauth/schema.js';
import { Readiness } from '../../src/capabilities/system/readiness.js';
import { type Log, silentLog } from '../../src/core/log.js';
import type { Interface } from '../../src/interfaces/interface.js';
import { mcpOAuth } from '../../src/interfaces/mcp/oauth/authorization.js';
import { openService } from '../../src/open-service.js';
import { reply } from '../../src/platform/http/response/results.js';
import { defineRoute } from '../../src/platform/http/route.js';
import { loadSettings } from '../../src/platform/settings/config.js';
import type { Database } from '../../src/platform/storage/database.js';
import { openDatabase } from '../../src/platform/storage/open.js';
import { preparedSqlite } from '../support/databases.js';
import { partsOver } from '../support/open-services.js';

export const connectSecret = 'correct horse battery';
export const signingKey = 'k'.repeat(48);

export interface GuardedOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly publicUrl?: string;
  readonly fetchDocument?: FetchDocument;
  readonly log?: Log;
}

/** A process with an endpoint that answers with who calls it, behind the authorization server. It ends with its test. */
export async function guardedService(database: Database, options: GuardedOptions = {}): Promise<string> {
  const { url, close } = await openGuardedService(database, options);
  onTestFinished(close);
  return url;
}

/** One for several tests: they close it. */
export async function sharedGuardedService() {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-oauth-'));
  writeFileSync(join(folder, 'runyard.db'), await preparedSqlite());
  const url = `sqlite://${folder}/runyard.db`;
  const database = await openDatabase({ id: 'test', url, migrations, log: silentLog });
  const service = await openGuardedService(database);
  return {
    url: service.url,
    async close() {
      await service.close();
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openGuardedService(database: Database, options: GuardedOptions = {}) {
  const { publicUrl, fetchDocument, settings = {}, log = silentLog } = options;
  const oauth = mcpOAuth(
    { secret: connectSecret, signingKey },
    { path: '/mcp', publicUrl, ...(fetchDocument && { fetchDocument }) },
  );
  let opened: Awaited<ReturnType<typeof oauth.open>>;
  const guarded: Interface = {
    name: 'guarded',
    routes: [
      ...oauth.routes,
      defineRoute({
        method: 'POST',
        path: '/mcp',
        operationId: 'call_guarded',
        scope: null,
        tag: 'MCP',
        summary: 'Who calls',
        responses: { 200: {} },
        admit: (_services, request, usual) => opened.admit(request, usual),
        encodeError: (error, request) =>
          reply(error.status, undefined, { 'www-authenticate': oauth.challenge(error, request) }),
        handler: (_services, { caller: { userId, scope, rights } }) => ({ userId, scope, held: rights.held }),
      }),
    ],
    async open(site) {
      opened = await oauth.open(site);
      return { services: opened.services };
    },
  };
  const service = await openService({
    ...partsOver(database),
    settings: loadSettings({ code: { serviceAccountCacheSeconds: 0, ...settings } }).settings,
    log,
    readiness: new Readiness(silentLog),
    capabilities,
    interfaces: [guarded],
    customRoutes: undefined,
    info: { title: 'Guarded', version: '1' },
    pathExamples: {},
  });
  const { url } = await service.http.listen({ host: '127.0.0.1', port: 0 });
  return { url, close: () => service.close(0) };
}
