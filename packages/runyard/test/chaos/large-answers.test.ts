import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { ChaosProcess } from '../support/chaos-process.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import { embedded } from './places.js';

const entry = fileURLToPath(new URL('./large-yard.ts', import.meta.url));
const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

/** What the service itself needs, and the garbage that may not be collected yet. */
const serviceBytes = 80 * megabyte;
/** How much a process may have in its heap: what its runs hold, and less than once more for their end. */
const heapShare = 1.8;
/** How much more memory the process may take at the end, outside its heap too. */
const growthShare = 2;

const cases = [
  { runs: 12, kilobytes: 4096, way: 'followed' },
  { runs: 100, kilobytes: 512, way: 'followed' },
  { runs: 12, kilobytes: 4096, way: 'followed by clients that do not read' },
  { runs: 12, kilobytes: 4096, way: 'in the background' },
  { runs: 12, kilobytes: 4096, way: 'not streamed' },
] as const;

test.each(cases)('$runs runs of $kilobytes KB that end together, $way', async ({ runs, kilobytes, way }) => {
  const text = runs * kilobytes * kilobyte;
  const heap = Math.round((heapShare * text + serviceBytes) / megabyte);
  const place = await embedded();
  const service = await ChaosProcess.start({
    ...place,
    entry,
    heapMegabytes: heap,
  });
  const answers = Array.from({ length: runs }, () => begin(service, way, kilobytes));
  await until('all have spoken', async () => (await ask(service, '/spoken')).spoken === runs);
  const before = await ask(service, '/memory');
  place.folder.release('end');
  await until('all have ended', async () => {
    if (service.hasEnded) throw new Error(`The service died: ${service.output.slice(-2000)}`);
    return (await ask(service, '/agents/talkative/runs?status=running&limit=1')).length === 0;
  });
  for (const bytes of await Promise.all(answers)) expect(bytes).toBeGreaterThan(kilobytes * kilobyte);
  const after = await ask(service, '/memory');
  expect((after.highest - before.rss - serviceBytes) / text).toBeLessThan(growthShare);
  await until('what was said is no longer in memory', async () => {
    const { held } = await ask(service, '/memory');
    return (held - (before.held - text)) / text < 0.5;
  });
});

async function ask(service: ChaosProcess, path: string): Promise<Body> {
  return (await fetch(service.url + path)).json();
}

type Way = (typeof cases)[number]['way'];

/** Starts a run, and answers with how much of it came when all of it has. */
async function begin(service: ChaosProcess, way: Way, kilobytes: number): Promise<number> {
  const message = String(kilobytes);
  if (way === 'followed by clients that do not read') {
    leaveUnread(service.url, message);
    return Number.POSITIVE_INFINITY;
  }
  const background = way === 'in the background';
  const form = { message, stream: String(way === 'followed'), background: String(background) };
  const response = await service.post('talkative', form);
  let bytes = 0;
  for await (const chunk of response.body!) bytes += chunk.length;
  return background ? Number.POSITIVE_INFINITY : bytes;
}

/** Requests a stream and then stops reading. */
function leaveUnread(url: string, message: string): void {
  const { host, hostname, port } = new URL(url);
  const form = `message=${message}`;
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  socket.pause();
  socket.write(
    `POST /agents/talkative/runs HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/x-www-form-urlencoded\r\n` +
      `content-length: ${form.length}\r\n\r\n${form}`,
  );
}
