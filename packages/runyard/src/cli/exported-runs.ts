import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { errorCode } from '../core/errors/error-code.js';
import type { WaitingRun } from '../replay.js';
import { CommandFailure } from './failure.js';

/*
 * An export is a text of JSON lines: a heading, a line for each run, and an end that says how many there are and
 * what they come to. So a file that was cut off or damaged on its way is never taken for fewer runs that all fit.
 */
const heading = z.object({ runyard_export: z.literal(1) });
const ending = z.object({ runyard_export_end: z.object({ runs: z.number(), sha256: z.string() }) });

/** What a comparison relies on. Everything else is passed on as it is. */
const runLine = z.looseObject({
  database: z.string(),
  run: z.looseObject({
    runId: z.string(),
    sessionId: z.string(),
    kind: z.enum(['agent', 'team', 'workflow']),
    componentId: z.string(),
    status: z.enum(['pending', 'running', 'paused']),
    attempt: z.int(),
    nextEventIndex: z.int(),
    input: z.looseObject({
      content: z.string(),
      media: z.array(z.looseObject({})),
      options: z.looseObject({}),
    }),
  }),
  steps: z.array(
    z.looseObject({
      seq: z.int(),
      key: z.string(),
      kind: z.string(),
      name: z.string(),
      parentKey: z.string().nullable(),
      status: z.enum(['running', 'completed', 'error']),
      attempt: z.int(),
      startedAt: z.number(),
    }),
  ),
});

/** Writes runs to a file, a JSON line for each, and answers with how many there were. */
export async function writeRuns(file: string, runs: AsyncIterable<WaitingRun>): Promise<number> {
  const output = await writing(file, open(file, 'w', 0o600));
  const hash = createHash('sha256');
  const write = (value: unknown) => {
    const line = `${JSON.stringify(value)}\n`;
    hash.update(line);
    return writing(file, output.appendFile(line));
  };
  let count = 0;
  try {
    // journals hold what people said, and the file may have been there before with other rights
    if ((await output.stat()).isFile()) await writing(file, output.chmod(0o600));
    await write({ runyard_export: 1 });
    for await (const { database, run, steps } of runs) {
      await write({ database, run: withoutClaims(run), steps });
      count += 1;
    }
    await write({ runyard_export_end: { runs: count, sha256: hash.copy().digest('hex') } });
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
  const hash = createHash('sha256');
  let number = 0;
  let ended = false;
  for await (const line of linesOf(file)) {
    number += 1;
    const value = parsed(line);
    if (number === 1) {
      if (!heading.safeParse(value).success) throw notAnExport(file);
    } else if (ended) {
      throw damaged(file, `line ${number} comes after its end`);
    } else if (ending.safeParse(value).success) {
      const { runs, sha256 } = ending.parse(value).runyard_export_end;
      if (runs !== number - 2 || sha256 !== hash.copy().digest('hex'))
        throw damaged(file, 'its end does not belong to its runs');
      ended = true;
    } else yield readRun(value, file, number);
    hash.update(`${line}\n`);
  }
  if (number === 0) throw notAnExport(file);
  if (!ended) throw damaged(file, 'its end is missing');
}

async function* linesOf(file: string): AsyncGenerator<string, void, void> {
  const stream = createReadStream(file, 'utf8');
  try {
    yield* createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read (${errorCode(error)}).`);
  } finally {
    stream.destroy();
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function readRun(value: unknown, file: string, number: number): WaitingRun {
  const { success, error } = runLine.safeParse(value);
  // `runLine` describes what `runs export` writes
  if (success) return value as WaitingRun;
  const path = value === undefined ? undefined : error.issues[0]?.path.join('.');
  throw damaged(file, `line ${number} is not a run${path ? ` (${path})` : ''}`);
}

function notAnExport(file: string): CommandFailure {
  return new CommandFailure(
    `${file} is not an export of runs. Create one with: runyard replay --export ${file}`,
  );
}

function damaged(file: string, what: string): CommandFailure {
  return new CommandFailure(`${file} is damaged: ${what}. Export the runs again.`);
}

/** A replay needs nothing that a token said about a person. */
function withoutClaims(run: WaitingRun['run']): WaitingRun['run'] {
  const { claims: _claims, ...options } = run.input.options;
  return { ...run, input: { ...run.input, options } };
}
