import { expect, onTestFinished, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { openAICompatible } from '../../../src/models.js';
import { type ModelServer, startModelServer } from '../../support/providers/model-server.js';
import { startService } from '../../support/service.js';
import { startWebServer, type WebServer } from '../../tools/web-server.js';

const answer = {
  body: {
    id: 'c1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Seen.' }, finish_reason: 'stop' }],
  },
};

async function start(options: {
  fetchAllowedHosts?: string[];
  maxUploadBytes?: number;
  fetchTimeoutMs?: number;
}) {
  const provider = await startModelServer(() => answer);
  onTestFinished(() => provider.stop());
  const model = openAICompatible({ id: 'm', baseUrl: provider.url, apiKey: 'k' });
  const service = await startService({ agents: [agent({ id: 'a', model })], ...options });
  return { service, provider };
}

const sentParts = (provider: ModelServer) => provider.requests[0]!.body.messages.at(-1).content;
const pdf = (server: WebServer) => ({ url: `${server.url}/papers/one.pdf?sig=secret` });
const files = () =>
  startWebServer((_request, response) => {
    response.setHeader('content-type', 'application/pdf');
    response.end('%PDF-1.7');
  });

test('a document by URL reaches a model that takes bytes as bytes', async () => {
  const web = await files();
  const { service, provider } = await start({ fetchAllowedHosts: [web.host] });
  const run = await service.run('a', { message: 'read', input_files: [pdf(web)] });
  expect(run.body.content).toBe('Seen.');
  expect(sentParts(provider)).toEqual([
    { type: 'text', text: 'read' },
    {
      type: 'file',
      file: {
        filename: 'one.pdf',
        file_data: `data:application/pdf;base64,${Buffer.from('%PDF-1.7').toString('base64')}`,
      },
    },
  ]);
  // again, soon after
  await service.run('a', { message: 'read', input_files: [pdf(web)] });
  expect(web.requests).toHaveLength(1);
});

test('nothing is fetched from a private network that was not allowed by name', async () => {
  const web = await files();
  const { service, provider } = await start({});
  for (const url of [
    pdf(web).url,
    `http://localhost:${web.port}/`,
    `http://[::ffff:127.0.0.1]:${web.port}/`,
    'http://169.254.169.254/latest/meta-data/',
  ]) {
    const run = await service.run('a', { message: 'read', input_files: [{ url }] });
    expect(run.text).toContain('is not a public address');
    expect(run.body.status).toBe('error');
  }
  expect(web.requests).toHaveLength(0);
  expect(provider.requests).toHaveLength(0);
});

test('nothing is fetched beyond its bounds', async () => {
  const web = await startWebServer((request, response) => {
    if (request.url === '/silent') return;
    response.on('error', () => {});
    const more = () => {
      if (!response.destroyed) response.write(Buffer.alloc(10_000), more);
    };
    more();
  });
  const allowed = { fetchAllowedHosts: [web.host], maxUploadBytes: 100_000 };
  const { service } = await start(allowed);
  const endless = await service.run('a', { message: 'read', input_files: [{ url: `${web.url}/endless` }] });
  expect(endless.text).toContain('larger than 100000 bytes');
  const { service: hasty } = await start({ ...allowed, fetchTimeoutMs: 200 });
  const silent = await hasty.run('a', { message: 'read', input_files: [{ url: `${web.url}/silent` }] });
  expect(silent.text).toContain('did not answer within 200 ms');
});

test.each([
  ['file:///etc/passwd', 'the url must begin with'],
  ['ftp://example.com/x', 'the url must begin with'],
  ['javascript:alert(1)', 'the url must begin with'],
  ['http://', 'the url must begin with'],
  ['http://[', 'the url must begin with'],
])('%s is no address of a medium', async (url, text) => {
  const { service } = await start({});
  for (const field of ['images', 'audio', 'videos', 'input_files']) {
    const refused = await service.run('a', { message: 'x', [field]: [{ url }] });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain(text);
  }
});

test('a local file is never read because a request names it, and a list is bounded', async () => {
  const { service } = await start({});
  const local = await service.run('a', { message: 'x', images: [{ filepath: '/etc/passwd' }] });
  expect([local.status, local.body.detail[0].loc]).toEqual([422, ['body', 'images', 0, 'filepath']]);
  const many = Array.from({ length: 101 }, () => ({ url: 'https://example.com/a.png' }));
  const refused = await service.run('a', { message: 'x', images: many });
  expect([refused.status, refused.body.detail[0].msg]).toEqual([
    422,
    'Value error, 101 entries are more than the limit of 100',
  ]);
});
