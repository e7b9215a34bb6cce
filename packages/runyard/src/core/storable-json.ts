import { reasonOf } from './errors/reason.js';
import type { Json } from './json.js';
import { fieldsOf } from './objects.js';

/** More than this in one value is a mistake: an array with a length by accident, a whole table. */
const mostParts = 2_000_000;
const mostCharacters = 64 * 1024 * 1024;
/** Deeper data serves no one and endangers whatever walks it. */
const deepest = 500;

/** A value of application code that cannot be stored. The message says whose it is, what is wrong, and where. */
export class UnstorableValue extends TypeError {
  override readonly name = 'TypeError';
}

/**
 * What application code made, as JSON holds it: a copy, so that what the code does to its value later changes nothing.
 * Follows `JSON.stringify` (`toJSON`, what is left out, what becomes null), and refuses what that cannot write or should
 * not: a BigInt, a circular reference, a value that is no data at all, too much of it. `subject` begins the message:
 * `The hook 'x' returned a value that`.
 */
export function storable(value: unknown, subject: string): Json {
  if (typeof value === 'string' && value.length <= mostCharacters) return value;
  const fault = (text: string) => new UnstorableValue(`${subject} cannot be stored as JSON: ${text}`);
  if (typeof value === 'number' && !Number.isFinite(value)) throw fault(String(value));
  const copied = new Copier(fault).copy(value, '');
  if (copied === undefined) throw fault(kindOf(value));
  return copied;
}

/** The same of a value that is plain data by its type: the copy is of that type too. */
export function storableCopy<T extends object>(value: T, subject: string): T {
  // only what JSON leaves out is missing from the copy, and a type of plain data has none of that
  return storable(value, subject) as T;
}

class Copier {
  private parts = 0;
  private characters = 0;
  private readonly around: { readonly value: object; readonly key: string }[] = [];

  constructor(private readonly fault: (text: string) => Error) {}

  /** Undefined for what JSON leaves out. */
  copy(given: unknown, key: string): Json | undefined {
    const value = this.plain(given, key);
    this.count(value, key);
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) ? value : null;
      case 'bigint':
        throw this.fault(`BigInt${this.place(key)}`);
      case 'object':
        return value === null ? null : this.inside(value, key);
      default:
        return undefined;
    }
  }

  /** What represents the value: the result of its `toJSON`, and the primitive within a wrapper. */
  private plain(value: unknown, key: string): unknown {
    if ((typeof value !== 'object' || value === null) && typeof value !== 'bigint') return value;
    try {
      const { toJSON } = fieldsOf(value);
      const given: unknown = typeof toJSON === 'function' ? toJSON.call(value, key) : value;
      const isWrapper = given instanceof Number || given instanceof String || given instanceof Boolean;
      return isWrapper ? given.valueOf() : given;
    } catch (error) {
      throw this.fault(`toJSON${this.place(key)} threw: ${reasonOf(error)}`);
    }
  }

  private count(value: unknown, key: string): void {
    this.parts += 1;
    if (typeof value === 'string') this.characters += value.length;
    if (Array.isArray(value)) this.parts += value.length;
    if (this.parts > mostParts) throw this.fault(`more than ${mostParts} values${this.place(key)}`);
    if (this.characters > mostCharacters)
      throw this.fault(`more than ${mostCharacters} characters${this.place(key)}`);
  }

  private inside(value: object, key: string): Json {
    if (this.around.some((outer) => outer.value === value))
      throw this.fault(`a circular reference${this.place(key)}`);
    if (this.around.length === deepest) throw this.fault(`it is nested deeper than ${deepest} levels`);
    this.around.push({ value, key });
    const copied = Array.isArray(value) ? this.list(value) : this.object(value);
    this.around.pop();
    return copied;
  }

  private list(values: readonly unknown[]): Json[] {
    // holes are null, as JSON writes them
    return Array.from(values, (part, index) => this.copy(part, String(index)) ?? null);
  }

  private object(value: object): Json {
    const copied: { [key: string]: Json } = {};
    for (const key of Object.keys(value)) {
      const part = this.copy(this.read(value, key), key);
      if (part === undefined) continue;
      if (key !== '__proto__') copied[key] = part;
      else Object.defineProperty(copied, key, { value: part, enumerable: true, configurable: true });
    }
    return copied;
  }

  private read(value: object, key: string): unknown {
    try {
      return Reflect.get(value, key);
    } catch (error) {
      throw this.fault(`it cannot be read${this.place(key)}: ${reasonOf(error)}`);
    }
  }

  /** ` at total.amount`, ` at items[3]`; nothing for the value itself. */
  private place(key: string): string {
    if (this.around.length === 0) return '';
    const keys = [...this.around.slice(1).map((outer) => outer.key), key];
    const isItem = (index: number) => Array.isArray(this.around[index]?.value);
    const path = keys.map((part, index) => (isItem(index) ? `[${part}]` : `.${part}`)).join('');
    const text = path.replace(/^\./, '');
    return ` at ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
  }
}

/** `undefined`, `a bigint`, `an object`. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
