import { errors, type RunyardError } from '../errors/errors.js';
import type { ToolGate } from './call/gate.js';

/** The part of a tool's options that can be wrong in combination. */
interface CheckedOptions {
  readonly name: string;
  readonly execute?: unknown;
  readonly outputSchema?: unknown;
  readonly readOnly?: boolean;
  readonly sideEffects?: boolean;
  readonly cacheResults?: unknown;
  readonly requiresConfirmation?: ToolGate['requiresConfirmation'];
  readonly requiresUserInput?: boolean;
  readonly userInputFields?: readonly string[];
  readonly externalExecution?: boolean;
  readonly askPerson?: unknown;
  readonly approval?: ToolGate['approval'];
  readonly approvalTimeoutMs?: number;
}

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

/** Rejects what models, the journal or common sense could not handle, with a hint on what to change. */
export function checkToolOptions(options: CheckedOptions): void {
  const { name } = options;
  if (!toolName.test(name)) {
    throw errors.invalidConfig(
      `Tool name '${name}' must have 1 to 64 letters, digits, _ or -: models accept no others.`,
    );
  }
  if (options.readOnly && options.sideEffects)
    throw refusal(name, 'is marked readOnly and sideEffects. It can be only one of them.');
  checkGate(options);
}

function checkGate(options: CheckedOptions): void {
  const { name, approval, askPerson, externalExecution, requiresConfirmation, requiresUserInput } = options;
  const gates = [requiresConfirmation, requiresUserInput, externalExecution, askPerson].filter(
    Boolean,
  ).length;
  if (gates > 1) {
    throw refusal(
      name,
      'waits for more than one thing. Set one of requiresConfirmation, requiresUserInput, externalExecution and askPerson.',
    );
  }
  if (approval === 'audit' && gates === 0) {
    throw refusal(
      name,
      "has approval: 'audit', but nothing to decide on. Add requiresConfirmation, requiresUserInput or externalExecution.",
    );
  }
  if (!externalExecution && !askPerson && typeof options.execute !== 'function')
    throw refusal(
      name,
      'has no execute function. Only a tool with externalExecution or askPerson may omit it.',
    );
  if (options.outputSchema && !options.execute)
    throw refusal(
      name,
      'has outputSchema without an execute function. Only what execute returns is checked: remove outputSchema.',
    );
  if (askPerson && options.execute)
    throw refusal(
      name,
      'has askPerson and an execute function. The answer of the person is the result: remove one.',
    );
  if (options.userInputFields?.length && !requiresUserInput)
    throw refusal(name, 'has userInputFields without requiresUserInput: true.');
  if (options.cacheResults && (options.sideEffects || approval || gates > 0))
    throw refusal(name, 'has cacheResults, but each of its calls must be executed. Remove cacheResults.');
  checkApproval(options);
}

function checkApproval({ name, approval, approvalTimeoutMs, askPerson }: CheckedOptions): void {
  if (approval && askPerson)
    throw refusal(
      name,
      'has askPerson and approval. The answer of the person is the decision: remove approval.',
    );
  if (approvalTimeoutMs !== undefined && approval !== 'required')
    throw refusal(name, "has approvalTimeoutMs without approval: 'required'.");
}

function refusal(name: string, what: string): RunyardError {
  return errors.invalidConfig(`Tool '${name}' ${what}`);
}
