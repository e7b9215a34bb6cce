import { describe, expect, test } from 'vitest';
import { findConsoleViolations, findViolations } from './check-imports.mjs';

const violations = (files) => findViolations(new Map(Object.entries(files)));
const importing = (from) => `import { thing } from '${from}';\nexport const used = thing;\n`;

describe('import directions', () => {
  test.each([
    ['core/runs/run.ts', '../../platform/settings/config.js', 'core may import core only'],
    ['core/runs/run.ts', '../../capabilities/runs/service.js', 'core may import core only'],
    [
      'platform/http/server.ts',
      '../../capabilities/runs/service.js',
      'platform may import platform, core only',
    ],
    ['platform/http/server.ts', '../../runyard.js', 'platform may import platform, core only'],
    ['capabilities/runs/service.ts', '../../interfaces/mcp/server.js', 'capabilities may import'],
    ['interfaces/mcp/server.ts', '../../cli/main.js', 'interfaces may import'],
    ['interfaces/mcp/server.ts', '../a2a/server.js', 'an interface does not know the other interfaces'],
    ['interfaces/mcp/server.ts', '../../capabilities/runs/store.js', 'reached through its service.ts'],
    ['capabilities/runs/service.ts', '../sessions/store.js', 'reached through its service.ts'],
    ['capabilities/sessions/store.ts', '../runs/store.js', 'reached through its service.ts'],
    ['capabilities/runs/service.ts', '../sessions/schema.js', 'reached through its service.ts'],
    ['capabilities/runs/routes.ts', './store.js', 'routes reach the store through the service'],
    ['capabilities/runs/event-routes.ts', './event-store.js', 'routes reach the store through the service'],
    ['capabilities/runs/service.ts', './routes.js', 'a service does not know its routes'],
    ['capabilities/runs/store.ts', './service.js', 'a store does not know who uses it'],
    ['capabilities/runs/capability.ts', '../capabilities.js', 'the whole list is known to the outermost'],
    ['capabilities/capabilities.ts', './runs/service.js', 'a list names each capability.ts'],
    ['capabilities/capability.ts', './runs/store.js', 'reached through its service.ts'],
    ['interfaces/mcp/interface.ts', '../interfaces.js', 'the whole list is known to the outermost'],
  ])('%s may not import %s', (path, from, reason) => {
    const found = violations({ [path]: importing(from) });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${path}:1 imports`);
    expect(found[0]).toContain(reason);
  });

  test.each([
    ['runyard.ts', './capabilities/runs/store.js'],
    ['cli/main.ts', '../runyard.js'],
    ['interfaces/mcp/server.ts', '../../capabilities/runs/service.js'],
    ['interfaces/mcp/server.ts', '../../capabilities/runs/schema.js'],
    ['capabilities/runs/routes.ts', './service.js'],
    ['capabilities/runs/service.ts', './store.js'],
    ['capabilities/runs/service.ts', '../sessions/service.js'],
    ['platform/http/server.ts', '../../core/errors.js'],
    ['core/agents/agent.ts', '../runs/run.js'],
    ['capabilities/runs/store.ts', '../sessions/store.js'],
    ['capabilities/runs/capability.ts', '../capability.js'],
    ['capabilities/capabilities.ts', './runs/capability.js'],
    ['interfaces/mcp/interface.ts', '../interface.js'],
    ['interfaces/interface.ts', '../capabilities/capability.js'],
    ['interfaces/interfaces.ts', './mcp/interface.js'],
  ])('%s may import %s', (path, from) => {
    expect(violations({ [path]: importing(from) })).toEqual([]);
  });

  test.each([
    [
      'a type import',
      "import type { Thing } from '../platform/settings/config.js';\nexport type Used = Thing;",
    ],
    [
      'an export from another file',
      "export { thing } from '../platform/settings/config.js';\nexport const own = 1;",
    ],
    ['a dynamic import', "export const load = () => import('../platform/settings/config.js');"],
    [
      'an import over several lines',
      "import {\n  thing,\n} from '../platform/settings/config.js';\nexport const used = thing;",
    ],
  ])('%s counts too', (_, text) => {
    expect(violations({ 'core/ids.ts': text })).toEqual([
      expect.stringContaining('core may import core only'),
    ]);
  });

  test('an import in a comment or in a text does not count', () => {
    const text =
      "// import { a } from '../platform/settings/config.js'\nexport const text = \"import '../platform/settings/config.js'\";";
    expect(violations({ 'core/ids.ts': text })).toEqual([]);
  });
});

describe('the core', () => {
  test.each([
    'node:fs',
    'node:fs/promises',
    'node:http',
    'fastify',
    'kysely',
    'pg',
    '@photostructure/sqlite',
  ])('may not import %s', (name) => {
    expect(violations({ 'core/runs/run.ts': importing(name) })).toEqual([
      expect.stringContaining('through a port'),
    ]);
  });

  test('may import what is pure', () => {
    expect(violations({ 'core/runs/run.ts': importing('zod') })).toEqual([]);
  });

  test('has no timers of its own, except in the adapters of models', () => {
    const text = 'export const wait = (work: () => void) => setTimeout(work, 10);';
    expect(violations({ 'core/runs/run.ts': text })).toEqual([expect.stringContaining('port Timers')]);
    expect(violations({ 'core/models/retry.ts': text })).toEqual([]);
  });
});

test('the query builder is loaded on demand', () => {
  const imported = (what) =>
    violations({ 'platform/storage/a.ts': `import ${what} from 'kysely';\nexport const a = 1;` });
  expect(imported('{ sql }')).toEqual([expect.stringContaining('call queryBuilder()')]);
  expect(imported('{ type Kysely, sql }')).toHaveLength(1);
  expect(imported('type { Kysely }')).toEqual([]);
});

describe('SQL', () => {
  test.each([
    'select id from runs where id = ?',
    'SELECT id\n  FROM runs',
    'insert into runs values (?)',
    'UPDATE runs SET status = ?',
    'delete from runs',
    'create table runs (id text)',
    'PRAGMA journal_mode = WAL',
  ])('in a text outside of a store is found: %s', (text) => {
    const found = violations({ 'capabilities/runs/service.ts': `export const text = \`${text}\`;` });
    expect(found).toEqual([
      'capabilities/runs/service.ts:1 holds SQL: it belongs in a store.ts or in a migration',
    ]);
  });

  test('in a template with values is found', () => {
    const text = `export const read = (id: string) => \`select * from \${id} where x\`;`;
    expect(violations({ 'cli/main.ts': text })).toHaveLength(1);
  });

  test('from the query builder is found', () => {
    const text = "export const read = (db: Db) => db.selectFrom('runs');";
    expect(violations({ 'capabilities/runs/service.ts': text })).toEqual([
      expect.stringContaining('holds SQL'),
    ]);
  });

  test.each([
    'capabilities/runs/store.ts',
    'capabilities/runs/event-store.ts',
    'capabilities/runs/storage/event-store.ts',
    'platform/storage/migrations/0001.ts',
  ])('is at home in %s', (path) => {
    expect(violations({ [path]: "export const text = 'select id from runs';" })).toEqual([]);
  });

  test('is not mistaken for an English sentence', () => {
    const text = "export const text = 'Select an agent from the list, then update it';";
    expect(violations({ 'capabilities/runs/routes.ts': text })).toEqual([]);
  });
});

