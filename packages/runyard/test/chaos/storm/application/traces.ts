import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';

/** Where the service keeps its data, and what is left of what it did when it dies. */
export const folder = process.env.CHAOS_FOLDER ?? '.';

/** Who did something: the call of a tool, or a step that is a function. */
export interface Doer {
  readonly name: string;
  readonly runId: string;
  /** The id of the call, or `step` and which request it was. */
  readonly call: string;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Takes some time, and leaves a trace when it begins and when it has done what cannot be undone. */
export async function leaveTraces(doer: Doer): Promise<void> {
  write('begin', doer);
  await aWhile(40, doer.signal);
  write('effect', doer);
  await aWhile(20, doer.signal);
}

/** How often this was tried, in whichever process. */
export function tries(key: string): number {
  const file = join(folder, `tries-${encodeURIComponent(key)}`);
  appendFileSync(file, '.');
  return statSync(file).size;
}

export async function aWhile(mostMs: number, signal: AbortSignal): Promise<void> {
  await after(Math.random() * mostMs, undefined, { signal });
}

function write(phase: 'begin' | 'effect', { name, runId, call, idempotencyKey }: Doer): void {
  const line = { phase, tool: name, run: runId, call, key: idempotencyKey, pid: process.pid };
  appendFileSync(join(folder, 'effects'), `${JSON.stringify(line)}\n`);
}
