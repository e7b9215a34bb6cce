import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { repository } from './pages.js';

const host = fileURLToPath(new URL('service-host.mjs', import.meta.url));
const distribution = pathToFileURL(join(repository, 'packages/runyard/bundle/')).href;

/** Serves the entries of all pages, one at a time, in one process until that ends. */
export class Services {
  private child: ChildProcess | undefined;

  constructor(private readonly environment: Record<string, string | undefined>) {}

  /** Serves a file of a folder; answers when it listens. What was served before is stopped. */
  start(folder: string, file: string, port: number): Promise<void> {
    return this.ask({ folder, file: join(folder, file), port });
  }

  async stop(): Promise<void> {
    if (this.child !== undefined) await this.ask({});
  }

  async end(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    const closed = new Promise((resolve) => child.on('close', resolve));
    child.kill('SIGKILL');
    await closed;
  }

  private ask(wish: object): Promise<void> {
    this.child ??= this.hosted();
    const child = this.child;
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error('The process of the service has ended'));
      child.once('close', ended);
      child.once('message', ({ fault }: { fault?: string }) => {
        child.off('close', ended);
        if (fault === undefined) resolve();
        else reject(new Error(`nothing listens:\n${fault}`));
      });
      child.send(wish);
    });
  }

  private hosted(): ChildProcess {
    const child = fork(host, [distribution], { env: this.environment, stdio: 'inherit' });
    child.once('close', () => {
      this.child = undefined;
    });
    return child;
  }
}
