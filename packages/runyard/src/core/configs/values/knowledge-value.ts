import { isJsonObject, type JsonObject } from '../../json.js';
import { Knowledge } from '../../knowledge/knowledge.js';
import { shown } from '../../options/faults.js';
import { name, objectOf, required } from '../../options/kinds.js';
import { type ConfigValue, listValue } from '../config-keys.js';
import { nameFor, resolved } from './named-values.js';

const mostBases = 50;
const reference = objectOf<{ name: string }>({ name: required(name) });

const base: ConfigValue = {
  read: (value, at) => {
    if (!isJsonObject(value)) return at.fault(`is ${shown(value)}. Give { "name": … }.`);
    if (at.checked(reference, value) === undefined) return undefined;
    return resolved(({ knowledge }) => knowledge, String(value.name), at);
  },
  write: (setting, at): JsonObject | undefined => {
    // the setting holds knowledge bases only
    const found = nameFor(at.registry.knowledge, setting as Knowledge, at);
    return found === undefined ? undefined : { name: found };
  },
};

const bases = listValue(base, mostBases);

/** `{ name }`, or a list of them. */
export const knowledge: ConfigValue = {
  read: (value, at) => (Array.isArray(value) ? bases : base).read(value, at),
  write: (setting, at) => (setting instanceof Knowledge ? base : bases).write(setting, at),
};