describe('the console', () => {
  const packages = ['@runyard/client', 'react'];
  const found = (path, from) =>
    findConsoleViolations(new Map([[path, importing(from)]]), packages).map((one) =>
      one.replace(/^\S+ /, ''),
    );

  test.each([
    ['ui/table/table.tsx', '../../data/paged.js', 'ui may import ui only'],
    ['connection/connection.ts', '../data/paged.js', 'connection may import connection, ui only'],
    ['data/paged.ts', '../shell/shell.js', 'data may import data, connection, ui only'],
    ['shell/shell.tsx', '../pages/chat/chat-page.js', 'shell may import shell, data, connection, ui only'],
    ['shell/shell.tsx', '../router.js', 'shell may import shell, data, connection, ui only'],
    ['pages/runs/runs-page.tsx', '../chat/chat-page.js', 'a page does not know those of other areas'],
    ['pages/runs/detail/run.tsx', '../../chat/chat-page.js', 'a page does not know those of other areas'],
    ['ui/a.tsx', '../../../runyard/src/index.js', 'ui may import ui only'],
    ['ui/a.tsx', 'runyard', 'through @runyard/client'],
    ['ui/a.tsx', 'react-dom-other', 'through @runyard/client'],
    ['ui/a.tsx', 'node:fs', 'through @runyard/client'],
  ])('%s may not import %s', (path, from, reason) => {
    expect(found(path, from)).toEqual([expect.stringContaining(reason)]);
  });

  test.each([
    ['router.tsx', './pages/runs/runs-page.js'],
    ['pages/runs/detail/run.tsx', '../runs-page.js'],
    ['pages/runs/runs-page.tsx', '../../shell/commands.js'],
    ['shell/palette.tsx', '../data/components.js'],
    ['data/paged.ts', '../connection/connection.js'],
    ['ui/a.tsx', '@runyard/client'],
    ['ui/a.tsx', 'react/jsx-runtime'],
  ])('%s may import %s', (path, from) => {
    expect(found(path, from)).toEqual([]);
  });

  test('a cycle of files with elements is found', () => {
    const files = new Map([
      ['ui/a.tsx', `${importing('./b.js')}export const A = () => <b />;`],
      ['ui/b.ts', importing('./a.js')],
    ]);
    expect(findConsoleViolations(files, packages)).toEqual(['cycle: ui/a.tsx → ui/b.ts → ui/a.tsx']);
  });
});

