import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { patience } from '../support/patience.js';
import { repository } from './pages.js';

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

const host = fileURLToPath(new URL('program-host.mjs', import.meta.url));
const distribution = pathToFileURL(join(repository, 'packages/runyard/bundle/')).href;

/** Runs the programs of all pages, in one process until one of them ends it. */
export class Programs {
  private child: ChildProcess | undefined;
  private readonly endMark = `\n${randomUUID()}\n`;

  constructor(private readonly environment: Record<string, string | undefined>) {}

  /** Runs a file of a folder until nothing is left for it to do. */
  run(folder: string, file: string): Promise<Outcome> {
    this.child ??= fork(host, [distribution, this.endMark], { env: this.environment, silent: true });
    const child = this.child;
    const printed = { stdout: '', stderr: '' };
    return new Promise((resolve) => {
      const impatience = setTimeout(() => child.kill('SIGKILL'), patience());
      const finish = (code: number | null) => {
        clearTimeout(impatience);
        for (const name of ['stdout', 'stderr'] as const) child[name]!.removeAllListeners('data');
        child.removeAllListeners('close');
        const [output, errors] = [printed.stdout, printed.stderr].map((text) =>
          text.replace(this.endMark, ''),
        );
        resolve({ code, output: output!, errors: errors! });
      };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name]!.on('data', (chunk) => {
          printed[name] += chunk;
          if (Object.values(printed).every((text) => text.endsWith(this.endMark))) finish(0);
        });
      }
      child.on('close', (code) => {
        this.child = undefined;
        finish(code ?? 1);
      });
      child.send({ folder, file: join(folder, file) });
    });
  }

  async end(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    const closed = new Promise((resolve) => child.on('close', resolve));
    child.kill('SIGKILL');
    await closed;
  }
}
