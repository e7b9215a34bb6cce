import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSettings, type SettingsSources } from './config.js';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'runyard-config-'));
});

afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

const load = (sources: SettingsSources = {}) => loadSettings({ cwd, ...sources });
const file = (content: object | string, name = 'runyard.json') =>
  writeFileSync(join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content));

describe('defaults', () => {
  test('serve on loopback with an SQLite file in the data folder that migrates itself', () => {
    const { settings, origins, warnings } = load();
    expect(settings).toMatchObject({
      host: '127.0.0.1',
      port: 7777,
      durability: 'power-cut',
      autoMigrate: true,
    });
    expect(settings.dataDir).toBe(join(cwd, '.runyard'));
    expect(settings.database).toBe(`sqlite://${cwd}/.runyard/runyard.db`);
    expect(origins.port).toBe('default');
    expect(warnings).toEqual([]);
  });

  test('a database that the operator set up is not migrated unless asked for', () => {
    expect(load({ code: { database: 'postgres://db/app' } }).settings.autoMigrate).toBe(false);
    expect(load({ code: { database: 'postgres://db/app', autoMigrate: true } }).settings.autoMigrate).toBe(
      true,
    );
  });
});

describe('order', () => {
  test('flags win over environment, file, code and defaults, key by key', () => {
    file({ port: 3, logLevel: 'warn', maxFiles: 3, name: 'file' });
    const { settings, origins } = load({
      code: { port: 2, logLevel: 'error', maxFiles: 2, name: 'code', description: 'code' },
      env: { RUNYARD_PORT: '4', RUNYARD_LOG_LEVEL: 'debug', RUNYARD_MAX_FILES: '4' },
      flags: { port: '5', logLevel: 'trace', host: undefined },
    });
    expect(settings).toMatchObject({
      port: 5,
      logLevel: 'trace',
      maxFiles: 4,
      name: 'file',
      description: 'code',
    });
    expect(origins).toMatchObject({
      port: 'flags',
      maxFiles: 'environment',
      name: 'file',
      description: 'code',
      host: 'default',
    });
  });

  test('RUNYARD_PORT wins over PORT, and an empty variable is not set', () => {
    expect(load({ env: { PORT: '8080' } }).settings.port).toBe(8080);
    expect(load({ env: { PORT: '8080', RUNYARD_PORT: '9090' } }).settings.port).toBe(9090);
    expect(load({ env: { PORT: '', RUNYARD_HOST: ' ', HOST: '0.0.0.0' } }).settings).toMatchObject({
      port: 7777,
      host: '127.0.0.1',
    });
  });

  test('without an environment given, none is read', () => {
    expect(load({ code: { port: 1 } }).settings.port).toBe(1);
  });
});

describe('values from text', () => {
  test('become numbers, booleans, lists and maps', () => {
    const { settings } = load({
      env: {
        RUNYARD_DOCS: 'off',
        RUNYARD_AUTO_MIGRATE: 'YES',
        RUNYARD_HEARTBEAT_MS: ' 500 ',
        RUNYARD_CORS_ORIGINS: 'https://a.example, https://b.example:8443,',
        RUNYARD_DATABASES: '{"archive":"postgres://db/archive"}',
        RUNYARD_DATABASE_URL: 'postgresql://db/main',
      },
    });
    expect(settings).toMatchObject({
      docs: false,
      autoMigrate: true,
      heartbeatMs: 500,
      corsOrigins: ['https://a.example', 'https://b.example:8443'],
      databases: { archive: 'postgres://db/archive' },
      database: 'postgresql://db/main',
    });
  });
});

describe('paths', () => {
  test('are relative to where they are written', () => {
    mkdirSync(join(cwd, 'deploy'));
    file({ dataDir: 'data', databases: { archive: 'sqlite:archive.db' } }, 'deploy/settings.json');
    const { settings } = load({
      file: 'deploy/settings.json',
      env: { RUNYARD_DATABASE_URL: 'sqlite:main.db' },
    });
    expect(settings.dataDir).toBe(join(cwd, 'deploy/data'));
    expect(settings.databases).toEqual({ archive: `sqlite://${cwd}/deploy/archive.db` });
    expect(settings.database).toBe(`sqlite://${cwd}/main.db`);
  });

  test('that are absolute stay as they are', () => {
    const { settings } = load({ code: { dataDir: '/srv/data', database: 'sqlite:///srv/main.db' } });
    expect(settings).toMatchObject({ dataDir: '/srv/data', database: 'sqlite:///srv/main.db' });
  });
});

describe('a wrong key', () => {
  test('in the file is named with the file, and the nearest name is suggested', () => {
    file({ prot: 8080 });
    expect(() => load()).toThrow('runyard.json: "prot" is not a setting. Did you mean "port"?');
  });

  test('in code is named too; options that are no settings are suggested but not refused', () => {
    const otherCodeNames = ['agents'];
    expect(() => load({ code: { agnets: [] }, otherCodeNames })).toThrow(
      'code, option "agnets" is not a setting. Did you mean "agents"?',
    );
    expect(load({ code: { agents: [] }, otherCodeNames }).settings.port).toBe(7777);
  });

  test('that is near to nothing gets no suggestion', () => {
    expect(() => load({ code: { zzzzzz: 1 } })).toThrow(/"zzzzzz" is not a setting\.$/);
  });

  test('in the environment is a warning: other programs may own it', () => {
    const { warnings } = load({ env: { RUNYARD_LOGLEVEL: 'debug', RUNYARD_MODEL_API_KEY: 'x', OTHER: '1' } });
    expect(warnings).toEqual([
      'environment variable RUNYARD_LOGLEVEL is not one that Runyard reads. Did you mean RUNYARD_LOG_LEVEL?',
    ]);
  });
});