describe('files', () => {
  test('a folder holds at most 20 of them', () => {
    const names = Array.from({ length: 21 }, (_, number) => `core/part-${number}.ts`);
    const folder = (paths) => Object.fromEntries(paths.map((path) => [path, 'export const one = 1;']));
    expect(violations(folder(names))).toEqual(['core has 21 files, more than 20: divide it by topic']);
    expect(violations(folder(names.slice(1)))).toEqual([]);
  });

  test('a cycle is reported once, with its members', () => {
    const found = violations({
      'core/c.ts': importing('./a.js'),
      'core/a.ts': importing('./b.js'),
      'core/b.ts': importing('./c.js'),
    });
    expect(found).toEqual(['cycle: core/a.ts → core/b.ts → core/c.ts → core/a.ts']);
  });

  test('a cycle of types is a cycle', () => {
    const found = violations({
      'core/a.ts': "import type { B } from './b.js';\nexport interface A { b: B }",
      'core/b.ts': "import type { A } from './a.js';\nexport interface B { a: A }",
    });
    expect(found).toEqual(['cycle: core/a.ts → core/b.ts → core/a.ts']);
  });

  test('barrel files are found, the public entry points are not', () => {
    const text = "export { a } from './core/a.js';\nexport * from './core/b.js';";
    expect(violations({ 'index.ts': text, 'testing.ts': text })).toEqual([]);
    expect(violations({ 'core/all.ts': text.replaceAll('core/', '') })).toEqual([
      expect.stringContaining('only exports what others have'),
    ]);
    expect(violations({ 'core/runs/index.ts': 'export const a = 1;' })).toEqual([
      expect.stringContaining('index file'),
    ]);
  });

  test('a file of more than 400 lines is found', () => {
    const lines = (count) => `export const a = 1;\n${'// line\n'.repeat(count - 1)}`;
    expect(violations({ 'core/a.ts': lines(400) })).toEqual([]);
    expect(violations({ 'core/a.ts': lines(401) })).toEqual([expect.stringContaining('has 401 lines')]);
  });
});
