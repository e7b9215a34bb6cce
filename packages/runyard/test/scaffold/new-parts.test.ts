import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { capabilities, routes } from '../../src/capabilities/capabilities.js';
import { type Capability, migrationsOf, routesOf } from '../../src/capabilities/capability.js';
import { Readiness } from '../../src/capabilities/system/readiness.js';
import { errors } from '../../src/core/errors/errors.js';
import { silentLog } from '../../src/core/log.js';
import { DefinedInterface, type Interface } from '../../src/interfaces/interface.js';
import { interfaceAddresses, loadInterfaces } from '../../src/interfaces/interfaces.js';
import { openCapabilities } from '../../src/open-capabilities.js';
import { openService } from '../../src/open-service.js';
import { reply } from '../../src/platform/http/response/results.js';
import { defineRoute } from '../../src/platform/http/route.js';
import { refuseUpgrade } from '../../src/platform/http/upgrades.js';
import { loadSettings } from '../../src/platform/settings/config.js';
import type { Database } from '../../src/platform/storage/database.js';
import { migrate } from '../../src/platform/storage/migrations/migrate.js';
import { openDatabase } from '../../src/platform/storage/open.js';
import { refusalOf } from '../support/clients/ws-client.js';
import { emptySqlite, freshSqlite } from '../support/databases.js';
import { partsOver } from '../support/open-services.js';

/** What a capability of its own folder declares. */
declare module '../../src/platform/storage/schema.js' {
  interface Schema {
    notes: { text: string };
  }
}
declare module '../../src/capabilities/capability.js' {
  interface Services {
    readonly notes: NotesService;
    readonly gong?: { readonly sound: string };
  }
  interface RunSpace {
    readonly notes: NoteStore;
  }
}

class NoteStore {
  constructor(private readonly database: Database) {}

  async add(text: string): Promise<void> {
    await this.database.query.insertInto('notes').values({ text }).execute();
  }

  async texts(): Promise<string[]> {
    const rows = await this.database.query.selectFrom('notes').select('text').orderBy('text').execute();
    return rows.map(({ text }) => text);
  }
}

class NotesService {
  constructor(readonly texts: () => Promise<string[]>) {}
}

const happened: string[] = [];

const notes: Capability = {
  name: 'notes',
  migrations: [
    {
      version: migrationsOf(capabilities).length + 1,
      name: 'notes',
      up: () => ['CREATE TABLE notes (text text NOT NULL)'],
      down: () => ['DROP TABLE notes'],
    },
  ],
  routes: [
    defineRoute({
      method: 'GET',
      path: '/notes',
      operationId: 'get_notes',
      scope: 'notes:read',
      tag: 'Notes',
      summary: 'List the notes',
      responses: { 200: z.array(z.string()) },
      handler: (services: { readonly notes: NotesService }) => services.notes.texts(),
    }),
  ],
  section: { name: 'notes', table: 'notes' },
  info: () => ({ note_count: z.int() }),
  open({ spaces }) {
    const notesService = new NotesService(async () => (await spaces.get(undefined)).notes.texts());
    return {
      services: { notes: notesService },
      inDatabase(database) {
        const store = new NoteStore(database);
        return {
          parts: { notes: store },
          start: () => store.add('written in the background'),
          stop: async () => void happened.push('notes stopped'),
        };
      },
      info: async () => ({ note_count: (await notesService.texts()).length }),
      close: async () => void happened.push('notes closed'),
    };
  },
};

const gong: Interface = {
  name: 'gong',
  info: () => ({ gong: z.string() }),
  routes: [
    defineRoute({
      method: 'GET',
      path: '/gong',
      operationId: 'get_gong',
      public: true,
      tag: 'Gong',
      summary: 'Strike the gong',
      responses: { 200: z.string() },
      handler: async (services: { readonly notes: NotesService }) => (await services.notes.texts()).join(),
    }),
    defineRoute({
      method: 'POST',
      path: '/gong',
      operationId: 'strike_gong',
      scope: null,
      tag: 'Gong',
      summary: 'Strike the gong with a name',
      body: z.object({ times: z.int() }),
      responses: { 200: z.string() },
      async admit(_services, request, usual) {
        const caller = await usual(request);
        if (request.headers['x-striker'] === undefined) throw errors.tokenMissing('Who strikes?');
        return { ...caller, userId: String(request.headers['x-striker']) };
      },
      encodeError: ({ status, code }, { path }) =>
        reply(status, { gong: code, path }, { 'www-authenticate': 'Gong' }),
      handler: ({ gong: open }: { readonly gong?: { readonly sound: string } }, { caller, body }) =>
        `${caller.userId}: ${open?.sound.repeat(body.times)}`,
    }),
  ],
  open: () => ({
    services: { gong: { sound: 'bong' } },
    listed: { type: 'gong', version: '1.0', route: '/gong' },
    paths: new Map([['/gong/ws', (_request, socket) => refuseUpgrade(socket, errors.stopping(), 'gong')]]),
    info: () => ({ gong: 'hangs' }),
    start: () => void happened.push('gong started'),
    close: async () => void happened.push('gong closed'),
  }),
};