describe('a wrong value', () => {
  test.each<[string, SettingsSources, string]>([
    [
      'code',
      { code: { port: '80' } },
      'code, option "port" is "80"; allowed: a whole number from 0 to 65535.',
    ],
    [
      'environment',
      { env: { PORT: 'abc' } },
      'environment variable PORT is "abc"; allowed: a whole number from 0',
    ],
    [
      'flags',
      { flags: { logLevel: 'loud' } },
      'flag --log-level is "loud"; allowed: trace, debug, info, warn',
    ],
    ['environment', { env: { RUNYARD_DOCS: 'maybe' } }, 'RUNYARD_DOCS is "maybe"; allowed: true or false.'],
    [
      'code',
      { code: { corsOrigins: ['*'] } },
      'option "corsOrigins" at "0" is ["*"]; allowed: a list of origins',
    ],
    [
      'environment',
      { env: { RUNYARD_DRAIN_MS: '5s' } },
      'RUNYARD_DRAIN_MS is "5s"; allowed: a whole number of milliseconds from 0 to 600000.',
    ],
    [
      'code',
      { code: { heartbeatMs: 1.5 } },
      'is 1.5; allowed: a whole number of milliseconds from 100 to 86400000.',
    ],
    ['code', { code: { name: '' } }, 'is ""; allowed: a text of 1 to 200 characters.'],
    [
      'code',
      { code: { modelRates: { 'gpt-5-mini': { requestPerMinute: 5 } } } },
      'option "modelRates" at "gpt-5-mini" is {"gpt-5-mini":{"requestPerMinute":5}} (unknown: requestPerMinute); allowed: a map',
    ],
    [
      'code',
      { code: { modelRates: { default: { tokensPerMinute: 0 } } } },
      'option "modelRates" at "default.tokensPerMinute" is {',
    ],
    [
      'code',
      { code: { databases: { main: { url: 'sqlite:a.db', poolsize: 5 } } } },
      'option "databases" at "main" is (value not shown: it may hold a password) (unknown: poolsize); allowed: a map',
    ],
    [
      'code',
      { code: { databases: { main: { url: 'postgres://u:p@db/a', poolSize: 0 } } } },
      'option "databases" at "main.poolSize" is (value not shown',
    ],
  ])('from %s is named with what is allowed: %o', (_, sources, text) => {
    expect(() => load(sources)).toThrow(text);
  });

  test('faults of all sources are reported at once', () => {
    file({ port: -1 });
    expect(() => load({ code: { hots: 'x' }, env: { RUNYARD_DOCS: 'maybe' } })).toThrow(
      /"hots".*"host".*\nrunyard\.json: "port" is -1.*\n.*RUNYARD_DOCS/,
    );
  });

  test.each([
    ['code', { code: { database: 'mysql://root:hunter2@db/app' } }],
    ['environment', { env: { RUNYARD_DATABASE_URL: 'root:hunter2@db' } }],
    ['a map', { code: { databases: { main: { url: 'mysql://root:hunter2@db', poolSize: 0 } } } }],
    ['a map with a URL as id', { code: { databases: { 'postgres://root:hunter2@db': 'sqlite:a.db' } } }],
    ['a map with a misplaced URL', { code: { databases: { main: { 'postgres://root:hunter2@db': true } } } }],
    ['a map as text', { env: { RUNYARD_DATABASES: '{"main": "postgres://root:hunter2@db"' } }],
  ])('of a database from %s never shows the password', (_, sources) => {
    expect(() => load(sources)).toThrow(/value not shown.*allowed: /);
    expect(() => load(sources)).not.toThrow(/hunter2/);
  });

  test.each([
    ['an address', { code: { otlpEndpoint: 'ftp://me:hunter2@collector' } }],
    ['headers', { code: { otlpHeaders: { authorization: 'hunter2\n' } } }],
    ['headers as text', { env: { RUNYARD_OTLP_HEADERS: 'authorization=hunter2' } }],
  ])('of a collector never shows %s', (_, sources) => {
    expect(() => load(sources)).toThrow(/value not shown.*allowed: /);
    expect(() => load(sources)).not.toThrow(/hunter2/);
  });

  test('an SQLite database in memory is refused', () => {
    expect(() => load({ code: { database: 'sqlite::memory:' } })).toThrow('allowed: sqlite:relative/path');
  });
});

describe('the settings file', () => {
  test('that is named must exist', () => {
    expect(() => load({ file: 'other.json' })).toThrow('settings file other.json: it does not exist.');
  });

  test('with broken JSON is reported by place, without quoting it', () => {
    file('{\n  "database": "postgres://root:hunter2@db" oops\n}');
    expect(() => load()).toThrow(/settings file runyard\.json is not valid JSON: line 2, column \d+\.$/);
    expect(() => load()).not.toThrow(/hunter2/);
  });

  test('must hold an object', () => {
    file('[1]');
    expect(() => load()).toThrow('must hold one JSON object');
  });

  test('may name its schema', () => {
    file({ $schema: 'x', port: 1 });
    expect(load().settings.port).toBe(1);
  });
});
