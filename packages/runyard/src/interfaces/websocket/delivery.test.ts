import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { gate } from '../../../test/support/until.js';
import type { StreamEvent } from '../../platform/http/response/event-reader.js';
import { Delivery } from './delivery.js';
import type { SendQueue } from './send-queue.js';
import { plainEvent } from './server-frame.js';

const event = (index: number): StreamEvent => ({ index, name: 'Piece', data: `{"event_index":${index}}` });

/** Has always one more event, and notes how often it was asked. */
class EndlessReader extends EventEmitter {
  asked = 0;
  closed = false;

  async next(): Promise<readonly StreamEvent[]> {
    this.asked++;
    this.emit('asked');
    return [event(this.asked - 1)];
  }

  close(): void {
    this.closed = true;
  }
}

/** Has room for three frames, then none until `opened`. */
class NarrowSendQueue {
  readonly sent: string[] = [];
  readonly more = gate();

  room(): Promise<void> {
    return this.sent.length < 3 ? Promise.resolve() : this.more.opened;
  }

  send(texts: readonly string[]): void {
    this.sent.push(...texts);
  }
}

test('nothing is read from the run while the client does not take what it got', async () => {
  const reader = new EndlessReader();
  const sendQueue = new NarrowSendQueue();
  const delivery = new Delivery(reader, plainEvent, sendQueue as unknown as SendQueue);
  const over = delivery.run();
  while (sendQueue.sent.length < 3) await setImmediate();
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  expect(reader.asked).toBe(3);
  sendQueue.more.open();
  await once(reader, 'asked');
  expect(delivery.lastIndex).toBeGreaterThanOrEqual(2);
  delivery.stop();
  await over;
});

test('no further event is sent once it is stopped', async () => {
  const reader = new EndlessReader();
  const sendQueue = new NarrowSendQueue();
  const delivery = new Delivery(reader, plainEvent, sendQueue as unknown as SendQueue);
  reader.once('asked', () => delivery.stop());
  await delivery.run();
  expect(reader.closed).toBe(true);
  expect(sendQueue.sent).toEqual([]);
});
