import type { JsonObject } from '../../json.js';
import type { PersonForm } from '../questions/person-form.js';
import { canonicalJson } from './canonical-json.js';

/** Why a call cannot be executed without a person, or not in this process at all. */
export type GateKind = 'confirmation' | 'user_input' | 'user_feedback' | 'external_execution';

/** `required`: a person with the right to approve decides; `audit`: the caller decides, and it is written down. */
export type ApprovalType = 'required' | 'audit';

/**
 * A function of the tool that takes the checked arguments. As a method, so that it may declare the type that the
 * tool's schema gives them.
 */
export type OfArguments<Result> = { method(args: unknown): Result }['method'];

/** The human-in-the-loop flags of a tool. */
export interface ToolGate {
  readonly requiresConfirmation: boolean | OfArguments<boolean | Promise<boolean>>;
  readonly requiresUserInput: boolean;
  /** The arguments that a person fills in; all of them when empty. */
  readonly userInputFields: readonly string[];
  readonly externalExecution: boolean;
  readonly externalExecutionSilent: boolean;
  /** Makes what a person is asked from the arguments; what they answer is the result. */
  readonly askPerson: OfArguments<PersonForm> | undefined;
  readonly approval: ApprovalType | undefined;
  /** How long an approval can be given. */
  readonly approvalTimeoutMs: number | undefined;
}

export const openGate: ToolGate = {
  requiresConfirmation: false,
  requiresUserInput: false,
  userInputFields: [],
  externalExecution: false,
  externalExecutionSilent: false,
  askPerson: undefined,
  approval: undefined,
  approvalTimeoutMs: undefined,
};

/** Whether a person, or another system, may have to act on a call. */
export function isGated(gate: ToolGate): boolean {
  const { requiresConfirmation, requiresUserInput, externalExecution, askPerson, approval } = gate;
  if (requiresConfirmation !== false || approval !== undefined) return true;
  return requiresUserInput || externalExecution || askPerson !== undefined;
}

/** A call that a person has answered, as the server recorded it. */
export interface AnsweredCall {
  readonly callId: string;
  readonly toolName: string;
  /** The arguments that the person was shown. */
  readonly args: JsonObject;
  /** What the person filled in. */
  readonly input?: JsonObject;
}

/**
 * A person's word for exactly one call: its id, its tool and its arguments. It is made from the server's own
 * record of the answer, never from what a request says, and it opens the gate once.
 */
export class Approval {
  readonly #callId: string;
  readonly #toolName: string;
  readonly #args: string;
  readonly #input: JsonObject | undefined;
  #used = false;

  private constructor(answered: AnsweredCall) {
    this.#callId = answered.callId;
    this.#toolName = answered.toolName;
    this.#args = canonicalJson(answered.args);
    this.#input = answered.input;
  }

  static ofRecordedAnswer(answered: AnsweredCall): Approval {
    return new Approval(answered);
  }

  /** What the person filled in, if this approval names the call; undefined for another call, or without input. */
  inputFor(call: GatedCall): JsonObject | undefined {
    return this.#names(call) ? this.#input : undefined;
  }

  /** Whether it opens the gate for this call. It does so once. */
  use(call: GatedCall): boolean {
    if (this.#used || !this.#names(call)) return false;
    this.#used = true;
    return true;
  }

  #names(call: GatedCall): boolean {
    return (
      call.id === this.#callId && call.toolName === this.#toolName && canonicalJson(call.args) === this.#args
    );
  }
}

export interface GatedCall {
  readonly id: string;
  readonly toolName: string;
  /** The arguments as the model gave them. */
  readonly args: JsonObject;
}

let makeClearedCall: (toolName: string, value: unknown) => ClearedCall;

/**
 * A call that has passed its tool's gate. A tool can be executed with nothing else, and nothing but `clearCall`
 * makes one.
 */
export class ClearedCall {
  readonly #toolName: string;
  readonly #value: unknown;

  private constructor(toolName: string, value: unknown) {
    this.#toolName = toolName;
    this.#value = value;
  }

  static {
    makeClearedCall = (toolName, value) => new ClearedCall(toolName, value);
  }

  /** The checked arguments, for the tool that the call was cleared for. */
  argumentsFor(toolName: string): unknown {
    if (toolName !== this.#toolName)
      throw new Error(`This call was cleared for '${this.#toolName}', not for '${toolName}'`);
    return this.#value;
  }
}

/** Lets a call through, or says what it waits for. `value` holds its arguments after they were checked. */
export async function clearCall(
  gate: ToolGate,
  call: GatedCall,
  value: unknown,
  approval: Approval | undefined,
): Promise<ClearedCall | GateKind> {
  const closed = await closedGate(gate, value);
  if (closed !== null && (isAnsweredOutside(gate) || !approval?.use(call))) return closed;
  return makeClearedCall(call.toolName, value);
}

/** Whether the service never executes the tool: the result is the answer of a person or an external system. */
function isAnsweredOutside({ externalExecution, askPerson }: ToolGate): boolean {
  return externalExecution || askPerson !== undefined;
}

/** What stands between a call and its execution; null when nothing does. `value` holds the checked arguments. */
export async function closedGate(gate: ToolGate, value: unknown): Promise<GateKind | null> {
  if (gate.externalExecution) return 'external_execution';
  if (gate.askPerson !== undefined)
    return 'questions' in gate.askPerson(value) ? 'user_feedback' : 'user_input';
  if (gate.requiresUserInput) return 'user_input';
  const { requiresConfirmation } = gate;
  if (typeof requiresConfirmation !== 'function') return requiresConfirmation ? 'confirmation' : null;
  // Anything but a clear "no" closes the gate.
  return (await requiresConfirmation(value)) === false ? null : 'confirmation';
}
