import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy between a process and a server. To the process, the server has the fault that the test chooses. */
export class ServerBetween {
  readonly url: string;
  #server: Server | undefined;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #silent = false;
  #delayMs = 0;

  private constructor(
    private target: URL,
    private readonly port: number,
  ) {
    const url = new URL(target);
    url.host = `127.0.0.1:${port}`;
    this.url = url.href;
  }

  static async before(url: string): Promise<ServerBetween> {
    const free = createServer();
    await once(free.listen(0, '127.0.0.1'), 'listening');
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const between = new ServerBetween(new URL(url), port);
    await between.open();
    onTestFinished(() => between.refuse());
    return between;
  }

  /** The server is there. */
  async open(): Promise<void> {
    this.#silent = false;
    if (this.#delayMs > 0) this.breakAll();
    this.#delayMs = 0;
    for (const [client, upstream] of this.#pairs) {
      for (const side of [client, upstream]) side.unpipe();
      client.pipe(upstream).pipe(client);
    }
    if (this.#server !== undefined) return;
    this.#server = createServer((client) => this.#accept(client));
    await once(this.#server.listen(this.port, '127.0.0.1'), 'listening');
  }

  /** New connections lead to another server; those that are there stay. */
  leadTo(url: string): void {
    this.target = new URL(url);
  }

  /** The server has ended: all connections break, and no new one is accepted. */
  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = server && new Promise((resolve) => server.close(resolve));
    this.breakAll();
    await closed;
  }

  /** The server, or the way to it, has gone silent: connections stay, and nothing comes through. */
  silence(): void {
    this.#silent = true;
    for (const [client, upstream] of this.#pairs) {
      client.unpipe(upstream).pause();
      upstream.unpipe(client).pause();
    }
  }

  /** The server is slow to accept: nothing comes through new connections, existing ones work. */
  holdNew(): void {
    this.#silent = true;
  }

  /** The server is slow: connections break, and on new ones everything takes so long in each direction. */
  slow(ms: number): void {
    this.#delayMs = ms;
    this.breakAll();
  }

  breakAll(): void {
    for (const [client] of this.#pairs) client.resetAndDestroy();
  }

  #accept(client: Socket): void {
    const port = this.target.port || (this.target.protocol === 'redis:' ? 6379 : 5432);
    const upstream = connect(Number(port), this.target.hostname);
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    for (const side of pair) side.on('error', () => {});
    client.on('close', () => {
      this.#pairs.delete(pair);
      upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
    if (this.#silent) client.pause();
    else if (this.#delayMs > 0) {
      const late = (one: Socket, other: Socket, ms: number) =>
        one.on('data', (chunk) => void setTimeout(() => other.destroyed || other.write(chunk), ms));
      late(client, upstream, this.#delayMs);
      late(upstream, client, this.#delayMs);
    } else client.pipe(upstream).pipe(client);
  }
}
