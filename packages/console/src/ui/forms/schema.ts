/** The part of JSON Schema that forms understand. Everything else is entered as JSON, and the service checks it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly $ref?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
}

/** What a field is edited with. */
export type Control = 'choice' | 'text' | 'number' | 'flag' | 'object' | 'list' | 'json';

/** A schema without references and without the alternative `null`. */
export interface FormSchema {
  readonly schema: JsonSchema;
  readonly control: Control;
  readonly nullable: boolean;
}

const deepest = 16;

/** What to show for a schema. `root` holds the definitions that it refers to. */
export function formOf(given: JsonSchema, root: JsonSchema): FormSchema {
  let schema = given;
  let nullable = false;
  for (let depth = 0; depth < deepest; depth += 1) {
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (schema.$ref !== undefined) schema = { ...withoutRef(schema), ...found(root, schema.$ref) };
    else if (schema.allOf?.length === 1)
      // a key without a value is one that is left out
      schema = { ...schema, allOf: undefined, ...schema.allOf[0] } as JsonSchema;
    else if (alternatives !== undefined) {
      const others = alternatives.filter(({ type }) => type !== 'null');
      nullable ||= others.length < alternatives.length;
      const [only] = others;
      if (others.length !== 1 || only === undefined) return { schema, control: 'json', nullable };
      // as above
      schema = { ...schema, anyOf: undefined, oneOf: undefined, ...only } as JsonSchema;
    } else break;
  }
  const types = [schema.type ?? []].flat();
  nullable ||= types.includes('null');
  return {
    schema,
    nullable,
    control: controlOf(
      schema,
      types.find((type) => type !== 'null'),
    ),
  };
}

function controlOf(schema: JsonSchema, type: string | undefined): Control {
  if (schema.enum !== undefined) return schema.enum.every(isSimple) ? 'choice' : 'json';
  if (schema.const !== undefined) return isSimple(schema.const) ? 'choice' : 'json';
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'flag';
  if (schema.properties !== undefined) return 'object';
  return type === 'array' && schema.items !== undefined ? 'list' : 'json';
}

/** What a form starts with: the defaults. Fields without one are absent. */
export function startValue(given: JsonSchema, root: JsonSchema = given): unknown {
  const { schema, control } = formOf(given, root);
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (control !== 'object') return undefined;
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const value = startValue(field, root);
    const isNeeded = value !== undefined && (!isEmpty(value) || schema.required?.includes(name));
    return isNeeded ? [[name, value] as const] : [];
  });
  return Object.fromEntries(fields);
}

/** What is wrong with a value, by the path of the field. The service checks the rest. */
export function problemsIn(
  given: JsonSchema,
  value: unknown,
  root: JsonSchema = given,
  path = '',
): ReadonlyMap<string, string> {
  const { schema, control, nullable } = formOf(given, root);
  if (value === null && nullable) return new Map();
  const problem = problemOf(schema, control, value);
  if (problem !== undefined) return new Map([[path, problem]]);
  if (control === 'object') {
    const fields = Object.entries(schema.properties ?? {});
    return new Map(
      fields.flatMap(([name, field]): (readonly [string, string])[] => {
        const inner = Object(value)[name];
        const at = pathTo(path, name);
        if (inner !== undefined) return [...problemsIn(field, inner, root, at)];
        return schema.required?.includes(name) && field.default === undefined ? [[at, 'Required']] : [];
      }),
    );
  }
  if (control !== 'list' || schema.items === undefined || !Array.isArray(value)) return new Map();
  const { items } = schema;
  return new Map(value.flatMap((item, at) => [...problemsIn(items, item, root, pathTo(path, String(at)))]));
}

function problemOf(schema: JsonSchema, control: Control, value: unknown): string | undefined {
  const { minimum, maximum, minLength = 0, maxLength = Number.POSITIVE_INFINITY, minItems = 0 } = schema;
  switch (control) {
    case 'number':
      if (typeof value !== 'number' || Number.isNaN(value)) return 'Enter a number';
      if (schema.type === 'integer' && !Number.isInteger(value)) return 'Enter a whole number';
      if (minimum !== undefined && value < minimum) return `At least ${minimum}`;
      return maximum !== undefined && value > maximum ? `At most ${maximum}` : undefined;
    case 'text':
      if (typeof value !== 'string') return 'Enter a text';
      if (value.length < minLength) return `At least ${minLength} characters`;
      return value.length > maxLength ? `At most ${maxLength} characters` : undefined;
    case 'list':
      if (!Array.isArray(value)) return 'Enter a list';
      return value.length < minItems ? `At least ${minItems} entries` : undefined;
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? undefined
        : 'Enter an object';
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'Choose yes or no';
    case 'choice': {
      const allowed = schema.enum ?? [schema.const];
      return allowed.includes(value) ? undefined : `One of ${allowed.map(String).join(', ')}`;
    }
    default:
      return undefined;
  }
}

export function pathTo(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** A value for a new entry of a list. */
export function emptyValue(given: JsonSchema, root: JsonSchema): unknown {
  const start = startValue(given, root);
  if (start !== undefined) return start;
  const { schema, control } = formOf(given, root);
  if (control === 'choice') return schema.enum?.[0];
  return { text: '', number: 0, flag: false, list: [], object: {}, json: null }[control];
}

function found(root: JsonSchema, reference: string): JsonSchema {
  const parts = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  let place: unknown = root;
  for (const part of parts) place = Object(place)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  // what a reference leads to is a schema, or the form ignores its keys
  return typeof place === 'object' && place !== null ? (place as JsonSchema) : {};
}

function withoutRef({ $ref: _reference, ...rest }: JsonSchema): JsonSchema {
  return rest;
}

function isSimple(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
