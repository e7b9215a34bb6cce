import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { isJsonObject } from '../core/json.js';
import type { WaitingRun } from '../replay.js';
import { CommandFailure } from './failure.js';

/** The first line of an export. A file of a version that this code does not know is refused. */
const heading = { runyard_export: 1 };

/** Writes runs to a file, a JSON line for each, and answers with how many there were. */
export async function writeRuns(file: string, runs: AsyncIterable<WaitingRun>): Promise<number> {
  let count = 0;
  // journals hold what people said
  const output = await writing(file, open(file, 'w', 0o600));
  const write = (value: unknown) => writing(file, output.appendFile(`${JSON.stringify(value)}\n`));
  try {
    await write(heading);
    for await (const { database, run, steps } of runs) {
      await write({ database, run: withoutClaims(run), steps });
      count += 1;
    }
  } finally {
    await output.close();
  }
  return count;
}

function writing<T>(file: string, work: Promise<T>): Promise<T> {
  return work.catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailure(`${file} cannot be written (${error.code}).`);
  });
}

/** Reads runs from a file, one at a time. */
export async function* readRuns(file: string): AsyncGenerator<WaitingRun, void, void> {
  const stream = createReadStream(file, 'utf8');
  let number = 0;
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      const value = parsed(line, file, number);
      if (number === 1) checkHeading(value, file);
      else if (value !== undefined) yield value as WaitingRun;
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw code === undefined ? error : new CommandFailure(`${file} cannot be read (${code}).`);
  } finally {
    stream.destroy();
  }
  if (number === 0) throw notAnExport(file);
}

function parsed(line: string, file: string, number: number): unknown {
  if (line.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    const isRun = isJsonObject(value) && isJsonObject(value.run) && Array.isArray(value.steps);
    if (isRun || number === 1) return value;
  } catch {
    // said below
  }
  throw new CommandFailure(`Line ${number} of ${file} is not a run. Export the runs again.`);
}

function checkHeading(value: unknown, file: string): void {
  if (!(isJsonObject(value) && value.runyard_export === heading.runyard_export)) throw notAnExport(file);
}

function notAnExport(file: string): CommandFailure {
  return new CommandFailure(
    `${file} is not an export of runs. Make one with: runyard replay --export ${file}`,
  );
}

/** A replay needs nothing that a token said about a person. */
function withoutClaims(run: WaitingRun['run']): WaitingRun['run'] {
  const { claims: _claims, ...options } = run.input.options;
  return { ...run, input: { ...run.input, options } };
}
