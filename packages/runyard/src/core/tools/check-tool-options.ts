import { errors, type RunyardError } from '../errors.js';
import type { ToolGate } from './gate.js';
import { isZodSchema, type ToolParameters } from './tool-parameters.js';

/** The part of a tool's options that can be wrong in combination. */
interface CheckedOptions {
  readonly name: string;
  readonly parameters?: ToolParameters;
  readonly execute?: unknown;
  readonly readOnly?: boolean;
  readonly sideEffects?: boolean;
  readonly cacheResults?: unknown;
  readonly retries?: number;
  readonly timeoutMs?: number;
  readonly requiresConfirmation?: ToolGate['requiresConfirmation'];
  readonly requiresUserInput?: boolean;
  readonly userInputFields?: readonly string[];
  readonly externalExecution?: boolean;
  readonly approval?: ToolGate['approval'];
}

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

/** Refuses, with a word on what to change, what models, the journal or common sense could not handle. */
export function checkToolOptions(options: CheckedOptions): void {
  const { name, parameters, retries = 0, timeoutMs = 1 } = options;
  if (!toolName.test(name)) {
    throw errors.invalidConfig(
      `Tool name '${name}' must have 1 to 64 letters, digits, _ or -: models accept no others.`,
    );
  }
  if (parameters !== undefined && '_def' in parameters && !isZodSchema(parameters))
    throw refusal(name, 'has parameters that are a zod 3 schema. Make them with zod 4.');
  if (options.readOnly && options.sideEffects)
    throw refusal(name, 'is marked readOnly and sideEffects. It can be only one of them.');
  if (!Number.isInteger(retries) || retries < 0)
    throw refusal(name, `has retries: ${retries}. Give a whole number, 0 or more.`);
  if (!(timeoutMs > 0))
    throw refusal(name, `has timeoutMs: ${timeoutMs}. Give a number of milliseconds above 0.`);
  checkGate(options);
}

function checkGate(options: CheckedOptions): void {
  const { name, approval, externalExecution, requiresConfirmation, requiresUserInput } = options;
  const gates = Number(!!requiresConfirmation) + Number(!!requiresUserInput) + Number(!!externalExecution);
  if (gates > 1) {
    throw refusal(
      name,
      'waits for more than one thing. Set one of requiresConfirmation, requiresUserInput and externalExecution.',
    );
  }
  if (approval === 'audit' && gates === 0) {
    throw refusal(
      name,
      "has approval: 'audit', but nothing to decide on. Add requiresConfirmation, requiresUserInput or externalExecution.",
    );
  }
  if (!externalExecution && typeof options.execute !== 'function')
    throw refusal(name, 'has no execute function. Only a tool with externalExecution goes without.');
  if (options.userInputFields?.length && !requiresUserInput)
    throw refusal(name, 'has userInputFields without requiresUserInput: true.');
  if (options.cacheResults && (options.sideEffects || approval || gates > 0))
    throw refusal(name, 'has cacheResults, but each of its calls has to happen. Remove cacheResults.');
}

function refusal(name: string, what: string): RunyardError {
  return errors.invalidConfig(`Tool '${name}' ${what}`);
}
