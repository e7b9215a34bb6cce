import { errors, RunyardError, type ValidationItem } from '../../../core/errors/errors.js';

type Place = ValidationItem['loc'];

/** Fields of the form of a run that chat completions have other names for. */
const names: Readonly<Record<string, Place>> = {
  output_schema: ['response_format'],
  session_id: ['metadata', 'session_id'],
  user_id: ['user'],
  message: ['messages'],
  images: ['messages'],
  audio: ['messages'],
  input_files: ['messages'],
  version: ['model'],
};

/** Does the work, and reports faults by the field names of the request. `positions`: of the earlier messages. */
export async function withNamedFaults<T>(positions: readonly number[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RunyardError) || error.options.items === undefined) throw error;
    throw errors.invalidRequest(
      error.options.items.map((item) => ({ ...item, loc: namedPlace(item.loc, positions) })),
    );
  }
}

function namedPlace([part = 'body', field = '', ...rest]: Place, positions: readonly number[]): Place {
  const [at, ...inside] = rest;
  if (field === 'tools' && typeof at === 'number') return [part, field, at, 'function', ...inside];
  if (field === 'messages' && typeof at === 'number') return [part, field, positions[at] ?? at, ...inside];
  const named = names[String(field)];
  return named === undefined ? [part, field, ...rest] : [part, ...named];
}
