import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, onTestFinished } from 'vitest';

export const serverScript = fileURLToPath(new URL('./mcp-server.mjs', import.meta.url));

export interface McpProcess {
  readonly port: number;
  readonly url: string;
  /** As a crash would: no goodbye. */
  kill(): Promise<void>;
}

type Mode = 'http' | 'sessions';

/** An MCP server over HTTP in a process of its own, gone when the test is over. */
export async function startMcpServer(mode: Mode, port = 0): Promise<McpProcess> {
  const child = spawnServer(mode, port);
  onTestFinished(() => kill(child));
  return listening(child);
}

/** The same for all tests of the file or block that requests it: started at first use. */
export function sharedMcpServer(mode: Mode): () => Promise<McpProcess> {
  let started: { readonly child: ChildProcess; readonly server: Promise<McpProcess> } | undefined;
  afterAll(() => started && kill(started.child));
  return () => {
    if (started === undefined) {
      const child = spawnServer(mode, 0);
      started = { child, server: listening(child) };
    }
    return started.server;
  };
}

function spawnServer(mode: Mode, port: number): ChildProcess {
  return spawn(process.execPath, [serverScript, mode, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function listening(child: ChildProcess): Promise<McpProcess> {
  for await (const line of createInterface(child.stdout!)) {
    const found = /^listening on (\d+)$/.exec(line)?.[1];
    if (found !== undefined) {
      return { port: Number(found), url: `http://127.0.0.1:${found}/mcp`, kill: () => kill(child) };
    }
  }
  throw new Error('The MCP server ended before it listened');
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
