import type { Random } from '../../chaos/storm/random.js';
import type { Description } from '../../support/clients/api-check.js';
import { resolved, type Schema } from '../description.js';
import { hinted } from './hints.js';
import { anyJson, anyObject, brokenJson, hostileNumber, hostileNumeral, hostileText } from './hostile.js';
import type { Pool } from './pool.js';

/** Makes values for schemas of the description: such as fit, and such as do not. */
export class SchemaValues {
  constructor(
    private readonly description: Description,
    private readonly pool: Pool,
    private readonly random: Random,
  ) {}

  /** A value that fits, as far as schemas and names show. */
  fitting(given: Schema, name: string): unknown {
    const schema = resolved(given, this.description);
    const { random } = this;
    const options = schema.anyOf ?? schema.oneOf;
    if (options) return this.fitting(random.pick(options), name);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return random.pick(schema.enum);
    const hint = hinted(name, random);
    if (hint !== undefined && fitsType(schema, hint) && random.chance(0.8)) return hint;
    if (schema.examples?.length && random.chance(0.3)) return random.pick(schema.examples);
    return this.#ofType(typeOf(schema, random), schema, name);
  }

  /** A value to break something with: of another type, beyond a bound, or just odd. */
  hostile(given: Schema, name: string): unknown {
    const schema = resolved(given, this.description);
    const { random } = this;
    if (random.chance(0.35)) return anyJson(random);
    if (schema.contentMediaType === 'application/json')
      return random.chance(0.4) ? brokenJson(random) : JSON.stringify(anyJson(random, 4));
    switch (typeOf(schema, random)) {
      case 'integer':
      case 'number':
        return random.chance(0.3) ? this.#beside(schema) : hostileNumber(random);
      case 'array':
        return [this.fitting(schema.items ?? {}, name), this.hostile(schema.items ?? {}, name)];
      case 'object':
        return this.#hostileObject(schema, name);
      default:
        return this.#hostileTextFor(schema);
    }
  }

  /** The same as a text, for a query, a path, a header or a form. */
  hostileText(schema: Schema, name: string): string {
    const { random } = this;
    if (random.chance(0.3)) return hostileNumeral(random);
    if (random.chance(0.4)) return hostileText(random);
    return textOf(this.hostile(schema, name));
  }

  #ofType(type: string, schema: Schema, name: string): unknown {
    const { random } = this;
    if (type === 'null') return null;
    if (type === 'boolean') return random.chance(0.5);
    if (type === 'integer' || type === 'number') return this.#between(schema);
    if (type === 'array') {
      const { minItems = 0, maxItems = 5, items = {} } = schema;
      const length = random.between(minItems, Math.max(minItems, Math.min(maxItems, 3)));
      return Array.from({ length }, () => this.fitting(items, name.replace(/s$/, '')));
    }
    if (type === 'object') return this.#object(schema);
    return this.#text(schema, name);
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema): Record<string, unknown> {
    const { random } = this;
    const sent = Object.entries(properties).filter(([name]) => required.includes(name) || random.chance(0.4));
    const value = Object.fromEntries(sent.map(([name, schema]) => [name, this.fitting(schema, name)]));
    const isOpen = Object.keys(properties).length === 0 && additionalProperties !== false;
    return isOpen ? (random.chance(0.5) ? { note: 'fits', count: 1 } : anyObject(random)) : value;
  }

  #hostileObject(schema: Schema, name: string): unknown {
    const value = this.fitting(schema, name);
    if (typeof value !== 'object' || value === null) return value;
    const names = Object.keys(value);
    if (names.length === 0) return anyObject(this.random);
    const broken = this.random.pick(names);
    const member = schema.properties?.[broken] ?? {};
    return { ...value, [broken]: this.hostile(member, broken) };
  }

  #text(schema: Schema, name: string): string {
    const { random } = this;
    if (schema.format === 'date') return '2026-06-15';
    if (schema.contentMediaType === 'application/json')
      return JSON.stringify(this.fitting(schema.contentSchema ?? { type: 'object' }, name));
    if (schema.pattern !== undefined) return matching(new RegExp(schema.pattern), random);
    if (/_id$/.test(name) && random.chance(0.8)) return this.pool.id(name, random) ?? 'ada';
    const text = random.pick([
      'ada',
      'Likes tea',
      'x',
      'Trip to Rome',
      'Zoë 👋',
      `n${random.between(0, 99)}`,
    ]);
    return text.padEnd(schema.minLength ?? 0, 'x').slice(0, schema.maxLength);
  }

  #hostileTextFor({ maxLength }: Schema): string {
    const { random } = this;
    if (maxLength !== undefined && random.chance(0.3)) return 'x'.repeat(maxLength + random.between(0, 1));
    return hostileText(random);
  }

  #between({ minimum = -5, maximum = 1000 }: Schema): number {
    const { random } = this;
    return random.pick([minimum, random.between(minimum, Math.min(maximum, minimum + 30)), maximum]);
  }

  /** Just beyond a bound. */
  #beside({ minimum, maximum }: Schema): number {
    const bounds = [minimum === undefined ? -1 : minimum - 1, maximum === undefined ? 2 ** 31 : maximum + 1];
    return this.random.pick(bounds);
  }
}

/** How a value is written in a form, a query or a path. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function typeOf({ type, properties }: Schema, random: Random): string {
  if (typeof type === 'string') return type;
  if (type !== undefined) return random.pick(type);
  return properties ? 'object' : random.pick(['string', 'integer', 'boolean', 'object', 'array', 'null']);
}

function fitsType({ type, properties, anyOf, pattern }: Schema, value: unknown): boolean {
  if (pattern !== undefined && !new RegExp(pattern).test(String(value))) return false;
  const types = typeof type === 'string' ? [type] : type;
  if (types === undefined) return properties === undefined && anyOf === undefined;
  if (value === null) return types.includes('null');
  if (Array.isArray(value)) return types.includes('array');
  if (typeof value === 'number') return types.includes('integer') || types.includes('number');
  return types.includes(typeof value);
}

function matching(pattern: RegExp, random: Random): string {
  const number = random.between(0, 1_000_000);
  const candidates = [`bot-${number}`, String(number), 'approved', 'rejected', '2026-06-15', ''];
  const fitting = candidates.filter((text) => pattern.test(text));
  return fitting.length === 0 ? `x${number}` : random.pick(fitting);
}
