import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { until } from '../until.js';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent.
  readonly body: any;
  readonly text: string;
}

/** A receiver of push notifications, on the loopback address. */
export interface Webhook {
  readonly url: string;
  readonly host: string;
  readonly received: Received[];
  /** Statuses to answer with, in their order; then 200. `0`: no answer at all. */
  readonly answers: number[];
  /** Headers of all answers. */
  readonly headers: Record<string, string>;
  /** Waits until so many have come. */
  until(count: number): Promise<unknown>;
}

export async function webhook(): Promise<Webhook> {
  const received: Received[] = [];
  const answers: number[] = [];
  const headers: Record<string, string> = {};
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      received.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text), text });
      const status = answers.shift() ?? 200;
      if (status !== 0) response.writeHead(status, headers).end('noted');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/hook`,
    host,
    received,
    answers,
    headers,
    until: (count) => until(`${count} notifications have come`, () => received.length >= count),
  };
}
