import { row } from '../../lib/rows.mjs';
import { manyTimes, RunClient } from '../../lib/run-client.mjs';
import { median } from '../../lib/statistics.mjs';

const uncounted = 3;
const eventMark = Buffer.from('event: Run');

/** A long run read again: all of it, its second half, and by many at once. */
export async function measureResuming({ start }, { title, database }, { tokens, rounds, readers }) {
  const bare = await start.bare(database);
  const runyard = await start.runyard(database);
  const client = new RunClient(runyard.port, 'talking');
  const runId = client.newRunId();
  const events = await talk(client, runId, tokens);
  const half = Math.floor(events / 2);
  const parts = [
    {
      name: `resume of ${grouped(events)} events`,
      request: ['POST', client.path(runId, '/resume'), { last_event_index: '-1' }],
    },
    {
      name: `events from the middle on, ${grouped(events - half)}`,
      request: ['GET', client.path(runId, `/events?last_event_index=${half - 1}`)],
    },
  ];
  const rows = [];
  for (const [position, part] of parts.entries()) {
    const { events: count, text } = await readAll(client, part.request);
    const expected = position === 0 ? events : events - half;
    if (count !== expected) throw new Error(`${part.name}: ${count} events came, not ${expected}`);
    const id = `kept-${position}`;
    await bare.ask('keep', { id, text: text.toString() });
    const sides = {
      base: () => readAll(new RunClient(bare.port, 'talking'), ['GET', `/agents/talking/runs/${id}/events`]),
      measured: () => readAll(client, part.request),
    };
    rows.push(...oneReader(title, part.name, count, await inTurns(sides, rounds)));
    if (position === 0) {
      const name = `${part.name}, ${readers} readers at once`;
      const servers = { base: bare, measured: runyard };
      rows.push(...manyReaders(title, name, count * readers, await atOnce(servers, sides, readers, rounds)));
    }
  }
  await Promise.all([bare.stop(), runyard.stop()]);
  return rows;
}

async function talk(client, runId, tokens) {
  const stream = await client.stream({ run_id: runId, message: String(tokens) });
  await stream.over;
  if (stream.count('RunContent') < tokens) throw new Error('the long run lost some of its answer');
  return stream.last + 1;
}

/** Everything that a stream sends: when its first event came, when its last, and its bytes. */
async function readAll(client, [method, path, form]) {
  const begun = performance.now();
  const response = await client.send(method, path, form, false);
  const chunks = [];
  let first;
  for await (const chunk of response) {
    chunks.push(chunk);
    if (first === undefined && chunk.includes(eventMark)) first = performance.now() - begun;
  }
  const whole = performance.now() - begun;
  const text = Buffer.concat(chunks);
  if (!text.includes('event: RunCompleted')) throw new Error(`${path} ended too soon`);
  return { first, whole, text, events: text.toString('latin1').match(/^id: /gm).length };
}

async function inTurns(sides, rounds) {
  const samples = { base: [], measured: [] };
  for (let round = -uncounted; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? ['base', 'measured'] : ['measured', 'base']) {
      const { first, whole } = await sides[name]();
      if (round >= 0) samples[name].push({ first, whole });
    }
  }
  return samples;
}

/** How long all of them take, and how much the server's memory grew in that time. */
async function atOnce(servers, sides, readers, rounds) {
  const samples = { base: [], measured: [] };
  for (let round = -1; round < Math.ceil(rounds / 3); round += 1) {
    for (const name of ['base', 'measured']) {
      const before = await servers[name].ask('memory');
      await servers[name].ask('watchMemory');
      const begun = performance.now();
      await manyTimes(readers, readers, sides[name]);
      const whole = performance.now() - begun;
      const most = await servers[name].ask('mostMemory');
      if (round >= 0) samples[name].push({ whole, growth: (most - before.rss) / 2 ** 20 });
    }
  }
  return samples;
}

function oneReader(where, name, events, samples) {
  const both = compared(where, name, samples);
  return [
    both('first event', 'ms', ({ first }) => first),
    both('last event', 'ms', ({ whole }) => whole),
    both('throughput', 'events/s', ({ whole }) => (events / whole) * 1000),
  ];
}

function manyReaders(where, name, events, samples) {
  const both = compared(where, name, samples);
  return [
    both('last event', 'ms', ({ whole }) => whole),
    both('throughput', 'events/s', ({ whole }) => (events / whole) * 1000),
    both('most resident memory, beyond that before', 'MiB', ({ growth }) => growth),
  ];
}

function compared(where, name, { base, measured }) {
  return (what, unit, value) =>
    row({
      what: `${name}: ${what}`,
      where,
      unit,
      base: median(base.map(value)),
      measured: median(measured.map(value)),
    });
}

function grouped(count) {
  return count.toLocaleString('en');
}
