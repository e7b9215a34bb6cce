import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { freshSqlite } from '../support/databases.js';

const program = fileURLToPath(new URL('./job-process.mjs', import.meta.url));

/** What a process says until it ends, or is killed at a line. */
async function linesOf(args: readonly string[], killedAt?: string): Promise<string[]> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (killedAt !== undefined && line.startsWith(killedAt)) child.kill('SIGKILL');
  }
  return lines;
}

it('a job of a killed process continues in the next one after its last finished step', async () => {
  const { url } = await freshSqlite();
  expect(await linesOf([url, 'first'], 'step 2')).toEqual([
    'step 1 in 1 as the-job:add:1',
    'step 2 in 1 as the-job:add:2',
  ]);
  expect(await linesOf([url])).toEqual([
    'step 2 in 2 as the-job:add:2',
    'step 3 in 2 as the-job:add:3',
    'completed 6',
  ]);
});
