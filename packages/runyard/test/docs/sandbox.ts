import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { patience } from '../support/patience.js';
import { until } from '../support/until.js';
import { type Block, repository } from './pages.js';
import { type Outcome, Programs } from './programs.js';
import { Services } from './services.js';

const hooks = pathToFileURL(join(repository, 'packages/runyard/bundle/cli/typescript-hooks.js')).href;

/** The page shows plain calls: here curl also prints the status, and npx finds the command without asking around. */
const shellWords = `
  curl() { command curl -sS -N --max-time ${Math.ceil(patience() / 1000)} -w '%{stderr}status %{http_code}\\n' "$@"; }
  npx() { "$@"; }
`;

/** Those that run to their end. A program that listens has a process of its own. */
export const programs = new Programs(plainEnvironment());
export const services = new Services(plainEnvironment());

/**
 * A folder in which the blocks of one page are tried, as its reader would. Packages are those of the workspace, the
 * ports of the page are replaced by free ones.
 */
export class Sandbox {
  private readonly processes: ChildProcess[] = [];
  private served = false;
  private programs = 0;

  private constructor(
    readonly folder: string,
    private readonly servicePort: number,
    private readonly programPort: number,
  ) {}

  static async make(): Promise<Sandbox> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runyard-docs-')));
    symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'), 'dir');
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
    cpSync(join(repository, 'examples/quickstart'), join(folder, 'quickstart'), {
      recursive: true,
      filter: (path) => !/node_modules|\.runyard/.test(path),
    });
    return new Sandbox(folder, await freePort(), await freePort());
  }

  async remove(): Promise<void> {
    await Promise.all([services.stop(), ...this.processes.map(end)]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs a block to its end. */
  run(block: Block): Promise<Outcome> {
    return block.language === 'sh' ? this.runShell(block) : this.runProgram(block);
  }

  /** Starts a program that listens, and answers when it does. */
  async serve(block: Block): Promise<void> {
    const child = this.start(process.execPath, ['--import', registration(), this.write(block)]);
    await listening(this.programPort, child);
  }

  /** Serves an entry, or the example agents; a service that was there before is stopped. */
  async startService(entry?: Block): Promise<void> {
    const file = entry === undefined ? 'quickstart/agents.ts' : this.write(entry);
    await services.start(this.folder, file, this.servicePort);
    this.served = true;
  }

  get hasService(): boolean {
    return this.served;
  }

  private runProgram(block: Block): Promise<Outcome> {
    return programs.run(this.folder, this.write(block));
  }

  private runShell(block: Block): Promise<Outcome> {
    return outcome(this.start('bash', ['-euo', 'pipefail', '-c', shellWords + this.withPorts(block.text)]));
  }

  private write(block: Block): string {
    this.programs += 1;
    const name = `program-${this.programs}.ts`;
    writeFileSync(join(this.folder, name), this.withPorts(block.text));
    return name;
  }

  private withPorts(text: string): string {
    return text.replace(/\b7777\b/g, String(this.servicePort)).replace(/\b8080\b/g, String(this.programPort));
  }

  private start(program: string, words: readonly string[]): ChildProcess {
    const child = spawn(program, words, { cwd: this.folder, env: plainEnvironment() });
    this.processes.push(child);
    return child;
  }
}

/** No setting and no key of the developer who runs the tests. */
function plainEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(PORT|HOST|NODE_OPTIONS|RUNYARD_.*|VITEST.*|.*_API_KEY)$/.test(name),
  );
  const path = [join(repository, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path };
}

/** Programs are TypeScript; Node 20 needs the hooks of the command for that. */
function registration(): string {
  const code = `import { register } from 'node:module';
    register(${JSON.stringify(hooks)}, { data: { transform: !process.features.typescript } });`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

async function outcome(child: ChildProcess): Promise<Outcome> {
  let output = '';
  let errors = '';
  child.stdout!.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    errors += chunk;
  });
  const impatience = setTimeout(() => child.kill('SIGKILL'), patience());
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(impatience);
  return { code, output, errors };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  const impatience = setTimeout(() => child.kill('SIGKILL'), patience(5000));
  await closed;
  clearTimeout(impatience);
}

/** Waits until something answers on the port, or the process that was to do so is gone. */
async function listening(port: number, child: ChildProcess): Promise<void> {
  let printed = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk) => {
      printed += chunk;
    });
  }
  await until(`something listens on port ${port}`, () => {
    if (child.exitCode !== null) throw new Error(`nothing listens:\n${printed}`);
    return answers(port);
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
