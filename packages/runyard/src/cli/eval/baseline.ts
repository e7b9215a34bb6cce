import { readFileSync } from 'node:fs';
import { fileFault } from '../../core/errors/file-fault.js';
import { compareEvals } from '../../core/evals/comparison/compare-evals.js';
import { fieldsOf } from '../../core/objects.js';
import { CommandFailure, usageError } from '../failure.js';
import { type EvalEntry, type EvalReport, numberText, reportVersion } from './eval-report.js';
import { oneLine } from './summary-text.js';

/** How an eval differs from the same eval of an earlier command. */
export interface ComparedEval {
  readonly file: string;
  readonly name: string;
  /** One line for each scorer and each case that changed, for people. */
  readonly lines: readonly string[];
  /** What got worse by more than chance. */
  readonly regressions: readonly string[];
}

/** Of a case or a scorer, in a line. */
const longestName = 300;

/** Reads what `--json` wrote. */
export function readBaseline(file: string): EvalReport {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandFailure(`The baseline ${file} cannot be read: ${fileFault(error)}.`, usageError);
  }
  if (!isReport(content))
    throw new CommandFailure(
      `The baseline ${file} is not a report that runyard eval --json wrote with version ${reportVersion}.`,
      usageError,
    );
  return content;
}

/** Compares evals with the same file and name. An eval that only one report has is no regression. */
export function compareWith(baseline: EvalReport, report: EvalReport, level: number): ComparedEval[] {
  const earlier = new Map(baseline.evals.map((entry) => [keyOf(entry), entry]));
  return report.evals.flatMap((entry) => {
    const before = earlier.get(keyOf(entry));
    return before === undefined || entry.cases.length === 0 ? [] : [compared(before, entry, level)];
  });
}

function compared(before: EvalEntry, after: EvalEntry, level: number): ComparedEval {
  const lowerIsBetter = after.scorers.filter((one) => one.lowerIsBetter).map(({ name }) => name);
  const { scorers, cases } = compareEvals(before.cases, after.cases, { level, lowerIsBetter });
  const lines: string[] = [];
  const regressions: string[] = [];
  for (const {
    name,
    lowerIsBetter: lower,
    before: old,
    after: now,
    difference,
    pValue,
    significant,
  } of scorers) {
    if (old.mean === null || now.mean === null) continue;
    const change = difference?.mean ?? now.mean - old.mean;
    const chance = significant ? `p = ${pText(pValue)}` : 'within chance';
    const line = `${oneLine(name, longestName)}: ${numberText(old.mean)} → ${numberText(now.mean)} (${change === 0 ? 'same' : chance})`;
    lines.push(line);
    if (significant && (lower ? change > 0 : change < 0)) regressions.push(line);
  }
  for (const { caseId, scorer, change, before: old, after: now, significant } of cases) {
    if (change !== 'better' && change !== 'worse') continue;
    const means =
      old.mean === null || now.mean === null ? '' : `: ${numberText(old.mean)} → ${numberText(now.mean)}`;
    const line = `${oneLine(caseId, longestName)}, ${oneLine(scorer, longestName)}: ${change}${means}${significant ? '' : ' (within chance)'}`;
    lines.push(line);
    if (significant && change === 'worse') regressions.push(line);
  }
  return { file: after.file, name: after.name, lines, regressions };
}

function pText(pValue: number | null): string {
  return pValue === null ? '?' : pValue < 0.001 ? '< 0.001' : pValue.toFixed(3);
}

function keyOf({ file, name }: Pick<EvalEntry, 'file' | 'name'>): string {
  return `${file}\n${name}`;
}

function isReport(value: unknown): value is EvalReport {
  const { version, evals } = fieldsOf(value);
  return version === reportVersion && Array.isArray(evals) && evals.every(isEntry);
}

/** What a comparison reads. */
function isEntry(value: unknown): value is EvalEntry {
  const { file, name, cases } = fieldsOf(value);
  if (typeof file !== 'string' || typeof name !== 'string' || !Array.isArray(cases)) return false;
  return cases.every((one) => {
    const { caseId, status, scores } = fieldsOf(one);
    if (typeof caseId !== 'string' || typeof status !== 'string' || !isObject(scores)) return false;
    return Object.values(scores).every(isObject);
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
