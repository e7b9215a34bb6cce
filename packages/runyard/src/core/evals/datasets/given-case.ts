import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { nearestName } from '../../nearest-name.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import type { EvalCase, ExpectedToolCall } from '../eval-case.js';

/** The bounds of a dataset. */
export const datasetBounds = {
  cases: 10_000,
  /** Of a file, and of all cases of a stored dataset together. */
  bytes: 32 * 1024 * 1024,
  /** Of one case as JSON. */
  caseCharacters: 1_000_000,
  expectedToolCalls: 100,
  idCharacters: 255,
} as const;

/** A case as an application gives it. */
export interface GivenCase {
  /** Default: made from the input, so that the same input has the same id in every version of the dataset. */
  readonly id?: string;
  /** The message for the component; an object where it has an input schema. */
  readonly input: string | JsonObject;
  /** Of a component with an output schema: the value. */
  readonly expectedOutput?: Json;
  /** The names of tools, or names with a part of the arguments. */
  readonly expectedToolCalls?: readonly (string | ExpectedToolCall)[];
  readonly metadata?: JsonObject;
  readonly sessionState?: JsonObject;
  readonly dependencies?: JsonObject;
}

/** A case whose id may still have to be made. */
export type UnnamedCase = Omit<EvalCase, 'id'> & { readonly id?: string };

/** What is wrong with a case. The message begins with the field. */
export class CaseFault extends Error {
  constructor(
    readonly field: CaseField | undefined,
    readonly fault: string,
  ) {
    super(field === undefined ? fault : `${field}: ${fault}`);
    this.name = 'CaseFault';
  }
}

/** The fields of a case in files and on the wire. */
const caseFields = [
  'id',
  'input',
  'expected_output',
  'expected_tool_calls',
  'metadata',
  'session_state',
  'dependencies',
] as const;

export type CaseField = (typeof caseFields)[number];

/** The fields that hold JSON where a file can hold only texts. */
export const jsonCaseFields: readonly CaseField[] = [
  'expected_tool_calls',
  'metadata',
  'session_state',
  'dependencies',
];

export function isCaseField(name: string): name is CaseField {
  return caseFields.some((field) => field === name);
}

/** Says what a field that does not exist may have meant: a misspelt one would silently expect nothing. */
export function unknownField(name: string): CaseFault {
  const near = nearestName(name, caseFields);
  const hint = near === undefined ? `The fields are ${caseFields.join(', ')}` : `Did you mean ${near}?`;
  return new CaseFault(
    undefined,
    `'${name}' is not a field of a case. ${hint}${near === undefined ? '; anything else belongs in metadata.' : ''}`,
  );
}

/** Reads a case in the words of files and of the wire. What is null counts as not given. Throws a `CaseFault`. */
export function caseFromFields(fields: JsonObject): UnnamedCase {
  const unknown = Object.keys(fields).find((name) => !isCaseField(name));
  if (unknown !== undefined) throw unknownField(unknown);
  const { id, input, expected_output: output, expected_tool_calls: calls } = fields;
  const read = {
    input: inputOf(input),
    ...(isGiven(id) && { id: idOf(id) }),
    ...(isGiven(output) && { expectedOutput: typeof output === 'string' ? output : JSON.stringify(output) }),
    ...(isGiven(calls) && { expectedToolCalls: callsOf(calls) }),
    ...(isGiven(fields.metadata) && { metadata: objectIn(fields, 'metadata') }),
    ...(isGiven(fields.session_state) && { sessionState: objectIn(fields, 'session_state') }),
    ...(isGiven(fields.dependencies) && { dependencies: objectIn(fields, 'dependencies') }),
  };
  const { length } = JSON.stringify(read);
  if (length > datasetBounds.caseCharacters)
    throw new CaseFault(
      undefined,
      `the case has ${length} characters; the limit is ${datasetBounds.caseCharacters}.`,
    );
  return read;
}

/** A case in the words of files and of the wire, without what it does not have. */
export function fieldsOfCase(one: EvalCase): JsonObject {
  return {
    id: one.id,
    input: one.input,
    ...(one.expectedOutput !== undefined && { expected_output: one.expectedOutput }),
    ...(one.expectedToolCalls !== undefined && { expected_tool_calls: callFields(one.expectedToolCalls) }),
    ...(one.metadata !== undefined && { metadata: one.metadata }),
    ...(one.sessionState !== undefined && { session_state: one.sessionState }),
    ...(one.dependencies !== undefined && { dependencies: one.dependencies }),
  };
}

function callFields(calls: readonly ExpectedToolCall[]): JsonObject[] {
  return calls.map(({ name, arguments: expected }) => ({
    name,
    ...(expected !== undefined && { arguments: expected }),
  }));
}

function isGiven(value: Json | undefined): value is NonNullable<Json> {
  return value !== undefined && value !== null;
}

function inputOf(input: Json | undefined): string {
  if (typeof input === 'string' && input.trim() !== '') return input;
  // the same object has the same text, and so the same id, in whichever order its keys are
  if (isJsonObject(input)) return canonicalJson(input);
  throw new CaseFault('input', 'give a text that is not empty, or an object.');
}

function idOf(id: Json): string {
  const isName = typeof id === 'string' && id.trim() !== '' && id.length <= datasetBounds.idCharacters;
  // what no database can store, and no address can name
  if (isName && !/\p{Surrogate}|\0|^\.\.?$/u.test(id)) return id;
  // a sheet or a script numbers its cases
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id);
  throw new CaseFault('id', `give a text of 1 to ${datasetBounds.idCharacters} characters.`);
}

function callsOf(calls: Json): ExpectedToolCall[] {
  const { expectedToolCalls: most } = datasetBounds;
  if (!Array.isArray(calls)) throw callFault('give a list.');
  if (calls.length > most) throw callFault(`${calls.length} calls are too many; the limit is ${most}.`);
  return calls.map((call, index) => {
    if (typeof call === 'string' && call !== '') return { name: call };
    if (!isJsonObject(call) || typeof call.name !== 'string' || call.name === '')
      throw callFault(`entry ${index + 1} is neither the name of a tool nor an object with a name.`);
    const { name, arguments: expected = null, ...others } = call;
    const [other] = Object.keys(others);
    if (other !== undefined)
      throw callFault(`entry ${index + 1} has '${other}'. A call has name and arguments.`);
    if (expected === null) return { name };
    if (!isJsonObject(expected)) throw callFault(`the arguments of entry ${index + 1} are not an object.`);
    return { name, arguments: expected };
  });
}

function callFault(text: string): CaseFault {
  return new CaseFault('expected_tool_calls', text);
}

function objectIn(fields: JsonObject, field: CaseField): JsonObject {
  const value = fields[field];
  if (isJsonObject(value)) return value;
  throw new CaseFault(field, 'give an object.');
}
