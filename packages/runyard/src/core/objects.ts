/** An object that is still being put together. */
export type Writable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

/** The fields of a value about which nothing is known: none of what is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value);
}

/** The keys of an object that has no others than its type says: a table in the source, or the shape of a schema. */
export function keysOf<Key extends string>(table: Readonly<Partial<Record<Key, unknown>>>): Key[] {
  // the type of Object.keys allows for keys that the type of its argument does not have
  return Object.keys(table) as Key[];
}

/** An object with a value for each name. */
export function forEachName<Name extends string, Value>(
  names: readonly Name[],
  value: (name: Name) => Value,
): Record<Name, Value> {
  // each name has its entry: Object.fromEntries forgets which names it got
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
}

/** Like Array.isArray, which does not know read-only lists. */
export function isList<Item>(
  value: readonly Item[] | object | number | null | undefined,
): value is readonly Item[] {
  return Array.isArray(value);
}

/** The same without the fields that are undefined. */
export function withoutUndefined<Fields extends object>(fields: Fields): Fields {
  // a field that may be undefined may be absent: no option type distinguishes the two
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
