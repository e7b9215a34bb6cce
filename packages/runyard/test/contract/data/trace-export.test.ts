import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { agent, type RunyardOptions, step, workflow } from '../../../src/index.js';
import { attributesOf, Collector, type ReceivedSpan } from '../../support/clients/collector.js';
import { answered, payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService } from '../../support/service.js';
import { until } from '../../support/until.js';

const secret = 'collector-secret-1';

async function exporting(collector: { url: string }, options: RunyardOptions = {}) {
  const book = new ScriptBook();
  const service = await startService({
    name: 'Press office',
    agents: [payingAgent(book, 'a').agent],
    otlpEndpoint: collector.url,
    otlpHeaders: { 'x-collector-key': secret },
    ...options,
  });
  return { book, service, life: new RunLife(service, 'a') };
}

/** Something at the address that takes no request. */
async function brokenServer() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { url: `http://127.0.0.1:${port}`, port, connections: () => connections, close };
}

const root = (spans: readonly ReceivedSpan[]) =>
  spans.find(({ parentSpanId }) => parentSpanId === undefined)!;
const names = (spans: readonly ReceivedSpan[]) => spans.map(({ name }) => name).sort();
const ids = (spans: readonly ReceivedSpan[]) => spans.map(({ spanId }) => spanId);

describe('a run that has ended', () => {
  test('is sent as one trace, with its parents and attributes', async () => {
    const collector = await Collector.listen();
    const { book, life } = await exporting(collector);
    book.write('look', { toolCalls: [{ name: 'look', arguments: {}, id: 'l' }] }, 'Seen.');
    const run = await life.start({ message: 'look', session_id: 's1', user_id: 'ada' });
    const spans = await collector.received(4);
    expect(collector.faults).toEqual([]);
    const whole = root(spans);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([run.run_id.replaceAll('-', '')]));
    const inside = spans.filter((span) => span !== whole);
    expect(inside.every(({ parentSpanId }) => parentSpanId === whole.spanId)).toBe(true);
    expect(inside.map(({ kind }) => kind).sort()).toEqual([1, 3, 3]);
    expect(collector.spanNamed('look')).toBeDefined();
    expect(attributesOf(whole)).toMatchObject({
      'session.id': 's1',
      'user.id': 'ada',
      'agno.run.id': run.run_id,
      'input.value': 'look',
    });
    expect(whole.status.code).toBe(1);
    const [request] = collector.requests;
    expect([request!.path, request!.headers['x-collector-key']]).toEqual(['/v1/traces', secret]);
    expect(request!.headers['content-encoding']).toBe('gzip');
    expect(request!.resource).toMatchObject({
      'service.name': 'Press office',
      'service.instance.id': expect.any(String),
      'telemetry.sdk.name': 'runyard',
    });
  });

  test('exports a failure', async () => {
    const collector = await Collector.listen();
    const { book, life } = await exporting(collector);
    book.write('fails', { error: 'No such model' });
    await life.start({ message: 'fails' });
    const spans = await collector.received(2);
    expect(root(spans).status).toEqual({ code: 2, message: expect.stringContaining('No such model') });
    expect(root(spans).events).toEqual([
      expect.objectContaining({ name: 'exception', timeUnixNano: expect.any(String) }),
    ]);
  });

  test('is a part of the trace that the caller began, unless that is not recorded', async () => {
    const collector = await Collector.listen();
    const { service } = await exporting(collector);
    const traceId = 'ab'.repeat(16);
    const parent = 'cd'.repeat(8);
    const with_ = (flags: string, message: string) =>
      service.run('a', { message }, { headers: { traceparent: `00-${traceId}-${parent}-${flags}` } });
    await with_('00', 'not recorded');
    await with_('01', 'recorded');
    const spans = await collector.received(2);
    await service.app.close();
    expect(names(collector.spans)).toEqual(names(spans));
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    expect(spans.find(({ parentSpanId }) => parentSpanId === parent)?.flags).toBe(0x301);
  });

  test('of a workflow is sent with all that happened inside', async () => {
    const collector = await Collector.listen();
    const book = new ScriptBook();
    const helper = agent({ id: 'helper', name: 'Helper', model: book.model });
    const press = workflow({ id: 'press', name: 'Press', steps: [step({ name: 'draft', agent: helper })] });
    const { service } = await exporting(collector, { workflows: [press] });
    await new RunLife(service, 'press', 'workflows').start({ message: 'write' });
    const spans = await collector.received(4);
    expect(root(spans).name).toBe('Press.arun');
    const known = new Set(ids(spans));
    expect(spans.every(({ parentSpanId }) => parentSpanId === undefined || known.has(parentSpanId))).toBe(
      true,
    );
    expect(names(spans)).toContain('Helper.arun');
  });
});

test('a model call shows which earlier runs the model received', async () => {
  const collector = await Collector.listen();
  const { life, service } = await exporting(collector);
  await life.start({ message: 'before', session_id: 'talk' });
  await life.start({ message: 'after', session_id: 'talk', add_history_to_context: true });
  await service.app.close();
  const calls = collector.spans
    .filter(({ kind }) => kind === 3)
    .map((span) => attributesOf(span)['input.value']);
  expect(calls).toHaveLength(2);
  expect(calls[1]).toContain('Answer to: before');
});

test('what traces hide is not sent either', async () => {
  const collector = await Collector.listen();
  const { book, life, service } = await exporting(collector, { traceRedact: ['/order-\\d+/'] });
  book.write('Where is order-4711?', 'On its way: order-4711.');
  await life.start({ message: 'Where is order-4711?' });
  await service.app.close();
  const sent = JSON.stringify(collector.spans);
  expect(sent).toContain('Where is');
  expect(sent).not.toContain('order-4711');
});

