import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { patience } from '../support/patience.js';
import { until } from '../support/until.js';

export const repository = fileURLToPath(new URL('../../../../', import.meta.url));
const packageFolder = fileURLToPath(new URL('../../', import.meta.url));
const compiler = join(repository, 'node_modules/typescript/bin/tsc');
const command = join(packageFolder, 'bin/runyard.mjs');
const fixture = pathToFileURL(join(packageFolder, 'test/cli/fixture-application.mjs')).href;

/** A folder with these files that is gone after the test. */
export function project(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** What `npm install` would do, without a registry: the packages of this workspace, Runyard among them. */
export function linkPackages(folder: string): void {
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'), 'dir');
}

/** The output of the compiler for the types of a project. */
export function typeFaults(folder: string): string {
  return spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' }).stdout;
}

/** An entry that exports an application with these options, written as an expression. */
export function entry(options = '{}', name = 'app'): string {
  return `import { FixtureApplication } from '${fixture}';\nexport const ${name} = new FixtureApplication(${options});\n`;
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class RunningCommand {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Outcome>;
  private readonly child: ChildProcess;
  private outputClosed = false;
  private wake: () => void = () => {};

  constructor(program: string, words: readonly string[], cwd: string, env: Record<string, string>) {
    // Started by npm or not, on whatever port: a test says itself what its command finds.
    const { PORT: _port, HOST: _host, npm_command: _npm, ...inherited } = process.env;
    this.child = spawn(program, words, { cwd, env: { ...inherited, ...env } });
    this.child.stdout!.on('data', (chunk) => this.take('stdout', chunk));
    this.child.stderr!.on('data', (chunk) => this.take('stderr', chunk));
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code) => {
        this.outputClosed = true;
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
        this.wake();
      });
    });
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** As `| head` does, which ends when it has seen enough. */
  closeStandardOutput(): void {
    this.child.stdout!.destroy();
  }

  /** Waits until both outputs together match, and answers the match. */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout + this.stderr);
      if (match) return match;
      if (this.outputClosed)
        throw new Error(`ended without printing ${pattern}:\n${this.stdout}${this.stderr}`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Looks until there is an answer other than undefined or false, but not after the command has ended. */
  shows<T>(what: string, look: () => T | undefined | false): Promise<T> {
    return until(what, () => {
      const seen = look();
      if ((seen === undefined || seen === false) && this.outputClosed)
        throw new Error(`The command ended before ${what}:\n${this.stdout}${this.stderr}`);
      return seen;
    });
  }

  private take(output: 'stdout' | 'stderr', chunk: Buffer): void {
    this[output] += chunk.toString();
    this.wake();
  }
}

interface CommandOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
}

export function start(words: readonly string[], options: CommandOptions): RunningCommand {
  return launch(process.execPath, [command, ...words], options);
}

/** A program of the user's own, in the folder. */
export function startProgram(file: string, options: CommandOptions): RunningCommand {
  return launch(process.execPath, [file], options);
}

/** With a shell between the test and the command that waits for it, as npm does it. */
export function startUnderShell(words: readonly string[], options: CommandOptions): RunningCommand {
  return launch('sh', ['-c', '"$@"; exit $?', 'sh', process.execPath, command, ...words], options);
}

function launch(
  program: string,
  words: readonly string[],
  { cwd, env = {} }: CommandOptions,
): RunningCommand {
  const running = new RunningCommand(program, words, cwd, env);
  onTestFinished(async () => {
    running.signal('SIGTERM');
    const impatience = setTimeout(() => running.signal('SIGKILL'), patience(5000));
    await running.ended;
    clearTimeout(impatience);
  });
  return running;
}

export function run(words: readonly string[], options: CommandOptions): Promise<Outcome> {
  return start(words, options).ended;
}
