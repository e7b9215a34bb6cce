import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { shown } from '../../options/faults.js';
import type { NamedThings } from '../../registry/named-things.js';
import type { Registry } from '../../registry/registry.js';
import type { ConfigValue } from '../config-keys.js';
import type { Reading } from '../reading.js';
import type { Writing } from '../writing.js';

/** What a name stands for in the registry; undefined with a fault when that is not one thing. */
export function resolved<Thing>(
  things: (registry: Registry) => NamedThings<Thing>,
  name: string,
  at: Reading,
): Thing | undefined {
  if (at.site === undefined) return undefined;
  const named = things(at.site.registry);
  const fault = named.faultOf(name);
  return fault === undefined ? named.find(name)[0]?.thing : at.fault(fault);
}

/** The name by which a configuration can refer to a thing of the code. */
export function nameFor<Thing>(things: NamedThings<Thing>, thing: Thing, at: Writing): string | undefined {
  return things.nameOf(thing) ?? at.fault(things.whyUnnamed(thing));
}

/** Something that configurations give by its name. */
export function named<Thing>(things: (registry: Registry) => NamedThings<Thing>): ConfigValue {
  return {
    read: (value, at) => {
      const name = nameIn(value, at);
      return name === undefined ? undefined : resolved(things, name, at);
    },
    // the settings with this value hold things of this kind only
    write: (setting, at) => nameFor(things(at.registry), setting as Thing, at),
  };
}

export function nameIn(value: Json | undefined, at: Reading): string | undefined {
  if (typeof value === 'string' && value.trim() !== '') return value;
  return at.fault(`is ${shown(value)}. Give a name as text.`);
}

/** A function among data: `{ "$function": "name" }`. */
const functionKey = '$function';

export function isFunctionReference(value: Json): value is JsonObject {
  return isJsonObject(value) && Object.hasOwn(value, functionKey);
}

export const functionReference: ConfigValue = {
  read: (value, at) => {
    if (!isFunctionReference(value) || Object.keys(value).length !== 1)
      return at.fault(`is ${shown(value)}. Give { "${functionKey}": "name of a registered function" }.`);
    const name = nameIn(value[functionKey], at.within(functionKey));
    return name === undefined ? undefined : resolved(({ functions }) => functions, name, at);
  },
  write: (setting, at) => {
    const name = functionName.write(setting, at);
    return name === undefined ? undefined : { [functionKey]: name };
  },
};

/** A function where nothing else can be. */
export const functionName = named(({ functions }) => functions);
