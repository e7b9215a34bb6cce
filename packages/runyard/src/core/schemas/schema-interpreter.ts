import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../json.js';
import { fieldsOf } from '../objects.js';
import { coercedTo, isOfType, lengthOf, quickFormats } from '../simple-values.js';
import type { SchemaFault } from './schema-faults.js';

export interface InterpreterOptions {
  /** Turns `"3"` into 3 where a number is asked for, and the like. */
  readonly coerce?: boolean;
  /** Takes null for a property that is not required. */
  readonly nullableOptionals?: boolean;
}

/** How much work one value may take: a unit is about one comparison. */
const mostWork = 500_000;
/** How many schemas may be carried out inside one another. */
const deepestCheck = 500;
const mostFaults = 20;
/** How many characters of the allowed values are shown in a fault. */
const longestChoices = 2_000;

type Place = string | number;
type Holder = JsonObject | Json[];

/**
 * Checks a value against a schema from outside, writes defaults (and coerced values) into it, and
 * answers with what does not fit. The schema is read, never turned into code, and the work is counted: whatever the
 * schema and the value are, the check ends soon. It reads what `checkableSchema` leaves of a schema.
 */
export function interpretSchema(
  schema: JsonSchema,
  value: Json,
  options: InterpreterOptions = {},
): readonly SchemaFault[] {
  const check = new Interpreter(schema, options);
  try {
    check.fits(schema, [value], 0);
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    return [{ path: [], kind: 'unfit', message: 'takes too many checks against this schema' }];
  }
  return check.faults;
}

class TooMuchWork extends Error {}

class Interpreter {
  faults: SchemaFault[] = [];
  readonly #path: Place[] = [];
  readonly #targets = new Map<string, unknown>();
  #work = mostWork;
  #depth = 0;
  /** Inside alternatives no defaults are written: which of them holds is not known yet. */
  #alternatives = 0;
  /** Inside questions that may well be answered with no, nothing is a fault. */
  #questions = 0;

  constructor(
    readonly root: JsonSchema,
    readonly options: InterpreterOptions,
  ) {}