test('a run that waits sends what it has done, and later the rest, each span once', async () => {
  const collector = await Collector.listen();
  const { book, life } = await exporting(collector);
  book.write('pay', { toolCalls: [payCall(5)] }, 'Paid.');
  const paused = await life.start({ message: 'pay' });
  expect(paused.status).toBe('paused');
  const first = [...(await collector.received(1))];
  expect(first.some(({ parentSpanId }) => parentSpanId === undefined)).toBe(false);
  await life.continue(paused.run_id, { tools: answered(paused, { 'pay-5': { confirmed: true } }) });
  const all = await until('the span of the run has come', () => root(collector.spans) && collector.spans);
  expect(new Set(ids(all)).size).toBe(all.length);
  expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1);
  expect(names(all)).toContain('pay');
  const known = new Set(ids(all));
  expect(all.every(({ parentSpanId }) => parentSpanId === undefined || known.has(parentSpanId))).toBe(true);
});

test('a copy leads to its original', async () => {
  const collector = await Collector.listen();
  const { life, service } = await exporting(collector);
  const original = await life.start({ message: 'first' });
  const copy = (await life.continue(original.run_id, { input: 'and then' })).body as Body;
  expect(copy.run_id).not.toBe(original.run_id);
  await service.app.close();
  const roots = collector.spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  expect(roots).toHaveLength(2);
  const [first, second] = roots;
  expect(second!.links).toEqual([
    expect.objectContaining({ traceId: first!.traceId, spanId: first!.spanId }),
  ]);
});

describe('a collector', () => {
  test('that is busy is asked again when it says', async () => {
    const collector = await Collector.listen();
    collector.answers.push({ status: 503, headers: { 'retry-after': '0' } }, { status: 429 });
    const { life } = await exporting(collector);
    await life.start({ message: 'busy' });
    await until('it was asked three times', () => collector.requests.length === 3);
    const [one, two, three] = collector.requests.map(({ spans }) => ids(spans));
    expect([one, two]).toEqual([three, three]);
  });

  test('that refuses for good is not asked again, and that is said once, without secrets', async () => {
    const collector = await Collector.listen();
    collector.answers.push({ status: 401 }, { status: 401 });
    const { life, service } = await exporting(collector);
    const warned = () => service.logged.filter(({ message }) => message.includes('collector'));
    await life.start({ message: 'one' });
    await until('the first was refused', () => collector.requests.length === 1 && warned().length > 0);
    await life.start({ message: 'two' });
    await until('the second was refused', () => collector.requests.length === 2);
    await life.start({ message: 'three' });
    await until('it takes the third, and says so', () => warned().length === 2);
    expect(collector.requests).toHaveLength(3);
    expect(warned().map(({ level }) => level)).toEqual(['warn', 'info']);
    expect(warned()[1]!.fields).toMatchObject({ droppedRuns: 2 });
    expect(JSON.stringify(service.logged)).not.toContain(secret);
  });

  test('that is away delays no run, and is found again', async () => {
    const away = await brokenServer();
    const { life } = await exporting(away);
    const { status } = await life.start({ message: 'nobody there' });
    expect(status).toBe('completed');
    await until('it was tried', () => away.connections() > 0);
    await away.close();
    const back = await Collector.listen(away.port);
    expect(root(await back.received(2))).toBeDefined();
  });

  test('that never answers holds up neither a run nor the end of the service', async () => {
    const collector = await Collector.listen();
    collector.answers.push('silence', 'silence', 'silence');
    const { life, service } = await exporting(collector);
    expect((await life.start({ message: 'slow' })).status).toBe('completed');
    await collector.received(2);
    expect((await life.start({ message: 'slow too' })).status).toBe('completed');
    await service.app.close({ graceMs: 0 });
  });

  test('receives the remaining spans when the service stops', async () => {
    const collector = await Collector.listen();
    const { life, service } = await exporting(collector);
    for (let index = 0; index < 5; index++) await life.start({ message: `run ${index}` });
    await service.app.close();
    expect(collector.spans.filter(({ parentSpanId }) => parentSpanId === undefined)).toHaveLength(5);
  });

  test('may have a path, a user and a password of its own', async () => {
    const collector = await Collector.listen();
    const url = collector.url.replace('http://', 'http://me:p%40ss@');
    const { life, service } = await exporting({ url: `${url}/otlp/` });
    await life.start({ message: 'with a path' });
    await collector.received(2);
    const [{ path, headers } = { path: '', headers: {} as Record<string, string> }] = collector.requests;
    expect(path).toBe('/otlp/v1/traces');
    expect(headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
    expect(JSON.stringify(service.logged)).not.toContain('p%40ss');
  });
});

test('a run that another process resumes keeps its ids', async () => {
  const collector = await Collector.listen();
  const { book, life, service } = await exporting(collector);
  book.write('pay later', { toolCalls: [payCall(7)] }, 'Paid.');
  const paused = await life.start({ message: 'pay later' });
  await service.app.close();
  const before = new Set(ids(collector.spans));
  expect(before.size).toBeGreaterThan(0);
  // the same database, and nothing in memory
  const { url } = await service.app.listen();
  const again = new RunLife(Object.assign(Object.create(service), { url }), 'a');
  await again.continue(paused.run_id, { tools: answered(paused, { 'pay-7': { confirmed: true } }) });
  const all = await until('the span of the run has come', () => root(collector.spans) && collector.spans);
  expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1);
  const known = new Set(ids(all));
  expect(all.every(({ parentSpanId }) => parentSpanId === undefined || known.has(parentSpanId))).toBe(true);
  expect(known.size).toBe(all.length);
});
