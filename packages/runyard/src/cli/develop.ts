import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dotEnvName } from './dot-env.js';
import { findEntry } from './load-entry.js';
import type { ImportNotice, ListeningNotice, StopRequest } from './serve.js';
import { flagWords, type SettingFlags } from './setting-flags.js';
import { stopOnSignals } from './signals.js';
import { FolderWatch } from './watch-folder.js';

const command = fileURLToPath(new URL('../../bin/runyard.mjs', import.meta.url));

/** Editors write a file in several steps: changes this near to each other are one. */
const settleMs = 100;
/** A restart should feel immediate. Runs that are cut off continue in the next server, from their journal. */
const restartGraceMs = 500;
const killAfterMs = 5000;

/** Serves the entry and starts it anew whenever a file that it imports, or one with settings, changes. Ends with Ctrl-C only. */
export async function develop(entry: string | undefined, flags: SettingFlags): Promise<void> {
  const path = findEntry(entry);
  const here = realpathSync(process.cwd());
  const settings = new Set([resolve(here, flags.config ?? 'runyard.json'), resolve(here, dotEnvName)]);
  const watch = new FolderWatch((changed) => {
    if (settings.has(changed)) server.restartAfter(changed);
    else server.restartIfLoaded(changed);
  });
  const server = new WatchedServer(path, flags, (imported) => watch.addFile(imported));
  watch.addFolder(dirname(path));
  for (const file of settings) watch.addFile(file);
  stopOnSignals(() => {
    watch.close();
    void server.stop().then(() => process.exit(0));
  });
  server.start();
}

class WatchedServer {
  private child: ChildProcess | undefined;
  private timer: NodeJS.Timeout | undefined;
  private restarting: Promise<void> | undefined;
  private stopped = false;
  /** The port of the first server: a page that is open keeps working after a restart. */
  private port: number | undefined;
  private condition: 'starting' | 'listening' | 'ended' = 'starting';
  private readonly imported = new Set<string>();
  /** Files that changed while the server started: whether it imports them is known when it listens. */
  private readonly undecided = new Set<string>();

  constructor(
    private readonly entry: string,
    private readonly flags: SettingFlags,
    private readonly onImport: (path: string) => void,
  ) {}

  /** For a file that may be one of many in the folder. A server that could not start may lack just this one. */
  restartIfLoaded(path: string): void {
    if (this.condition === 'ended' || this.imported.has(path)) this.restartAfter(path);
    else if (this.condition === 'starting') this.undecided.add(path);
  }

  start(): void {
    const port = this.port === undefined ? this.flags.port : String(this.port);
    const words = [command, 'start', this.entry, ...flagWords({ ...this.flags, port })];
    // A group of its own: Ctrl-C reaches the server through this process, once.
    const child = spawn(process.execPath, words, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    this.condition = 'starting';
    this.imported.clear();
    child.on('message', (message: ListeningNotice | ImportNotice) => {
      if (this.child !== child) return;
      if (message.type === 'imported') {
        this.imported.add(message.path);
        this.onImport(message.path);
      } else {
        this.port = message.port;
        this.decide('listening');
      }
    });
    child.on('exit', (code) => {
      if (this.child !== child) return;
      this.child = undefined;
      if (this.stopped) return;
      console.log(`The server ended${code === 0 ? '' : ' with an error'}. Waiting for a change …`);
      this.decide('ended');
    });
    this.child = child;
  }

  restartAfter(changed: string): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.restart(changed), settleMs);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.restarting;
    await this.end();
  }

  private decide(condition: 'listening' | 'ended'): void {
    this.condition = condition;
    const changed = [...this.undecided];
    this.undecided.clear();
    for (const path of changed) this.restartIfLoaded(path);
  }

  private restart(changed: string): void {
    // A change during a restart may or may not be part of the new server: one more restart settles it.
    const before = this.restarting ?? Promise.resolve();
    const restarting = before.then(async () => {
      if (this.stopped) return;
      console.log(`${relative(process.cwd(), changed)} changed: restarting`);
      await this.end();
      if (!this.stopped) this.start();
    });
    this.restarting = restarting;
    void restarting.then(() => {
      if (this.restarting === restarting) this.restarting = undefined;
    });
  }

  private async end(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    this.condition = 'starting';
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    if (child.connected)
      child.send({ type: 'stop', graceMs: restartGraceMs } satisfies StopRequest, () => {});
    else child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    await ended;
    clearTimeout(kill);
  }
}
