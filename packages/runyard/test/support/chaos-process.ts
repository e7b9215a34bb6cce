import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { SseClient } from './clients/sse-client.js';
import type { Body } from './service.js';
import { until } from './until.js';

const command = fileURLToPath(new URL('../../bin/runyard.mjs', import.meta.url));
const usualEntry = fileURLToPath(new URL('../chaos/yard.ts', import.meta.url));

/** Something that a tool did, in whichever process. */
export interface Effect {
  readonly name: string;
  readonly idempotencyKey: string;
  readonly pid: number;
}

/** A folder that the processes of one test share: their embedded database, what they did, what they wait for. */
export class ChaosFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'runyard-chaos-'));

  constructor() {
    onTestFinished(() => rmSync(this.path, { recursive: true, force: true }));
  }

  release(name: string): void {
    writeFileSync(join(this.path, `release-${name}`), '');
  }

  effects(name?: string): Effect[] {
    const file = join(this.path, 'effects');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    const effects = lines.map((line) => {
      const [effect = '', idempotencyKey = '', pid] = line.split('\t');
      return { name: effect, idempotencyKey, pid: Number(pid) };
    });
    return name === undefined ? effects : effects.filter((effect) => effect.name === name);
  }
}

export interface ChaosOptions {
  readonly folder: ChaosFolder;
  /** The file that exports the application; the yard of the chaos tests when left out. */
  readonly entry?: string;
  /** The embedded database in the folder when left out. */
  readonly database?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** How far its clock is ahead of the right time. */
  readonly clockAheadMs?: number;
  /** The test asks for its `memory()`. */
  readonly isMeasured?: boolean;
  /** The most that its heap may hold. */
  readonly heapMegabytes?: number;
  /** Started by a process that never asks how its children ended: killed, it stays as a zombie. */
  readonly neverReaped?: boolean;
}

/** Starts what comes behind it, names its process id, and becomes a program that waits for nothing. */
const carelessParent = ['/bin/sh', '-c', '"$@" & echo "pid: $!"; exec sleep 3600', 'sh'];

/** A service in a process of its own, started as an operator starts it. */
export class ChaosProcess {
  url = '';
  output = '';
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  private readonly child: ChildProcess;
  private servicePid: number | undefined;

  private constructor(options: ChaosOptions) {
    const { folder, entry = usualEntry, database, settings = {}, heapMegabytes, neverReaped } = options;
    const { PORT: _port, HOST: _host, RUNYARD_PORT: _runyardPort, ...inherited } = process.env;
    const [program, ...args] = [
      ...(neverReaped ? carelessParent : []),
      process.execPath,
      ...(heapMegabytes === undefined ? [] : [`--max-old-space-size=${heapMegabytes}`]),
      command,
      'start',
      entry,
    ];
    this.child = spawn(program!, args, {
      cwd: folder.path,
      env: {
        ...inherited,
        CHAOS_FOLDER: folder.path,
        CHAOS_SETTINGS: JSON.stringify(settings),
        ...(database !== undefined && { CHAOS_DATABASE: database }),
        ...(options.isMeasured && { CHAOS_MEASURED: '1' }),
        ...(options.clockAheadMs !== undefined && { CHAOS_CLOCK_AHEAD_MS: `${options.clockAheadMs}` }),
      },
    });
    this.child.stdout!.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr!.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => resolve({ code, signal }));
    });
  }

  static async start(options: ChaosOptions): Promise<ChaosProcess> {
    const started = new ChaosProcess(options);
    onTestFinished(() => started.kill());
    if (options.neverReaped) {
      started.servicePid = await until(
        'its process is named',
        () => /^pid: (\d+)$/m.exec(started.output)?.[1],
      ).then(Number);
    }
    started.url = await until('the service is up', () => {
      if (started.hasEnded) throw new Error(`The service did not start:\n${started.output}`);
      return /API\s+(http:\S+)/.exec(started.output)?.[1];
    });
    return started;
  }

  get pid(): number {
    return this.servicePid ?? this.child.pid!;
  }

  /** Kills a service that the test does not need afterwards, and waits until it has ended. */
  async makeZombie(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    await until('it is a zombie', () => /\) Z /.test(readFileSync(`/proc/${this.pid}/stat`, 'utf8')));
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Dead at once, in the middle of whatever it was doing. */
  async kill(): Promise<void> {
    if (this.servicePid !== undefined && !this.hasEnded) process.kill(this.servicePid, 'SIGKILL');
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Sends the form of a run. */
  post(agentId: string, form: Record<string, string>): Promise<Response> {
    return fetch(`${this.url}/agents/${agentId}/runs`, { method: 'POST', body: new URLSearchParams(form) });
  }

  async run(agentId: string, form: Record<string, string>): Promise<Body> {
    return (await this.post(agentId, { stream: 'false', ...form })).json();
  }

  async stream(agentId: string, form: Record<string, string>): Promise<SseClient> {
    return new SseClient(await this.post(agentId, form));
  }

  /** The run as stored; undefined when it does not exist. */
  async get(agentId: string, runId: string): Promise<Body | undefined> {
    const response = await fetch(`${this.url}/agents/${agentId}/runs/${runId}`);
    const body = (await response.json()) as Body;
    if (response.status !== 200 && response.status !== 404) throw new Error(JSON.stringify(body));
    return response.status === 200 ? body : undefined;
  }

  /** Waits until a run has come to rest. */
  async settled(agentId: string, runId: string): Promise<Body> {
    return until(`run ${runId} is over`, async () => {
      const run = await this.get(agentId, runId);
      return run !== undefined && !['pending', 'running'].includes(run.status) && run;
    });
  }

  /** How much memory is really held, in bytes. */
  async memory(): Promise<number> {
    return ((await (await fetch(`${this.url}/memory`)).json()) as { held: number }).held;
  }
}
