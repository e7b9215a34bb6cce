import type { DestinationStream } from 'pino';
import { escapeControls, escapeUnseen } from './log-escape.js';

const colorOf: Readonly<Record<string, number>> = {
  trace: 90,
  debug: 90,
  info: 32,
  warn: 33,
  error: 31,
  fatal: 31,
};

interface LogLine {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

/** Turns pino's JSON lines into lines for a person: time, level, text, then the fields. */
export function prettyStream(target: { write(text: string): unknown }, colors: boolean): DestinationStream {
  const paint = (text: string, color: number) => (colors ? `\u001B[${color}m${text}\u001B[0m` : text);
  return {
    write(json: string) {
      target.write(`${prettyLine(JSON.parse(json), paint)}\n`);
    },
  };
}

function prettyLine(line: LogLine, paint: (text: string, color: number) => string): string {
  const { level, time, msg, err, error, ...fields } = line;
  const head = `${paint(clockTime(time), 90)} ${paint(level.toUpperCase().padEnd(5), colorOf[level] ?? 0)} ${escapeControls(msg ?? '')}`;
  const tail = Object.entries(fields).map(
    ([name, value]) => `${paint(`${escapeControls(name)}=`, 90)}${showValue(value)}`,
  );
  const stack = [err, error]
    .filter((fault) => fault !== undefined)
    .map((fault) => besideOrBelow(showError(fault)));
  return [head, ...tail].join(' ').trimEnd() + stack.join('');
}

function clockTime(time: string): string {
  const at = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

function showValue(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return escapeControls(value);
  return escapeUnseen(JSON.stringify(value));
}

function showError(fault: unknown): string {
  if (typeof fault !== 'object' || fault === null) return String(fault);
  // as `describeError` wrote it, or an object that takes its place
  const { type, message, stack, cause } = fault as {
    type?: string;
    message?: string;
    stack?: string;
    cause?: unknown;
  };
  const own = stack ?? (message === undefined ? JSON.stringify(fault) : `${type ?? 'Error'}: ${message}`);
  return cause === undefined ? own : `${own}\ncaused by ${showError(cause)}`;
}

/** An error without a stack needs no line of its own. */
function besideOrBelow(text: string): string {
  return text.includes('\n') ? `\n${indent(text)}` : ` ${escapeControls(text)}`;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${escapeControls(line)}`)
    .join('\n');
}
