import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const checkMs = 50;

/** A process behind the balancer. */
interface Backend {
  readonly url: URL;
  isReady: boolean;
}

/** A load balancer for connections: each goes to one of the processes that say at `/ready` that they are, in turn. */
export class Balancer {
  readonly url: string;
  #backends: Backend[] = [];
  #next = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (client) => this.#accept(client));
  }

  static async listen(): Promise<Balancer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const balancer = new Balancer(server);
    const checks = setInterval(() => void balancer.#check(), checkMs);
    onTestFinished(() => {
      clearInterval(checks);
      for (const socket of balancer.#sockets) socket.destroy();
      server.close();
    });
    return balancer;
  }

  async add(url: string): Promise<void> {
    this.#backends.push({ url: new URL(url), isReady: false });
    await this.#check();
  }

  remove(url: string): void {
    this.#backends = this.#backends.filter((backend) => backend.url.href !== new URL(url).href);
  }

  async #check(): Promise<void> {
    await Promise.all(
      this.#backends.map(async (backend) => {
        const answer = await fetch(new URL('/ready', backend.url)).catch(() => undefined);
        await answer?.text();
        backend.isReady = answer?.status === 200;
      }),
    );
  }

  #accept(client: Socket): void {
    const ready = this.#backends.filter(({ isReady }) => isReady);
    const backend = ready[this.#next++ % ready.length];
    if (backend === undefined) return void client.destroy();
    const upstream = connect(Number(backend.url.port), backend.url.hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
