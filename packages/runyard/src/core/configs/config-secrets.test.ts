import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.js';
import { checkConfig, storedConfig } from './check-config.js';

describe('secrets', () => {
  test.each<[JsonObject, string]>([
    [{ model: { id: 'm', provider: 'p', api_key: 'abc' } }, 'model.api_key'],
    [{ db: { id: 'main', db_url: 'postgres://u:pass@host/db' } }, 'db.db_url'],
    [{ instructions: ['Say hi', 'Use sk-abcdefghijklmnop123'] }, 'instructions[1]'],
    [{ metadata: { note: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789' } }, 'metadata.note'],
    [{ metadata: { aws: 'AKIAIOSFODNN7EXAMPLE' } }, 'metadata.aws'],
    [{ metadata: { pay: 'sk_live_abcdefghijklmnop' } }, 'metadata.pay'],
    [{ metadata: { OPENAI_API_KEY: 'abc' } }, 'metadata.OPENAI_API_KEY'],
    [{ metadata: { dbPassword: 'abc' } }, 'metadata.dbPassword'],
    [{ metadata: { slack_bot_token: 'abc' } }, 'metadata.slack_bot_token'],
    [{ additional_context: '-----BEGIN RSA PRIVATE KEY-----\nabc' }, 'additional_context'],
    [{ session_state: { auth: { Authorization: 'x' } } }, 'session_state.auth.Authorization'],
    [{ session_state: { credentials: { user: 'abc' } } }, 'session_state.credentials.user'],
    [{ description: 'Authorization: Bearer abcdefghij0123456789' }, 'description'],
    [{ dependencies: { password: 12345 } }, 'dependencies.password'],
    [{ session_state: { parameters: { api_key: 'abc' } } }, 'session_state.parameters.api_key'],
    [
      { output_schema: { properties: { password: { type: 'string', default: 'abc' } } } },
      'output_schema.properties.password.default',
    ],
    [
      { output_schema: { properties: { x: { description: 'sk-abcdefghijklmnop123' } } } },
      'output_schema.properties.x.description',
    ],
    [{ description: 'See https://x.test/?api_key=abc123def456ghi' }, 'description'],
    [{ metadata: { 'sk-abcdefghijklmnop123': 1 } }, 'metadata'],
  ])('%j is refused by its place alone', (config, path) => {
    const faults = checkConfig('agent', config);
    expect(faults.map((fault) => fault.path)).toEqual([path]);
    expect(JSON.stringify(faults)).not.toMatch(/abc|pass@|EXAMPLE|12345/);
  });

  test('words about secrets and schemas with such fields hold none', () => {
    const config = {
      instructions: 'Ask for a bearer token, a password or an API key; never write basic authentication.',
      output_schema: { type: 'object', properties: { password: { type: 'string', description: 'x' } } },
      metadata: {
        password: '',
        url: 'https://example.com:8080/path?key={key}',
        lib: 'sk-learn-based-models',
        next_page_token: 'abc',
        max_token: 12,
        key: 'A minor',
      },
    };
    expect(checkConfig('agent', config)).toEqual([]);
  });

  test.each(['?key=', 'bearer ', '://a:b', 'sk-a ', 'basic aaaaaaaaaaaa'])(
    'looking for them in a text of "%s" alone takes a moment',
    (part) => {
      // a form that reads to the end of the text from each place would take minutes
      expect(checkConfig('agent', { description: part.repeat(Math.floor(999_000 / part.length)) })).toEqual(
        [],
      );
    },
  );

  test('of a database only its id and tables are stored', () => {
    const db = { id: 'main', type: 'sqlite', db_url: 'sqlite:///tmp/x.db', session_table: 's' };
    expect(storedConfig({ name: 'A', db })).toEqual({ name: 'A', db: { id: 'main', session_table: 's' } });
    expect(storedConfig({ name: 'A', db: null })).toEqual({ name: 'A' });
  });
});
