import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { reasonOf } from '../../core/errors/reason.js';
import { makeFolder } from '../../platform/make-folder.js';
import { version } from '../../platform/version.js';
import { CommandFailure, describeFailure, usageError } from '../failure.js';
import { configure } from '../setting-flags.js';
import { stopOnSignals } from '../signals.js';
import { withoutOutput } from '../without-output.js';
import { type ComparedEval, compareWith, readBaseline } from './baseline.js';
import { type EvalEntry, type EvalReport, exitCodeOf, reportVersion } from './eval-report.js';
import { findEvalFiles } from './find-eval-files.js';
import { junitOf } from './junit.js';
import { type LoadedEval, type LoadedFiles, loadEvals } from './load-evals.js';
import { Progress } from './progress.js';
import { entryOf } from './run-eval.js';
import { harmless, noPaint, oneLine, type Paint, summaryText, terminalPaint } from './summary-text.js';

export interface EvalFlags {
  readonly filter?: string;
  readonly concurrency?: number;
  readonly iterations?: number;
  readonly bail?: boolean;
  readonly json?: string;
  readonly junit?: string;
  readonly baseline?: string;
  readonly failOnRegression?: boolean;
  readonly significance: number;
  readonly list?: boolean;
}

/**
 * Finds and executes evals, as a test runner does. Ends with 0 when all are at or above their thresholds, with 1 when one
 * is below, with 2 when the command or a file is faulty, and with 130 when it was interrupted.
 */
export async function evaluate(named: readonly string[], flags: EvalFlags): Promise<void> {
  process.once('exit', refuseEarlyEnd);
  let code: number;
  try {
    code = await evaluateNow(named, flags);
  } catch (error) {
    throw new CommandFailure(describeFailure(error), usageError);
  } finally {
    process.off('exit', refuseEarlyEnd);
  }
  // agents of an application that no file exports keep the process alive
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(code);
}

/** A file or a tool that ends the process must not make CI believe that everything passed. */
function refuseEarlyEnd(code: number): void {
  if (code !== 0) return;
  process.exitCode = usageError;
  console.error('A file ended the process before all evals were executed: does it call process.exit()?');
}

async function evaluateNow(named: readonly string[], flags: EvalFlags): Promise<number> {
  if (flags.failOnRegression && flags.baseline === undefined)
    throw new CommandFailure('--fail-on-regression needs --baseline.', usageError);
  // before anything costs: a file that cannot be read is no reason to execute evals first
  const baseline = flags.baseline === undefined ? undefined : readBaseline(flags.baseline);
  const files = findEvalFiles(named);
  const loaded = await loadEvals(files);
  const evals = chosen(loaded, flags.filter);
  if (flags.list) return list(evals, loaded);
  const report = await executed(evals, loaded, flags);
  const comparisons = baseline === undefined ? [] : compareWith(baseline, report, flags.significance);
  const paint = paintFor(process.stdout);
  console.log(`\n${summaryText(report, paint)}`);
  if (baseline !== undefined) console.log(`\n${comparisonText(comparisons, paint)}`);
  if (flags.json !== undefined) write(flags.json, `${JSON.stringify(report, null, 2)}\n`);
  if (flags.junit !== undefined) write(flags.junit, junitOf(report));
  const regressions = comparisons.reduce((sum, one) => sum + one.regressions.length, 0);
  return exitCodeOf(report, flags.failOnRegression ? regressions : 0);
}

function chosen({ evals, errors }: LoadedFiles, filter: string | undefined): readonly LoadedEval[] {
  if (filter === undefined) return evals;
  const wanted = filter.toLowerCase();
  const found = evals.filter(({ file, name }) => `${file} ${name}`.toLowerCase().includes(wanted));
  if (found.length > 0 || errors.length > 0) return found;
  const names = evals.map(({ name }) => name).join(', ');
  throw new CommandFailure(`No eval has '${filter}' in its name or file. There are: ${names}.`, usageError);
}

function list(evals: readonly LoadedEval[], { errors }: LoadedFiles): number {
  for (const { file, name } of evals) console.log(harmless(`${file}: ${name}`));
  for (const { file, message } of errors) console.error(harmless(`${file} was not loaded. ${message}`));
  return errors.length > 0 ? usageError : 0;
}

async function executed(
  evals: readonly LoadedEval[],
  { errors, applications }: LoadedFiles,
  flags: EvalFlags,
): Promise<EvalReport> {
  const startedAt = new Date().toISOString();
  const begun = performance.now();
  const progress = new Progress(process.stderr, paintFor(process.stderr));
  const interruption = new AbortController();
  stopOnSignals(() => interruption.abort(new Error('The command was interrupted.')));
  // what an application logs must not become a part of the results
  const logLevel = process.env.RUNYARD_LOG_LEVEL ?? 'warn';
  for (const application of applications) configure(application, { logLevel });
  const entries: EvalEntry[] = [];
  // a run that waits for nothing that can happen would let the process end. Only now: while files are loaded, that end
  // is what shows that a top-level await never settles
  const staysAlive = setInterval(() => {}, 60_000);
  await withoutOutput(async () => {
    for (const loaded of evals) {
      if (interruption.signal.aborted) break;
      const entry = await entryOf(loaded, { ...flags, signal: interruption.signal, progress });
      progress.ended(entry);
      entries.push(entry);
      if (flags.bail && entry.status !== 'passed') break;
    }
    await Promise.all(applications.map((application) => application.close({ graceMs: 0 }).catch(() => {})));
  }).finally(() => clearInterval(staysAlive));
  return {
    version: reportVersion,
    runyard: version,
    startedAt,
    durationMs: Math.round(performance.now() - begun),
    cancelled: interruption.signal.aborted,
    evals: entries,
    loadErrors: errors,
  };
}

function comparisonText(comparisons: readonly ComparedEval[], paint: Paint): string {
  if (comparisons.length === 0) return 'The baseline has none of these evals.';
  return comparisons
    .map(({ name, file, lines, regressions }) => {
      const shown = lines.map((line) => (regressions.includes(line) ? paint.red(`  ${line}`) : `  ${line}`));
      const count =
        regressions.length === 0 ? '' : paint.red(` worse by more than chance: ${regressions.length}`);
      return [
        `${oneLine(name, 100)} ${paint.dim(`(${harmless(file)})`)} against the baseline${count}`,
        ...shown,
      ].join('\n');
    })
    .join('\n\n');
}

function paintFor(stream: { readonly isTTY?: boolean }): Paint {
  return stream.isTTY === true && !process.env.NO_COLOR ? terminalPaint : noPaint;
}

function write(file: string, text: string): void {
  try {
    makeFolder(dirname(file));
    writeFileSync(file, text);
  } catch (error) {
    throw new CommandFailure(`${file} cannot be written: ${reasonOf(error)}.`, usageError);
  }
}
