import { nearestName } from '../nearest-name.js';
import type { Kind } from './kind.js';

/** Adds what is wrong with a value. */
export function check(of: Kind, value: unknown, path: string, faults: string[]): void {
  if (of.takes(value)) of.inside?.(value, path, faults);
  else faults.push(`${path} is ${of.secret ? typeInWords(value) : shown(value)}. Give ${of.allowed}.`);
}

/** Whether nothing is wrong with a value. Most have no fault, and then no one reads where it would have been. */
export function fits(of: Kind, value: unknown): boolean {
  if (!of.takes(value)) return false;
  if (of.inside === undefined) return true;
  const faults: string[] = [];
  of.inside(value, '', faults);
  return faults.length === 0;
}

/** Names that options had before, and their names now. */
export type RenamedOptions = Readonly<Record<string, string>>;

/** What users of other frameworks write, and what Runyard calls it where it has that option. */
const namesElsewhere: ReadonlyMap<string, string> = new Map([
  ['system', 'instructions'],
  ['systemPrompt', 'instructions'],
  ['systemMessage', 'instructions'],
  ['maxSteps', 'limits'],
  ['maxTurns', 'limits'],
  ['stopWhen', 'limits'],
  ['output', 'outputSchema'],
  ['experimental_output', 'outputSchema'],
  ['structuredOutput', 'outputSchema'],
  ['responseModel', 'outputSchema'],
  ['response_model', 'outputSchema'],
  ['parameters', 'inputSchema'],
  ['db', 'database'],
  ['storage', 'database'],
  ['enableUserMemories', 'updateMemoryOnRun'],
  ['enable_user_memories', 'updateMemoryOnRun'],
  ['prepareStep', 'modelHooks'],
  ['inputProcessors', 'preHooks'],
  ['inputGuardrails', 'preHooks'],
  ['outputProcessors', 'postHooks'],
  ['outputGuardrails', 'postHooks'],
  ['handler', 'execute'],
  ['needsApproval', 'requiresConfirmation'],
  ['requireApproval', 'requiresConfirmation'],
  ['subAgents', 'members'],
  ['handoffs', 'members'],
]);

export function unknownOption(
  path: string,
  name: string,
  known: readonly string[],
  renamed: RenamedOptions,
): string {
  if (Object.hasOwn(renamed, name)) return `${path} was renamed to ${renamed[name]}.`;
  const ours = namesElsewhere.get(name);
  if (ours !== undefined && known.includes(ours))
    return `${path} is not an option. Runyard calls it ${ours}.`;
  const near = nearestName(name, known);
  if (near !== undefined) return `${path} is not an option. Did you mean ${near}?`;
  return `${path} is not an option.${known.length > fewOptions ? '' : ` The options are ${known.join(', ')}.`}`;
}

const fewOptions = 12;

export function within(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** Not a list, a map, a date or a promise: reading options from one of those would find none. */
export function isObject(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Object]';
}

export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export function inWords(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} or ${parts.at(-1)}`;
}

const longestShown = 100;

export function shown(value: unknown): string {
  if (typeof value === 'string')
    return value.length > longestShown ? `'${value.slice(0, longestShown)}…'` : `'${value}'`;
  const isPlain = typeof value === 'number' || typeof value === 'boolean' || value == null;
  return isPlain ? String(value) : typeInWords(value);
}

function typeInWords(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const type = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return type === 'Object' ? 'an object' : `a value of the type ${type}`;
}
