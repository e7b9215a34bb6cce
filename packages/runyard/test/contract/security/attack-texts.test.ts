import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { forEachDatabase } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService } from '../../support/service.js';

/** Ids that were meant to be something else, or to look like it. All of them are names like any other. */
const oddIds = [
  '..',
  '.',
  '../../etc/passwd',
  '..\\..\\windows',
  'a/b',
  '%2f..%2f',
  '%00',
  'a b',
  "x' OR '1'='1",
  'x"; DROP TABLE runs; --',
  '\u202egpj.exe',
  'a\u200bb',
  'a\r\nset-cookie: x=1',
  'caf\u00e9',
  'cafe\u0301',
  '\ufeffa',
  '漢字🎉',
  '{{7*7}}#{7*7}',
  '<script>alert(1)</script>',
  'a'.repeat(255),
];

describe('odd ids', () => {
  test('are names like any other, and each is another one', async () => {
    const book = new ScriptBook();
    const service = await startService({ agents: [agent({ id: 'a', model: book.model })] });
    for (const id of oddIds) {
      const body = new URLSearchParams({
        message: 'x',
        stream: 'false',
        run_id: id,
        session_id: id,
        user_id: id,
      });
      const made = await service.call('POST', '/agents/a/runs', { body });
      expect(made.status, made.text).toBe(200);
      expect(made.body).toMatchObject({ run_id: id, session_id: id, user_id: id });
      expect(made.headers.get('set-cookie')).toBeNull();
    }
    for (const id of oddIds.filter((id) => id !== '.' && id !== '..')) {
      const session = await service.get(`/sessions/${encodeURIComponent(id)}`);
      expect([id, session.status]).toEqual([id, 200]);
      expect(session.body.session_id).toBe(id);
      const run = await service.get(
        `/agents/a/runs/${encodeURIComponent(id)}?session_id=${encodeURIComponent(id)}`,
      );
      expect(run.body.run_id).toBe(id);
      const mine = await service.get(`/sessions?user_id=${encodeURIComponent(id)}`);
      expect(mine.body.data.map(({ session_id }: { session_id: string }) => session_id)).toEqual([id]);
    }
  });

  test('in a path that climbs lead nowhere', async () => {
    const service = await startService({ agents: [agent({ id: 'a', model: new ScriptBook().model })] });
    const { port } = new URL(service.url);
    for (const path of [
      '/agents/../agents',
      '/agents/..%2f..%2fetc%2fpasswd',
      '/agents/..%5c..%5cwindows',
      '/docs/assets/..%2f..%2fpackage.json',
      '/docs/assets/%2e%2e/%2e%2e/package.json',
      '/agents/a/../../health',
      '/agents/%c0%ae%c0%ae/',
      '/agents/%00',
      '//health',
      '/./health',
      '/agents;/a',
    ]) {
      const text = await raw(
        Number(port),
        `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
      );
      expect([path, text.slice(9, 12)]).toEqual([path, expect.stringMatching(/^40[04]$/)]);
    }
  });
});

async function raw(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

describe('ids that no database could hold', () => {
  test.each(['run_id', 'session_id', 'user_id'])('are refused: %s', async (field) => {
    const service = await startService({ agents: [agent({ id: 'a', model: new ScriptBook().model })] });
    for (const [id, type] of [
      ['a\u0000b', 'value_error'],
      ['a'.repeat(256), 'string_too_long'],
    ] as const) {
      const body = new URLSearchParams({ message: 'x', stream: 'false', [field]: id });
      const answer = await service.call('POST', '/agents/a/runs', { body });
      expect([answer.status, answer.body.detail[0]]).toMatchObject([422, { type, loc: ['body', field] }]);
    }
  });
});

forEachDatabase((_dialect, freshPlace) => {
  test('texts that trip databases and encoders come back as they are, or are refused', async () => {
    const { url } = await freshPlace();
    const service = await startService({
      agents: [agent({ id: 'a', model: new ScriptBook().model })],
      database: url,
      autoMigrate: true,
    });
    for (const text of [
      '\u0000',
      'a\ud800b',
      '\udfff',
      '\u202e\u2066',
      '\uffff\ufffe',
      "'; --",
      '\\u0000',
      '\\',
    ]) {
      const state = { [`key${text}`]: text, deep: { list: [text] } };
      const form = { message: `say ${text}`, session_state: state, metadata: { text } };
      const made = await service.run('a', form, { encoding: 'urlencoded' });
      expect([text, made.status, made.text.slice(0, 300)]).toEqual([text, 200, expect.anything()]);
      const stored = await service.get(
        `/agents/a/runs/${made.body.run_id}?session_id=${made.body.session_id}`,
      );
      expect([text, stored.status]).toEqual([text, 200]);
      expect(JSON.stringify(stored.body.input)).toBe(JSON.stringify(made.body.input));
      expect((await service.get(`/sessions/${made.body.session_id}`)).status).toBe(200);
    }
    for (const text of ['%00', '%ED%A0%80', '%F0%9F%98%80', '%E2%80%AE', "'%3B--", '%5C']) {
      for (const path of ['/sessions/', '/memories/', '/learnings/', '/traces/', '/approvals/', '/agents/'])
        expect((await service.get(path + text)).status, path + text).toBeLessThan(500);
      for (const query of ['user_id', 'session_name', 'component_id'])
        expect((await service.get(`/sessions?${query}=${text}`)).status, query + text).toBeLessThan(500);
      expect((await service.get(`/memories?search_content=${text}`)).status).toBeLessThan(500);
    }
  });
});
