import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { RunStore } from '../../src/capabilities/runs/storage/store.js';
import { freshSqlite } from '../support/databases.js';

const program = fileURLToPath(new URL('./writing-process.mjs', import.meta.url));

for (const durability of ['full', 'process']) {
  it(`loses no acknowledged run when the process is killed (durability ${durability})`, async () => {
    const place = await freshSqlite();
    const child = spawn(process.execPath, [program, place.url, durability], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const acknowledged: string[] = [];
    for await (const runId of createInterface(child.stdout)) {
      acknowledged.push(runId);
      if (acknowledged.length === 200) child.kill('SIGKILL');
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(200);
    const runs = new RunStore(await place.open());
    for (const runId of acknowledged) {
      const stored = await runs.load(runId);
      expect(stored?.run.status).toBe('completed');
      expect(stored?.steps.map(({ seq }) => seq)).toEqual([0, 1]);
      expect(await runs.eventBlocks(runId, 0, 10)).toHaveLength(1);
    }
  });
}
