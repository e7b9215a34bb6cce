import { appendFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The folder through which a test holds and releases the service, and counts what it did. */
export const folder = process.env.CHAOS_FOLDER ?? '.';

const file = (name: string) => join(folder, name);

/**
 * Something that leaves a trace when it begins and ends when the test lets it: `hold-<name>` holds it until there is
 * `release-<name>`, `die-<name>` kills the process right after the trace, once.
 */
export async function work(name: string, idempotencyKey: string, signal: AbortSignal): Promise<void> {
  appendFileSync(file('effects'), `${name}\t${idempotencyKey}\t${process.pid}\n`);
  if (existsSync(file(`die-${name}`))) {
    rmSync(file(`die-${name}`));
    process.kill(process.pid, 'SIGKILL');
  }
  while (existsSync(file(`hold-${name}`)) && !existsSync(file(`release-${name}`))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    signal.throwIfAborted();
  }
}
