import type { ReplayedRun } from '../replay.js';
import type { Application } from './application.js';
import { readRuns, writeRuns } from './exported-runs.js';
import { CommandFailure, describeFailure, notCompared } from './failure.js';
import { findEntry, loadEntry } from './load-entry.js';
import { configure, type SettingFlags } from './setting-flags.js';
import { withoutOutput } from './without-output.js';

export interface ReplayFlags extends SettingFlags {
  readonly file?: string;
  readonly export?: string;
  readonly json?: boolean;
}

/** How often a comparison that takes long says how far it is. */
const progressMs = 10_000;
/** So many runs that could not be compared are listed; the others are counted. */
const listed = 1_000;

/**
 * Takes the runs that have not ended through the code at hand, and says which of them no longer fit. Ends with 1 when
 * there are such, and with 2 when it could not compare.
 */
export async function replay(entry: string | undefined, flags: ReplayFlags): Promise<void> {
  try {
    await replayNow(entry, flags);
  } catch (error) {
    throw new CommandFailure(describeFailure(error), notCompared);
  }
}

async function replayNow(entry: string | undefined, flags: ReplayFlags): Promise<void> {
  if (flags.file !== undefined && flags.export !== undefined)
    throw new CommandFailure(
      'Use either --export to write runs to a file or --file to compare the runs in a file.',
    );
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
    `${count} ${count === 1 ? 'run' : 'runs'} written to ${file}. It contains messages of users: keep it safe.`,
  );
}

async function report(application: Application, { file, json = false }: ReplayFlags): Promise<void> {
  const runs = application.replay(file === undefined ? {} : { runs: readRuns(file) });
  const printer = json ? new JsonReport() : new TextReport();
  let reportedAt = performance.now();
  for await (const run of runs) {
    printer.add(run);
    if (performance.now() - reportedAt < progressMs) continue;
    reportedAt = performance.now();
    console.error(`${runsInWords(printer.checked)} compared so far.`);
  }
  printer.end();
  if (printer.unfit > 0) process.exitCode = 1;
  else if (printer.unknown > 0) process.exitCode = notCompared;
}

abstract class Report {
  checked = 0;
  unfit = 0;
  /** Those that could not be compared. */
  unknown = 0;
  /** What could not be compared, and in how many runs. */
  protected readonly leftOut = new Map<string, number>();

  add(run: ReplayedRun): void {
    this.checked += 1;
    for (const what of run.left_out) this.leftOut.set(what, (this.leftOut.get(what) ?? 0) + 1);
    if (run.fits === null) {
      this.showUnknown(run);
      this.unknown += 1;
    } else if (!run.fits) {
      this.showUnfit(run);
      this.unfit += 1;
    }
  }

  abstract end(): void;
  protected abstract showUnfit(run: ReplayedRun): void;
  protected abstract showUnknown(run: ReplayedRun): void;

  protected get fits(): number {
    return this.checked - this.unfit - this.unknown;
  }
}

class TextReport extends Report {
  protected showUnfit({ database, run_id, status, reason }: ReplayedRun): void {
    console.log(`${database}: run ${run_id} (${status}) does not fit. ${reason}`);
  }

  protected showUnknown({ database, run_id, status, reason }: ReplayedRun): void {
    if (this.unknown < listed)
      console.log(`${database}: run ${run_id} (${status}) could not be compared. ${reason}`);
  }

  end(): void {
    for (const [what, count] of this.leftOut) console.log(`Not compared: ${what} (${runsInWords(count)}).`);
    const compared = this.checked - this.unknown;
    if (this.unknown > 0) console.log(`${runsInWords(this.unknown)} could not be compared.`);
    console.log(`${runsInWords(compared)} compared: ${this.fits} fit, ${this.unfit} do not.`);
  }
}

/** One JSON document, written as it grows. */
class JsonReport extends Report {
  private readonly unknownRuns: ReplayedRun[] = [];

  protected showUnfit(run: ReplayedRun): void {
    process.stdout.write(`${this.unfit === 0 ? '{"unfit":[\n' : ',\n'}${JSON.stringify(run)}`);
  }

  protected showUnknown(run: ReplayedRun): void {
    if (this.unknown < listed) this.unknownRuns.push(run);
  }

  end(): void {
    const { checked, unfit, fits, unknown, unknownRuns } = this;
    const left_out = Object.fromEntries(this.leftOut);
    const facts = JSON.stringify({ checked, fits, unknown, unknown_runs: unknownRuns, left_out }).slice(1);
    process.stdout.write(`${unfit === 0 ? '{"unfit":[' : '\n'}],${facts}\n`);
  }
}

function runsInWords(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`;
}
