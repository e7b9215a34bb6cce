import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const serverScript = fileURLToPath(new URL('./mcp-server.mjs', import.meta.url));

export interface McpProcess {
  readonly port: number;
  readonly url: string;
  /** As a crash would: no goodbye. */
  kill(): Promise<void>;
}

/** An MCP server over HTTP in a process of its own, gone when the test is over. */
export async function startMcpServer(
  mode: 'http' | 'sessions',
  port = 0,
  ...flags: string[]
): Promise<McpProcess> {
  const child = spawn(process.execPath, [serverScript, mode, String(port), ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => kill(child));
  for await (const line of createInterface(child.stdout)) {
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