  fits(schema: unknown, holder: Holder, key: Place): boolean {
    this.#spend(1);
    if (!isJsonObject(schema)) return schema !== false || this.#fault('is not allowed');
    return this.#deeper(
      () =>
        this.#fitsType(schema, holder, key) &&
        this.#fitsReference(schema, holder, key) &&
        this.#fitsLiterals(schema, at(holder, key)) &&
        this.#fitsBounds(schema, at(holder, key)) &&
        this.#fitsItems(schema, at(holder, key)) &&
        this.#fitsMembers(schema, at(holder, key)) &&
        this.#fitsCombinations(schema, holder, key),
    );
  }

  #deeper<T>(check: () => T): T {
    if (++this.#depth > deepestCheck) throw new TooMuchWork();
    const found = check();
    this.#depth--;
    return found;
  }

  #spend(work: number): void {
    this.#work -= work;
    if (this.#work < 0) throw new TooMuchWork();
  }

  #fault(message: string, kind: SchemaFault['kind'] = 'unfit', ...more: Place[]): false {
    if (this.#questions === 0 && this.faults.length < mostFaults)
      this.faults.push({ path: [...this.#path, ...more], kind, message });
    return false;
  }

  #fitsType(schema: JsonSchema, holder: Holder, key: Place): boolean {
    if (schema.type === undefined) return true;
    const types = Array.isArray(schema.type) ? schema.type : [schema.type];
    this.#spend(types.length);
    const value = at(holder, key);
    if (types.some((type) => isOfType(value, type)) || (schema.nullable === true && value === null))
      return true;
    const coerced = this.options.coerce ? coercedTo(value, types) : undefined;
    if (coerced === undefined) return this.#fault(`must be ${types.join(' or ')}`);
    put(holder, key, coerced);
    return true;
  }

  #fitsReference({ $ref }: JsonSchema, holder: Holder, key: Place): boolean {
    if (typeof $ref !== 'string') return true;
    if (!this.#targets.has($ref)) this.#targets.set($ref, pointedAt(this.root, $ref));
    return this.fits(this.#targets.get($ref), holder, key);
  }

  #fitsLiterals(schema: JsonSchema, value: Json): boolean {
    // whatever it holds: it is only compared
    if (Object.hasOwn(schema, 'const') && !this.#equals(value, schema.const as Json)) {
      return this.#fault('must be equal to constant');
    }
    if (!Array.isArray(schema.enum)) return true;
    if (schema.enum.some((choice) => this.#equals(value, choice))) return true;
    const choices = JSON.stringify(schema.enum);
    this.#spend(choices.length);
    const shown = choices.length > longestChoices ? `${choices.slice(0, longestChoices)}…` : choices;
    return this.#fault(`must be equal to one of the allowed values: ${shown}`);
  }

  #equals(one: Json, other: Json): boolean {
    this.#spend(1);
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
      if (typeof one === 'string') this.#spend(one.length / 64);
      return one === other;
    }
    if (Array.isArray(one) || Array.isArray(other)) {
      if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
      // as long as the first: both lengths were compared
      return this.#deeper(() => one.every((item, index) => this.#equals(item, other[index] as Json)));
    }
    const keys = Object.keys(one);
    const count = Object.keys(other).length;
    // to count the keys of an object is to look at each of them
    this.#spend(keys.length + count);
    if (keys.length !== count) return false;
    return this.#deeper(() =>
      keys.every((key) => Object.hasOwn(other, key) && this.#equals(at(one, key), at(other, key))),
    );
  }

  #fitsBounds(schema: JsonSchema, value: Json): boolean {
    if (typeof value === 'number') {
      const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
      if (typeof minimum === 'number' && value < minimum) return this.#fault(`must be >= ${minimum}`);
      if (typeof maximum === 'number' && value > maximum) return this.#fault(`must be <= ${maximum}`);
      if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
        return this.#fault(`must be > ${exclusiveMinimum}`);
      if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
        return this.#fault(`must be < ${exclusiveMaximum}`);
      if (typeof multipleOf === 'number' && !Number.isInteger(value / multipleOf))
        return this.#fault(`must be multiple of ${multipleOf}`);
    } else if (typeof value === 'string') {
      const { format, minLength, maxLength } = schema;
      if (typeof format === 'string' && !this.#isOfFormat(value, format))
        return this.#fault(`must match format "${format}"`);
      if (minLength === undefined && maxLength === undefined) return true;
      this.#spend(value.length / 16);
      return this.#fitsSize(lengthOf(value), minLength, maxLength, 'characters');
    }
    return true;
  }

  #isOfFormat(text: string, name: string): boolean {
    const format = quickFormats.get(name);
    if (format === undefined) return true;
    this.#spend(text.length);
    return format instanceof RegExp ? format.test(text) : format(text);
  }

  #fitsSize(size: number, least: unknown, most: unknown, what: string): boolean {
    if (typeof least === 'number' && size < least)
      return this.#fault(`must NOT have fewer than ${least} ${what}`);
    if (typeof most === 'number' && size > most)
      return this.#fault(`must NOT have more than ${most} ${what}`);
    return true;
  }

  #fitsItems(schema: JsonSchema, value: Json): boolean {
    if (!Array.isArray(value)) return true;
    const { prefixItems, items, contains, minItems, maxItems } = schema;
    if (!this.#fitsSize(value.length, minItems, maxItems, 'items')) return false;
    if (schema.uniqueItems === true && !this.#areUnique(value)) {
      return this.#fault('must NOT have duplicate items');
    }
    const first = Array.isArray(prefixItems) ? prefixItems : [];
    for (const [index, inner] of first.slice(0, value.length).entries()) {
      if (!this.#partFits(inner, value, index)) return false;
    }
    if (items !== undefined) {
      for (let index = first.length; index < value.length; index++) {
        if (!this.#partFits(items, value, index)) return false;
      }
    }
    return contains === undefined || this.#containsEnough(schema, value);
  }

  #containsEnough({ contains, minContains = 1, maxContains }: JsonSchema, items: Json[]): boolean {
    const found = items.filter((_, index) => this.#quietly(() => this.fits(contains, items, index))).length;
    return this.#fitsSize(found, minContains, maxContains, 'items that match "contains"');
  }

  #areUnique(items: readonly Json[]): boolean {
    return new Set(items.map((item) => this.#canonical(item))).size === items.length;
  }

  /** A text that is the same for equal values: in which order keys were written makes no difference. */
  #canonical(value: Json): string {
    this.#spend(1 + (typeof value === 'string' ? value.length / 16 : 0));
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    return this.#deeper(() => {
      if (Array.isArray(value)) return `[${value.map((item) => this.#canonical(item)).join()}]`;
      const keys = Object.keys(value).sort();
      return `{${keys.map((key) => `${this.#canonical(key)}:${this.#canonical(at(value, key))}`).join()}}`;
    });
  }

  #partFits(schema: unknown, holder: Holder, key: Place): boolean {
    this.#path.push(key);
    const fits = this.fits(schema, holder, key);
    this.#path.pop();
    return fits;
  }

  #fitsMembers(schema: JsonSchema, value: Json): boolean {
    if (!isJsonObject(value)) return true;
    const { additionalProperties, propertyNames, minProperties, maxProperties } = schema;
    const properties = isJsonObject(schema.properties) ? schema.properties : {};
    const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
    this.#writeDefaults(properties, value);
    const names = Object.keys(value);
    this.#spend(names.length + required.length);
    for (const name of required) {
      if (!Object.hasOwn(value, String(name))) return this.#fault('is required', 'missing', String(name));
    }
    if (!this.#fitsSize(names.length, minProperties, maxProperties, 'properties')) return false;
    if (!this.#fitsDependencies(schema, value)) return false;
    const optional = this.options.nullableOptionals && new Set(required);
    for (const name of names) {
      if (propertyNames !== undefined && !this.#partFits(propertyNames, [name], 0)) return false;
      if (Object.hasOwn(properties, name)) {
        if (optional && at(value, name) === null && !optional.has(name)) continue;
        if (!this.#partFits(properties[name], value, name)) return false;
      } else if (additionalProperties === false) return this.#fault('is not known', 'unknown', name);
      else if (additionalProperties !== undefined && !this.#partFits(additionalProperties, value, name))
        return false;
    }
    return true;
  }

  #writeDefaults(properties: JsonSchema, value: JsonObject): void {
    if (this.#alternatives > 0) return;
    for (const name of defaultsIn(properties)) {
      if (Object.hasOwn(value, name)) continue;
      const text = JSON.stringify(fieldsOf(properties[name]).default);
      // each object that lacks it grows by as much
      this.#spend(text.length);
      put(value, name, JSON.parse(text));
    }
  }

  #fitsDependencies({ dependentRequired, dependencies }: JsonSchema, value: JsonObject): boolean {
    for (const lists of [dependentRequired, dependencies]) {
      if (!isJsonObject(lists)) continue;
      for (const [name, needed] of Object.entries(lists)) {
        this.#spend(1);
        if (!Array.isArray(needed) || !Object.hasOwn(value, name)) continue;
        this.#spend(needed.length);
        const missing = needed.find((other) => !Object.hasOwn(value, String(other)));
        if (missing !== undefined)
          return this.#fault(`is required when ${name} is there`, 'missing', String(missing));
      }
    }
    return true;
  }

  #fitsCombinations(schema: JsonSchema, holder: Holder, key: Place): boolean {
    const { allOf, anyOf, oneOf, not } = schema;
    if (Array.isArray(allOf) && !allOf.every((inner) => this.fits(inner, holder, key))) return false;
    if (Array.isArray(anyOf) && !this.#fitsAny(anyOf, holder, key)) return false;
    if (Array.isArray(oneOf) && !this.#fitsOne(oneOf, holder, key)) return false;
    if (not !== undefined && this.#quietly(() => this.fits(not, holder, key)))
      return this.#fault('must NOT be valid');
    return this.#fitsConditions(schema, holder, key);
  }

  #fitsConditions(schema: JsonSchema, holder: Holder, key: Place): boolean {
    if (schema.if !== undefined) {
      const branch = this.#quietly(() => this.fits(schema.if, holder, key)) ? schema.then : schema.else;
      if (branch !== undefined && !this.#inAlternative(() => this.fits(branch, holder, key))) return false;
    }
    for (const schemas of [schema.dependentSchemas, schema.dependencies]) {
      if (!isJsonObject(schemas)) continue;
      for (const [name, inner] of Object.entries(schemas)) {
        this.#spend(1);
        const value = at(holder, key);
        if (Array.isArray(inner) || !isJsonObject(value) || !Object.hasOwn(value, name)) continue;
        if (!this.fits(inner, holder, key)) return false;
      }
    }
    return true;
  }

  #fitsAny(schemas: readonly unknown[], holder: Holder, key: Place): boolean {
    const before = this.faults.length;
    const found = schemas.some((inner) => this.#inAlternative(() => this.fits(inner, holder, key)));
    if (found) this.faults.length = before;
    return found || (this.faults.length > before ? false : this.#fault('must match a schema in anyOf'));
  }

  #fitsOne(schemas: readonly unknown[], holder: Holder, key: Place): boolean {
    const before = this.faults.length;
    const fitting = schemas.filter((inner) => this.#inAlternative(() => this.fits(inner, holder, key)));
    if (fitting.length === 0)
      return this.faults.length > before ? false : this.#fault('must match a schema in oneOf');
    this.faults.length = before;
    return fitting.length === 1 || this.#fault('must match exactly one schema in oneOf');
  }

  #inAlternative(check: () => boolean): boolean {
    this.#alternatives++;
    const fits = check();
    this.#alternatives--;
    return fits;
  }

  #quietly(check: () => boolean): boolean {
    this.#questions++;
    const fits = this.#inAlternative(check);
    this.#questions--;
    return fits;
  }
}

function at(holder: Holder, key: Place): Json {
  // a place is a name of an object, or an index of a list, that is there: both are read alike
  return (holder as JsonObject)[key] as Json;
}

/** Also for names such as `__proto__`. */
function put(holder: Holder, key: Place, value: Json): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

const namesWithDefaults = new WeakMap<JsonSchema, readonly string[]>();

function defaultsIn(properties: JsonSchema): readonly string[] {
  let names = namesWithDefaults.get(properties);
  if (names === undefined) {
    names = Object.keys(properties).filter((name) => {
      const property = properties[name];
      return isJsonObject(property) && property.default !== undefined;
    });
    namesWithDefaults.set(properties, names);
  }
  return names;
}

/** What a reference inside the schema points to. */
function pointedAt(root: JsonSchema, reference: string): unknown {
  let found: unknown = root;
  for (const part of /^#(?:\/|$)/.test(reference) ? reference.split('/').slice(1) : [undefined]) {
    const name = part?.replaceAll('~1', '/').replaceAll('~0', '~');
    if (name === undefined || typeof found !== 'object' || found === null || !Object.hasOwn(found, name))
      throw new Error(`the reference ${reference} of the schema cannot be resolved`);
    found = Reflect.get(found, name);
  }
  return found;
}
