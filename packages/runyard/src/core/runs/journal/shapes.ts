import { isJsonObject, type Json, type JsonObject } from '../../json.js';

/**
 * What stored data has to look like. Returns the path of the first field that does not fit (empty: the value itself),
 * or undefined. Fields that it does not name may be there: a later version may have added them.
 */
export interface Shape<out T> {
  (value: unknown): string | undefined;
  /** A value of this type fits without a call. */
  readonly type?: 'string' | 'number' | 'boolean' | undefined;
  readonly optional?: boolean;
  /** Exists only for the compiler. */
  readonly of?: T;
}

export type Shaped<S> = S extends Shape<infer T> ? T : never;

type Optional<T> = Shape<T> & { readonly optional: true };
type Fields = Readonly<Record<string, Shape<unknown>>>;
type OptionalNames<F> = { [Name in keyof F]: F[Name] extends { optional: true } ? Name : never }[keyof F];
type Flat<T> = { [Name in keyof T]: T[Name] };
type ShapedFields<F> = Flat<
  { readonly [Name in Exclude<keyof F, OptionalNames<F>>]: Shaped<F[Name]> } & {
    readonly [Name in OptionalNames<F>]?: Shaped<F[Name]>;
  }
>;

function leaf<T>(fits: (value: unknown) => value is T, type?: Shape<T>['type']): Shape<T> {
  return Object.assign((value: unknown) => (fits(value) ? undefined : ''), { type });
}

export const text = leaf((value) => typeof value === 'string', 'string');
export const number = leaf((value) => typeof value === 'number', 'number');
export const flag = leaf((value) => typeof value === 'boolean', 'boolean');
export const yes = leaf((value): value is true => value === true);
const anything: Shape<unknown> = () => undefined;
/** Any value: what is stored is JSON. */
export const json = leaf((value): value is Json => value !== undefined);
export const jsonObject: Shape<JsonObject> = leaf(isJsonObject);

export function word<const W extends string>(...words: readonly W[]): Shape<W> {
  const known: readonly unknown[] = words;
  return leaf((value): value is W => known.includes(value));
}

/** Data that is checked only as far as the shape says: no code relies on its other content. */
export function partly<T>(shape: Shape<unknown>): Shape<T> {
  // the one place where a type says more than was checked
  return shape as Shape<T>;
}

export function optional<T>(shape: Shape<T>): Optional<T> {
  const checked = (value: unknown) => (value === undefined ? undefined : shape(value));
  return Object.assign(checked, { type: shape.type, optional: true as const });
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value) => (value === null ? undefined : shape(value));
}

export function list<T>(shape: Shape<T>): Shape<T[]> {
  return (value) => {
    if (!Array.isArray(value)) return '';
    for (const [position, entry] of value.entries()) {
      const fault = shape(entry);
      if (fault !== undefined) return within(String(position), fault);
    }
    return undefined;
  };
}

/** An object whose values are all of one shape. */
export function record<T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value) => {
    if (!isJsonObject(value)) return '';
    for (const name in value) {
      const fault = shape(value[name]);
      if (fault !== undefined) return within(name, fault);
    }
    return undefined;
  };
}

interface Field {
  readonly name: string;
  readonly check: Shape<unknown>;
  readonly type: string;
  /** 1 for a field that must be there. */
  readonly counts: number;
}

/**
 * Looks at the fields that the value has, not at all that it may have: most may be left out. One record is written like
 * the other, so the field at a place is mostly the one that was there in the record before.
 */
export function object<F extends Fields>(fields: F): Shape<ShapedFields<F>> {
  const known = new Map<string, Field>();
  for (const [name, check] of Object.entries(fields))
    known.set(name, { name, check, type: check.type ?? '', counts: check.optional ? 0 : 1 });
  const needed = [...known.values()].filter(({ counts }) => counts === 1);
  const before: Field[] = [];
  return (value) => {
    if (!isJsonObject(value)) return '';
    let found = 0;
    let at = 0;
    for (const name in value) {
      let field = before[at];
      if (field?.name !== name) {
        field = known.get(name) ?? { name, check: anything, type: '', counts: 0 };
        before[at] = field;
      }
      at += 1;
      const given = value[name];
      if (typeof given !== field.type) {
        const fault = field.check(given);
        if (fault !== undefined) return within(name, fault);
      }
      found += field.counts;
    }
    return found === needed.length ? undefined : needed.find(({ name }) => value[name] === undefined)?.name;
  };
}

/** One of several objects: the value of the field `tag` says which. */
export function variant<Tag extends string, V extends Readonly<Record<string, Fields>>>(
  tag: Tag,
  variants: V,
): Shape<{ [Name in keyof V]: Flat<{ readonly [T in Tag]: Name } & ShapedFields<V[Name]>> }[keyof V]> {
  const shapes = new Map(Object.entries(variants).map(([name, fields]) => [name, object(fields)]));
  return (value) => {
    if (!isJsonObject(value)) return '';
    const shape = shapes.get(String(value[tag]));
    return shape === undefined ? tag : shape(value);
  };
}

/** The first shape that fits; when none does, the last one says why. */
export function either<S extends readonly Shape<unknown>[]>(...shapes: S): Shape<Shaped<S[number]>> {
  return (value) => {
    let fault: string | undefined = '';
    for (const shape of shapes) {
      fault = shape(value);
      if (fault === undefined) return undefined;
    }
    return fault;
  };
}

function within(name: string, fault: string): string {
  return fault === '' ? name : `${name}.${fault}`;
}
