/** Writes JSON schemas of the API description as TypeScript. */
export class SchemaTypes {
  /** The names of schemas that requests contain. */
  #sent = new Set();

  /** `refined`: types of fields that the description leaves open, by their names. */
  constructor(schemas, refined = {}) {
    this.schemas = schemas;
    this.refined = refined;
  }

  /** Marks what a request contains: its objects may have further fields if the service accepts them. */
  markSent(schema) {
    const name = referredTo(Object(schema));
    if (name === undefined) {
      if (schema && typeof schema === 'object') for (const part of Object.values(schema)) this.markSent(part);
    } else if (!this.#sent.has(name)) {
      this.#sent.add(name);
      this.markSent(this.schemas[name]);
    }
  }

  declarations() {
    return Object.entries(this.schemas).map(([name, schema]) => this.#declaration(name, schema));
  }

  #declaration(name, schema) {
    const type = this.type(schema, this.#sent.has(name), '');
    const shape =
      schema.type === 'object' && type.startsWith('{')
        ? `interface ${nameOf(name)} ${type}`
        : `type ${nameOf(name)} = ${type};`;
    return `${comment(schema.description, '')}export ${shape}`;
  }

  /** `open`: objects may have fields beyond those that are named. */
  type(schema, open, indent) {
    const name = referredTo(schema);
    if (name !== undefined) return nameOf(name);
    if ('const' in schema) return JSON.stringify(schema.const);
    if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
    if (schema.format === 'binary') return 'Blob';
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) {
      // JSON as text is for forms: here the value itself is sent
      const values = choices.filter(({ contentMediaType }) => contentMediaType !== 'application/json');
      return union(values.map((choice) => this.type(choice, open, indent)));
    }
    const types = [schema.type ?? []].flat();
    return types.length === 0
      ? 'unknown'
      : union(types.map((type) => this.#plain(type, schema, open, indent)));
  }

  #plain(type, schema, open, indent) {
    if (type === 'integer') return 'number';
    if (type === 'array') return `${grouped(this.type(schema.items ?? {}, open, indent))}[]`;
    return type === 'object' ? this.#object(schema, open, indent) : type;
  }

  #object({ properties = {}, required = [], additionalProperties }, open, indent) {
    const names = Object.keys(properties);
    const others = this.type(Object(additionalProperties), open, indent);
    if (names.length === 0) return `{ [name: string]: ${others} }`;
    const fields = names.map((name) =>
      this.field(name, properties[name], required.includes(name), open, indent),
    );
    // names of what responses contain are checked: a misspelt one would have the type unknown
    if (open && additionalProperties) fields.push(`${indent}  [name: string]: unknown;\n`);
    return `{\n${fields.join('')}${indent}}`;
  }

  /** Fields of the same name elsewhere have other items. */
  #refinement(name, { items }) {
    const { type, identified } = this.refined[name] ?? {};
    return items?.required?.includes(identified) ? type : undefined;
  }

  field(name, schema, required, open, indent) {
    const inner = `${indent}  `;
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    const type = (!open && this.#refinement(name, schema)) || this.type(schema, open, inner);
    return `${comment(schema.description, inner)}${inner}${key}${required ? '' : '?'}: ${type};\n`;
  }
}

/** A comment of one line, or none. */
export function comment(text, indent) {
  return text ? `${indent}/** ${text.replace(/\s+/g, ' ').replaceAll('*/', '*\\/')} */\n` : '';
}

function referredTo({ $ref }) {
  return $ref?.slice('#/components/schemas/'.length);
}

/** The one schema that the description does not name is any JSON value. */
function nameOf(name) {
  return name === '__schema0' ? 'JsonValue' : name;
}

function union(types) {
  const all = [...new Set(types)];
  const known = all.filter((type) => type.startsWith('"'));
  // keeps the known values as suggestions
  return all.map((type) => (type === 'string' && known.length > 0 ? '(string & {})' : type)).join(' | ');
}

function grouped(type) {
  return / \| /.test(type.replace(/\{[\s\S]*\}/g, '')) ? `(${type})` : type;
}
