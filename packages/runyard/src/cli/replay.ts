import type { ReplayedRun } from '../replay.js';
import type { Application } from './application.js';
import { readRuns, writeRuns } from './exported-runs.js';
import { CommandFailure } from './failure.js';
import { findEntry, loadEntry } from './load-entry.js';
import { configure, type SettingFlags } from './setting-flags.js';
import { withoutOutput } from './without-output.js';

export interface ReplayFlags extends SettingFlags {
  readonly file?: string;
  readonly export?: string;
  readonly json?: boolean;
}

/** Takes the runs that have not ended through the code at hand, and says which of them no longer fit. */
export async function replay(entry: string | undefined, flags: ReplayFlags): Promise<void> {
  if (flags.file !== undefined && flags.export !== undefined)
    throw new CommandFailure('Give --export to write runs to a file, or --file to compare those of one.');
  const application = await withoutOutput(() => loadEntry(findEntry(entry)));
  // standard output is the report's
  configure(application, { ...flags, logLevel: flags.logLevel ?? 'silent' });
  try {
    if (flags.export !== undefined) await exportRuns(application, flags.export);
    else await report(application, flags);
  } finally {
    await withoutOutput(() => application.close({ graceMs: 0 }));
  }
}

async function exportRuns(application: Application, file: string): Promise<void> {
  const count = await writeRuns(file, application.waitingRuns());
  console.log(
    `${count} ${count === 1 ? 'run' : 'runs'} written to ${file}. It holds what people said: keep it safe.`,
  );
}

async function report(application: Application, { file, json = false }: ReplayFlags): Promise<void> {
  const runs = application.replay(file === undefined ? {} : { runs: readRuns(file) });
  const printer = json ? new JsonReport() : new TextReport();
  for await (const run of runs) printer.add(run);
  printer.end();
  if (printer.unfit > 0) process.exitCode = 1;
}

abstract class Report {
  unfit = 0;
  protected checked = 0;
  /** What could not be compared, and in how many runs. */
  protected readonly leftOut = new Map<string, number>();

  add(run: ReplayedRun): void {
    this.checked += 1;
    for (const what of run.left_out) this.leftOut.set(what, (this.leftOut.get(what) ?? 0) + 1);
    if (run.fits) return;
    this.show(run);
    this.unfit += 1;
  }

  abstract end(): void;
  protected abstract show(run: ReplayedRun): void;
}

class TextReport extends Report {
  protected show({ database, run_id, status, reason }: ReplayedRun): void {
    console.log(`${database}: run ${run_id} (${status}) does not fit. ${reason}`);
  }

  end(): void {
    for (const [what, count] of this.leftOut) console.log(`Not compared: ${what} (${runsInWords(count)}).`);
    const fits = this.checked - this.unfit;
    console.log(`${runsInWords(this.checked)} compared: ${fits} fit, ${this.unfit} do not.`);
  }
}

/** One JSON document, written as it grows. */
class JsonReport extends Report {
  protected show(run: ReplayedRun): void {
    process.stdout.write(`${this.unfit === 0 ? '{"unfit":[\n' : ',\n'}${JSON.stringify(run)}`);
  }

  end(): void {
    const { checked, unfit } = this;
    const left_out = Object.fromEntries(this.leftOut);
    const facts = JSON.stringify({ checked, fits: checked - unfit, left_out }).slice(1);
    process.stdout.write(`${unfit === 0 ? '{"unfit":[' : '\n'}],${facts}\n`);
  }
}

function runsInWords(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`;
}
