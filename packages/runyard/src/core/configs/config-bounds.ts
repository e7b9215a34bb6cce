import { isJsonObject, type Json } from '../json.js';
import type { ConfigFault } from './component-config.js';

/** Of the JSON text of a configuration. */
export const mostCharacters = 1_000_000;
const deepest = 64;

/** What is too large in a configuration. Everything else may walk one without bounds of its own. */
export function boundFaults(config: Json): ConfigFault[] {
  if (!isJsonObject(config)) return [{ path: '', message: 'is not an object. Give an object of keys.' }];
  let level: Json[] = [config];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > deepest) return [{ path: '', message: `is nested deeper than ${deepest} levels.` }];
    level = level.flatMap(objectsInside);
  }
  const { length } = JSON.stringify(config);
  if (length <= mostCharacters) return [];
  return [{ path: '', message: `has ${length} characters. At most ${mostCharacters} are allowed.` }];
}

function objectsInside(value: Json): Json[] {
  return Object.values(Object(value)).filter((one): one is Json => typeof one === 'object' && one !== null);
}
