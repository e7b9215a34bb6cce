import { isJsonObject, type Json, type JsonObject } from '../../json.js';

/** How deep the arguments of a call may be nested. */
const mostSteps = 100;

/** One step of a JSON path (RFC 9535): `.name`, `[0]`, `['name']` or `["name"]`. */
const step = /\.([^.[\]]+)|\[(\d{1,9})\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y;

/** Without a prototype, so that no name in a path reaches one. */
export function emptyArguments(): JsonObject {
  return Object.create(null);
}

/** Puts one streamed value where its path says. Returns false if it fits nowhere: the arguments are then incomplete. */
export function addPartialArgument(args: JsonObject, part: JsonObject): boolean {
  const value = valueIn(part);
  if (value === undefined) return true;
  const steps = typeof part.jsonPath === 'string' ? stepsOf(part.jsonPath) : [];
  if (steps.length === 0) return false;
  let holder: Json = args;
  for (const [at, name] of steps.entries()) {
    // The model writes an array from its beginning: an index beyond its end is a mistake, and maybe a huge one.
    const fits =
      typeof name === 'number' ? Array.isArray(holder) && name <= holder.length : isJsonObject(holder);
    if (!fits) return false;
    // an array at an index, or an object at a name: as just checked
    const values = holder as Record<string | number, Json>;
    const next = steps[at + 1];
    if (next === undefined) values[name] = grown(values[name], value);
    else holder = values[name] ??= typeof next === 'number' ? [] : emptyArguments();
  }
  return true;
}

function valueIn({ stringValue, numberValue, boolValue, nullValue }: JsonObject): Json | undefined {
  return stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? undefined : null);
}

function grown(before: Json | undefined, value: Json): Json {
  return typeof before === 'string' && typeof value === 'string' ? before + value : value;
}

/** The steps of a path; none if it is not the path of one value. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let at = 1; at < path.length; at = step.lastIndex) {
    step.lastIndex = at;
    const [, name, index, single, double] = step.exec(path) ?? [];
    const found = index === undefined ? (name ?? unquoted(single ?? double)) : Number(index);
    if (found === undefined || steps.length === mostSteps) return [];
    steps.push(found);
  }
  return path.startsWith('$') ? steps : [];
}

function unquoted(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const escaped = text.replace(/\\.|"/g, (found) => (found === '"' ? '\\"' : found === "\\'" ? "'" : found));
  try {
    return JSON.parse(`"${escaped}"`);
  } catch {
    return undefined;
  }
}
