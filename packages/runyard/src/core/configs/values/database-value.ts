import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { shown } from '../../options/faults.js';
import type { ConfigValue } from '../config-keys.js';
import { nameIn } from './named-values.js';

/** `{ id }`: one of the service's databases. Names of tables are kept and change nothing: tables have fixed names. */
export const database: ConfigValue = {
  read: (value, at) => {
    if (!isJsonObject(value)) return at.fault(`is ${shown(value)}. Give { "id": … }.`);
    const id = nameIn(value.id, at.within('id'));
    if (id === undefined || at.site === undefined) return undefined;
    if (at.site.databases.includes(id)) return id;
    return at
      .within('id')
      .fault(
        `names the database '${id}', which is not registered. Registered: ${at.site.databases.join(', ')}.`,
      );
  },
  // the setting is the id
  write: (setting) => ({ id: setting as string }),
};

/** What of a reference to a database is stored: how to connect to it is a matter of the service alone. */
export function storedDatabase(value: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const kept = Object.entries(value).filter(
    ([key, one]) => key === 'id' || (key.endsWith('_table') && typeof one === 'string'),
  );
  return Object.fromEntries(kept);
}
