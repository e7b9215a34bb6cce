import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Runyard } from '../../src/index.js';
import { until } from '../support/until.js';
import { repository } from './pages.js';

const examples = join(repository, 'examples');

let folder: string;
let app: Runyard | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-example-'));
});
afterEach(async () => {
  await app?.close({ graceMs: 0 });
  app = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** The application of an example, behind a function from requests to responses. */
async function serve(name: string): Promise<(path: string, body?: object) => Promise<string>> {
  const opened = await load(name);
  const handle = opened.fetchHandler();
  // it refuses what waits too long for a service that is being opened
  const health = new Request('http://localhost/health');
  await until('the example is open', async () => (await handle(health.clone())).status === 200);
  return async (path, body) => {
    const request = new Request(`http://localhost${path}`, {
      ...(body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    return (await handle(request)).text();
  };
}

async function load(name: string): Promise<Runyard> {
  const loaded = (await import(pathToFileURL(join(examples, name, 'agents.ts')).href)) as { app: Runyard };
  app = loaded.app;
  app.configure({ env: { RUNYARD_DATA_DIR: folder, RUNYARD_LOG_LEVEL: 'silent', PORT: '0' } });
  return app;
}

const names = readdirSync(examples, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

test.each(names)('%s starts with npm start and names what it bundles', (name) => {
  const { scripts } = JSON.parse(readFileSync(join(examples, name, 'package.json'), 'utf8'));
  expect(scripts.start).toMatch(/(^|&& )runyard start$/);
  const page = /^rolldown (\S+) /.exec(scripts.start)?.[1];
  if (page) expect(existsSync(join(examples, name, page))).toBe(true);
});

describe('the example answers', () => {
  test('ai-sdk, as the transport of useChat asks', async () => {
    const call = await serve('ai-sdk');
    const parts = [{ type: 'text', text: 'Where is order 1001?' }];
    const answer = await call('/api/chat', {
      id: 'one',
      messages: [{ id: 'm', role: 'user', parts }],
      trigger: 'submit-message',
    });
    expect(answer).toContain('"toolName":"order_status"');
    expect(answer).toContain('"type":"finish"');
    expect(await call('/chat')).toContain('/page.js');
  });

  test('ag-ui, as its client asks', async () => {
    const call = await serve('ag-ui');
    const answer = await call('/agui', {
      threadId: 'one',
      runId: 'first',
      messages: [{ id: 'm', role: 'user', content: 'Add "tea" to the list' }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    });
    expect(answer).toContain('"toolCallName":"add_to_list"');
    expect(answer).toContain('"RUN_FINISHED"');
    expect(await call('/chat')).toContain('/page.js');
  });

  test('openai, to its program with the official client', async () => {
    const opened = await load('openai');
    const { url } = await opened.listen();
    const lines: unknown[] = [];
    vi.spyOn(console, 'log').mockImplementation((line) => lines.push(line));
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const given = process.argv[2];
    process.argv[2] = `${url}/v1`;
    try {
      await import(pathToFileURL(join(examples, 'openai/client.mjs')).href);
      expect(written.mock.calls.map(([piece]) => piece).join('')).toBe('1 2 3 4 5\n');
    } finally {
      process.argv[2] = given ?? '';
      vi.restoreAllMocks();
    }
    expect(lines).toEqual([expect.stringContaining('shipped'), expect.stringContaining('open from 9 to 5')]);
  });
});
