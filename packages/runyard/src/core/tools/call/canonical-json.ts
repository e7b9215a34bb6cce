import { isJsonObject, type Json } from '../../json.js';

/** JSON text that is the same for the same value, in whichever order its keys were written. */
export function canonicalJson(value: Json | object): string {
  return JSON.stringify(value, (_, part: Json) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).sort(byKey)) : part,
  );
}

function byKey([first]: [string, Json], [second]: [string, Json]): number {
  return first < second ? -1 : 1;
}
