import { z } from 'zod';
import { isJsonObject } from '../../../core/json.js';
import { definitionOf } from '../request/fields.js';

type JsonSchema = Record<string, unknown>;
type Direction = 'input' | 'output';

const definitions = '#/$defs/';
const components = '#/components/schemas/';

/** The schemas of an API description. What has an id stands once under its name and is referred to. */
export class SchemaCollection {
  readonly #named = new Map<string, JsonSchema>();
  /** Each definition as zod gave it, to distinguish the same schema from another one of the same name. */
  readonly #texts = new Map<string, string>();

  constructor(given: Readonly<Record<string, JsonSchema>>) {
    for (const [name, schema] of Object.entries(given)) this.#named.set(name, schema);
  }

  /** A schema for the place where it is used: a reference if it has an id, else itself. */
  add(schema: z.ZodType, direction: Direction): JsonSchema {
    const { $schema: _dialect, $defs, ...root } = toJsonSchema(schema, direction);
    const named = Object.entries<JsonSchema>(Object($defs));
    const names = new Map(named.map(([id, definition]) => [id, this.#nameFor(id, definition, direction)]));
    for (const [id, definition] of named) {
      const name = names.get(id) ?? id;
      if (!this.#named.has(name)) this.#named.set(name, renamed(definition, names));
    }
    return renamed(root, names);
  }

  /** A schema of input whose own fields are needed in place, even if it has an id. */
  inline(schema: z.ZodType): JsonSchema {
    const used = this.add(schema, 'input');
    if (typeof used.$ref !== 'string') return used;
    return this.#named.get(used.$ref.slice(components.length)) ?? used;
  }

  components(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#named].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #nameFor(id: string, definition: JsonSchema, direction: Direction): string {
    const text = JSON.stringify(definition);
    // What is sent and what is answered may differ by defaults and conversions under the same id.
    const candidates = [id, `${id}${direction === 'input' ? 'Input' : 'Output'}`];
    for (const name of candidates) {
      const known = this.#texts.get(name);
      if (known === text) return name;
      if (known === undefined && !this.#named.has(name)) {
        this.#texts.set(name, text);
        return name;
      }
    }
    throw new Error(`Two different schemas have the id ${id}.`);
  }
}

function toJsonSchema(schema: z.ZodType, direction: Direction): JsonSchema {
  return z.toJSONSchema(schema, {
    io: direction,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const def = definitionOf(zodSchema);
      // Answers may grow new fields; only schemas that were made strict forbid them.
      if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties;
      // zod leaves these out for fields that are converted from text. They are meant for the reader.
      const meta = z.globalRegistry.get(zodSchema);
      if (Array.isArray(meta?.examples)) jsonSchema.examples = meta.examples;
      const usual =
        def.type === 'default' && typeof def.defaultValue !== 'object' ? def.defaultValue : undefined;
      const fallback = meta?.default === undefined ? usual : meta.default;
      if (fallback !== undefined) Object.assign(jsonSchema, { default: fallback });
    },
  });
}

function renamedIn(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => renamedIn(item, names));
  return isJsonObject(value) ? renamed(value, names) : value;
}

function renamed(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, item]) => {
      if (key === '$ref' && typeof item === 'string' && item.startsWith(definitions)) {
        const id = item.slice(definitions.length);
        return [key, `${components}${names.get(id) ?? id}`];
      }
      return [key, renamedIn(item, names)];
    }),
  );
}