test('a capability and an interface are added as values, and nothing else is touched', async () => {
  const extended = [...capabilities, notes];
  const { url: place } = await emptySqlite();
  const migrations = migrationsOf(extended);
  const database = await openDatabase({ id: 'test', url: place, migrations, log: silentLog });
  onTestFinished(() => database.close());
  await migrate(database);
  const { http, close } = await openService({
    ...partsOver(database),
    readiness: new Readiness(silentLog),
    capabilities: extended,
    interfaces: [gong],
    customRoutes: undefined,
    info: { title: 'Extended', version: '1' },
    pathExamples: {},
  });
  onTestFinished(() => close(0));
  const { url } = await http.listen({ host: '127.0.0.1', port: 0 });
  const get = async (path: string) => (await fetch(url + path)).json();

  expect(await get('/notes')).toEqual(['written in the background']);
  expect(await get('/gong')).toBe('written in the background');
  expect((await refusalOf(url, '/gong/ws')).status).toBe(503);
  const strike = (body: string, headers = {}) =>
    fetch(`${url}/gong`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  expect(await (await strike('{"times":2}', { 'x-striker': 'ada' })).json()).toBe('ada: bongbong');
  for (const [answer, status, code] of [
    [await strike('{"times":2}'), 401, 'token_missing'],
    [await strike('{', { 'x-striker': 'ada' }), 422, 'invalid_request'],
    [await strike('{}', { 'x-striker': 'ada' }), 422, 'invalid_request'],
  ] as const) {
    expect(answer.status).toBe(status);
    expect(answer.headers.get('www-authenticate')).toBe('Gong');
    expect(await answer.json()).toEqual({ gong: code, path: '/gong' });
  }
  expect(await get('/info')).toMatchObject({ note_count: 1, gong: 'hangs', agent_count: 0 });
  expect(await get('/config')).toMatchObject({
    notes: { dbs: [{ db_id: 'test', tables: ['notes'] }] },
    interfaces: [{ type: 'gong', version: '1.0', route: '/gong' }],
  });
  expect((await fetch(`${url}/sessions?db_id=test&table=notes`)).status).toBe(200);
  expect(await get('/openapi.json')).toMatchObject({
    paths: { '/notes': {}, '/gong': {} },
    components: { schemas: { Info: { properties: { note_count: { type: 'integer' }, gong: {} } } } },
  });
  expect(happened).toEqual(['gong started']);
  await close(0);
  expect(happened).toEqual(['gong started', 'notes stopped', 'gong closed', 'notes closed']);
});

test('a start that fails is tried again by the next caller, without what has started before it', async () => {
  const starts: string[] = [];
  const starting = (name: string, fails: () => boolean): Capability => ({
    name,
    open: () => ({
      inDatabase: () => ({
        async start() {
          starts.push(name);
          if (fails()) throw new Error(`${name} cannot start`);
        },
      }),
    }),
  });
  const parts = [
    ...capabilities,
    starting('steady', () => false),
    starting('flaky', () => starts.length < 3),
  ];
  const opened = await openCapabilities(parts, partsOver(await (await freshSqlite()).open()));
  onTestFinished(() => opened.stop(0));
  await expect(opened.start()).rejects.toThrow('flaky cannot start');
  const both = [opened.spaces.get(undefined), opened.spaces.get(undefined)];
  expect((await Promise.all(both)).map(({ databaseId }) => databaseId)).toEqual(['test', 'test']);
  expect(starts).toEqual(['steady', 'flaky', 'flaky']);
});

test('a setting adds an interface that the code does not define, and each is loaded once', async () => {
  const { settings } = loadSettings({ code: { websocket: true } });
  let loads = 0;
  const defined = (type: string, route: string) =>
    new DefinedInterface(type, route, async () => {
      loads += 1;
      return { ...gong, name: `${type}${route}` };
    });
  const unwanted = { isOn: () => false, define: () => defined('unwanted', '') };
  const switches = [{ isOn: () => true, define: () => defined('gong', '/added') }, unwanted];
  const names = async (...given: DefinedInterface[]) =>
    (await loadInterfaces(given, settings, switches)).map(({ name }) => name);
  const own = defined('gong', '/own');
  expect(await names(own)).toEqual(['gong/own']);
  expect(await names(own)).toEqual(['gong/own']);
  expect(loads).toBe(1);
  expect(await names(own, defined('gong', '/other'))).toEqual(['gong/own', 'gong/other']);
  expect(await names()).toEqual(['gong/added']);
  await expect(names(own, defined('gong', '/own'))).rejects.toThrow(/Two interfaces .* mounted at \/own/);
  expect((await loadInterfaces([], settings)).map(({ name }) => name)).toEqual(['websocket']);
  // one that adds to the paths of the service has no address of its own
  const addresses = interfaceAddresses('http://127.0.0.1:7777', [own], settings);
  expect(addresses).toEqual([{ type: 'gong', title: 'GONG', url: 'http://127.0.0.1:7777/own' }]);
});

test('services with the same parts share one route table', () => {
  expect(routesOf([...capabilities])).toBe(routes);
  expect(routesOf(capabilities.slice(1))).not.toBe(routes);
});
