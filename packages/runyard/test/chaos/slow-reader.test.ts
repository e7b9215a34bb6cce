import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ChaosProcess } from '../support/chaos-process.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import { embedded } from './places.js';

const events = 10_000;
const readers = 6;
/** How much unread data may be in memory, with room for garbage that is not collected yet. */
const share = 1 / 4;

test('readers that stop reading cost bounded memory, disturb no other reader, and miss nothing', async () => {
  // a slow machine takes longer than the usual patience with readers that take nothing
  const settings = { slowClientMs: 3_600_000 };
  const service = await ChaosProcess.start({ ...(await embedded()), settings, isMeasured: true });
  const completed = async () => {
    const response = await fetch(`${service.url}/agents/flood/runs?status=completed`);
    return ((await response.json()) as Body[]).length;
  };
  // one run and one read first, so that everything they need is loaded before it is measured
  await (await service.stream('flood', { message: String(events) })).end();
  await until('the first run has ended', async () => (await completed()) === 1);
  const before = await service.memory();

  const stalled = Array.from(
    { length: readers },
    (_, index) => new StallingReader(service.url, `stalled-${index}`),
  );
  const reader = await (await service.stream('flood', { message: String(events) })).end();
  expect(numbersOf(reader.events)).toEqual(upTo(events));
  await until(
    'all runs have ended though nobody reads them',
    async () => (await completed()) === readers + 2,
  );
  const lying = readers * Buffer.byteLength(JSON.stringify(reader.events));
  expect(((await service.memory()) - before) / lying).toBeLessThan(share);

  const late = await stalled[0]!.readOn();
  expect(late.at(-1)?.event).toBe('RunCompleted');
  expect(late.map(({ event_index }) => event_index)).toEqual(late.map((_, index) => index));
  expect(numbersOf(late)).toEqual(upTo(events));
});

/** A client that requests a stream and then stops reading. */
class StallingReader {
  private readonly socket: Socket;

  constructor(
    url: string,
    readonly runId: string,
  ) {
    const { host, hostname, port } = new URL(url);
    const form = `message=${events}&run_id=${runId}`;
    this.socket = connect({ host: hostname, port: Number(port) });
    onTestFinished(() => void this.socket.destroy());
    this.socket.pause();
    this.socket.write(
      `POST /agents/flood/runs HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/x-www-form-urlencoded\r\n` +
        `content-length: ${form.length}\r\nconnection: close\r\n\r\n${form}`,
    );
  }

  /** Reads everything that was left lying. */
  async readOn(): Promise<Body[]> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.socket) chunks.push(chunk as Buffer);
    return unchunked(Buffer.concat(chunks))
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)) as Body);
  }
}

/** The body of an answer whose length was not known when it began. */
function unchunked(answer: Buffer): string {
  const parts: Buffer[] = [];
  let at = answer.indexOf('\r\n\r\n') + 4;
  for (;;) {
    const end = answer.indexOf('\r\n', at);
    const length = Number.parseInt(answer.toString('latin1', at, end), 16);
    if (!(length > 0)) return Buffer.concat(parts).toString('utf8');
    parts.push(answer.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}

function numbersOf(all: readonly Body[]): number[] {
  return all.filter(({ event }) => event === 'CustomEvent').map(({ number }) => number as number);
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
