import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { recordingLog } from '../../../../test/support/clients/http-server.js';
import { StalledSockets } from './stalled-sockets.js';

// the test decides when the sockets are checked
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

const looksPerSpan = 4;

function watched(socket: Duplex) {
  const sockets = new StalledSockets(looksPerSpan, recordingLog([]));
  sockets.watch(socket);
  return (times: number) => void vi.advanceTimersByTime(times);
}

/** Both ends of a connection. The client takes nothing until the test lets it. */
async function connection() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  client.pause();
  onTestFinished(() => {
    for (const side of [client, socket]) side.destroy();
    server.close();
  });
  return { client, socket };
}

/** What is still in this process of the write in progress. */
const queued = (socket: Socket) =>
  (socket as unknown as { _handle: { writeQueueSize: number } })._handle.writeQueueSize;

async function takesOnePiece(client: Socket): Promise<void> {
  client.resume();
  await once(client, 'data');
  client.pause();
}

const large = Buffer.alloc(64_000_000);

test('a connection with nothing to send stays, however often it is checked', async () => {
  const { socket } = await connection();
  const look = watched(socket);
  look(100);
  expect(socket.destroyed).toBe(false);
});

test('a span in which nothing is taken begins when there is something to take', () => {
  // takes nothing of what is written
  const stream = new Duplex({ read: () => {}, write: () => {} });
  const look = watched(stream);
  look(100);
  stream.write('x');
  look(looksPerSpan);
  expect(stream.destroyed).toBe(false);
  look(1);
  expect(stream.destroyed).toBe(true);
});

test('a client that takes some of one long write between two looks stays', async () => {
  const { client, socket } = await connection();
  const look = watched(socket);
  socket.write(large);
  for (let looks = 0; looks < 2 * looksPerSpan; looks += 1) {
    const before = queued(socket);
    while (queued(socket) === before) await takesOnePiece(client);
    look(1);
  }
  expect(socket.destroyed).toBe(false);
});

test('a client that takes nothing is cut, however much is written to it', async () => {
  const { socket } = await connection();
  const look = watched(socket);
  socket.write(large);
  for (let looks = 0; looks <= 2 * looksPerSpan && !socket.destroyed; looks += 1) {
    socket.write('more');
    look(1);
  }
  expect(socket.destroyed).toBe(true);
});

/** A stream of which one piece leaves whenever the test says so. */
function slowStream() {
  const leaving: (() => void)[] = [];
  const stream = new Duplex({ read: () => {}, write: (_piece, _encoding, left) => void leaving.push(left) });
  return { stream, takeOne: () => leaving.shift()?.() };
}

test('a client that took some once and then nothing is cut', () => {
  const { stream, takeOne } = slowStream();
  const look = watched(stream);
  for (let pieces = 0; pieces < 3; pieces += 1) stream.write('x');
  look(1);
  takeOne();
  look(looksPerSpan);
  expect(stream.destroyed).toBe(false);
  look(1);
  expect(stream.destroyed).toBe(true);
});

test('a client that has taken all has a whole span for what comes next', () => {
  const { stream, takeOne } = slowStream();
  const look = watched(stream);
  for (let times = 0; times < 3; times += 1) {
    stream.write('x');
    look(looksPerSpan);
    takeOne();
    look(1);
  }
  expect(stream.destroyed).toBe(false);
});

test('nothing is checked any more when all sockets are closed, until there is another one', () => {
  const sockets = new StalledSockets(looksPerSpan, recordingLog([]));
  for (let times = 0; times < 2; times += 1) {
    const { stream } = slowStream();
    sockets.watch(stream);
    expect(vi.getTimerCount()).toBe(1);
    stream.destroy();
    vi.advanceTimersByTime(1);
    expect(vi.getTimerCount()).toBe(0);
  }
});

test('closed sockets are forgotten when many more come between two looks', () => {
  const sockets = new StalledSockets(looksPerSpan, recordingLog([]));
  const { stream: first } = slowStream();
  sockets.watch(first);
  first.destroy();
  for (let others = 0; others < 1_000; others += 1) sockets.watch(slowStream().stream);
  const asked = vi.spyOn(first, 'destroyed', 'get');
  vi.advanceTimersByTime(1);
  expect(asked).not.toHaveBeenCalled();
});
