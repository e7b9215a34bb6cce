import { errors, type ValidationItem } from '../../errors/errors.js';
import { isJsonObject, type Json, parseJson } from '../../json.js';
import type { CallApplication } from '../../runs/execution/code-owner.js';
import type { SchemaFault } from '../../schemas/schema-faults.js';
import { fitInName, type ValueSchema } from '../../schemas/value-schema.js';

type Place = ValidationItem['loc'];

/** Deeper data serves no one and endangers whatever walks it. */
const maxDepth = 64;

/**
 * Checks a message against the input schema of an agent and answers with the input of the run: the object with
 * its defaults, as indented JSON. Whatever does not fit is refused with the place of each fault, below `place`.
 */
export function checkInput(
  schema: ValueSchema | undefined,
  message: string,
  call?: CallApplication,
  place: Place = ['body', 'message'],
): string | Promise<string> {
  return schema === undefined ? message : fittedInput(schema, message, call, place);
}

async function fittedInput(
  schema: ValueSchema,
  message: string,
  call: CallApplication | undefined,
  place: Place,
): Promise<string> {
  const given = parsed(message, place);
  const fitted = await fitInName(call, 'inputSchema', schema, given);
  if (fitted.ok) return JSON.stringify(fitted.value, null, 2);
  throw errors.invalidRequest(fitted.faults.map((fault) => itemOf(fault, given, place)));
}

function parsed(message: string, loc: Place): Json {
  const refused = (fault: Pick<ValidationItem, 'type' | 'msg' | 'ctx'>, input: Json) =>
    errors.invalidRequest([{ ...fault, loc, input: shown(input) }]);
  let value: Json;
  try {
    value = parseJson(message);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw refused({ type: 'json_invalid', msg: 'JSON decode error', ctx: { error: reason } }, message);
  }
  if (!isJsonObject(value)) {
    throw refused({ type: 'dict_type', msg: 'Input should be a valid dictionary' }, value);
  }
  if (deeperThan(value, maxDepth)) {
    throw refused(
      { type: 'value_error', msg: `Value error, it is nested deeper than ${maxDepth} levels` },
      null,
    );
  }
  return value;
}

/** A fault of a value as an answer shows it, below a place. */
export function itemOf({ path, kind, message }: SchemaFault, given: Json, place: Place): ValidationItem {
  const loc = [...place, ...path];
  if (kind === 'missing') {
    return { type: 'missing', loc, msg: 'Field required', input: shown(valueAt(given, path.slice(0, -1))) };
  }
  const input = shown(valueAt(given, path));
  if (kind === 'unknown')
    return { type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted', input };
  return { type: 'value_error', loc, msg: `Value error, ${message}`, input };
}

function valueAt(value: Json, path: readonly (string | number)[]): Json {
  let found: Json | undefined = value;
  for (const key of path) {
    found = typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined;
  }
  return found ?? null;
}

const shownCharacters = 1_000;

/** Enough to recognise what was sent, never a megabyte of it. */
function shown(input: Json): Json {
  if (typeof input === 'string' && input.length > shownCharacters)
    return `${input.slice(0, shownCharacters)}…`;
  return input;
}

function deeperThan(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((part) => deeperThan(part, levels - 1));
}
