import type { Json, JsonObject } from '../../json.js';
import { fitsPattern, textMatching } from './match-pattern.js';
import { choicesOf, propertiesOf, requiredOf, SchemaReader, typeOf } from './schema-parts.js';
import { enumerated, namesIn, numbersIn, quotedIn, sentences, statedValue, words } from './words.js';

/** A value that fits the schema, with what the text offers where it fits and made-up values elsewhere. */
export function fillSchema(schema: JsonObject, text: string): Json {
  return new SchemaFiller(schema, text).fill();
}

const examples: Record<string, string> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  'idn-email': 'someone@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  iri: 'https://example.com/',
  'uri-reference': '/',
  'uri-template': '/{id}',
  uuid: '00000000-0000-4000-8000-000000000000',
  guid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  'json-pointer': '/a',
  'relative-json-pointer': '0',
  regex: '.*',
  byte: 'YQ==',
  base64: 'YQ==',
};

/** Where a text may hold a value of a format. */
const formatsInText: Record<string, RegExp> = {
  date: /\b\d{4}-\d{2}-\d{2}\b/,
  'date-time': /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/,
  email: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/,
  uri: /https?:\/\/[^\s"'<>]+[^\s"'<>.,;!?)]/,
  url: /https?:\/\/[^\s"'<>]+[^\s"'<>.,;!?)]/,
  uuid: /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/i,
  ipv4: /\b(?:\d{1,3}\.){3}\d{1,3}\b/,
};

const deepest = 12;
/** From this depth on, what may be null is null: lists and trees of themselves come to an end. */
const deepEnough = 4;
const mostValues = 5_000;
const mostItems = 1_000;
/** How long all texts together may become, and how many patterns are tried. */
const mostText = 200_000;
const mostPatterns = 100;

class SchemaFiller {
  readonly #reader: SchemaReader;
  readonly #numbers: number[];
  readonly #quoted: string[];
  readonly #names: string[];
  #written = 0;
  #room = mostText;
  #patterns = mostPatterns;

  constructor(
    readonly root: JsonObject,
    readonly text: string,
  ) {
    this.#reader = new SchemaReader(root);
    this.#numbers = numbersIn(text);
    this.#quoted = quotedIn(text);
    this.#names = namesIn(text);
  }

  fill(): Json {
    return this.#value(this.root, '', 0);
  }

  #value(unresolved: unknown, name: string, depth: number): Json {
    if (++this.#written > mostValues) return null;
    if (depth >= deepEnough && this.#reader.acceptsNull(unresolved)) return null;
    const schema = this.#reader.plain(unresolved);
    const choices = choicesOf(schema);
    if (choices && choices.length > 0) return this.#choice(choices, name);
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, name, depth);
      case 'number':
      case 'integer':
        return this.#number(schema, name);
      case 'boolean':
        return this.#boolean(name);
      case 'null':
        return null;
      default:
        return this.#string(schema, name);
    }
  }

  #choice(choices: readonly Json[], name: string): Json {
    const said = statedValue(name, this.text)?.toLowerCase();
    const spoken = new Set(words(this.text));
    const chosen =
      choices.find((choice) => String(choice).toLowerCase() === said) ??
      choices.find(
        (choice) => words(String(choice)).every((word) => spoken.has(word)) && String(choice) !== '',
      ) ??
      choices.find((choice) => choice !== null) ??
      null;
    return chosen;
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const value: JsonObject = {};
    const required = requiredOf(schema);
    const properties = new Map(propertiesOf(schema));
    for (const [name, property] of properties) {
      const wanted = required.has(name) || (depth < 3 && this.#isMentioned(name, property));
      if (wanted && depth < deepest) value[name] = this.#value(property, name, depth + 1);
    }
    const open =
      typeof schema.additionalProperties === 'object' ? schema.additionalProperties : { type: 'string' };
    for (const name of required) if (!properties.has(name)) value[name] = this.#value(open, name, depth + 1);
    const least = Math.min(bound(schema.minProperties, 0), mostItems);
    for (const [name, property] of properties) {
      if (Object.keys(value).length < least && !(name in value))
        value[name] = this.#value(property, name, depth + 1);
    }
    for (let extra = 1; Object.keys(value).length < least && extra <= least; extra++) {
      value[`property${extra}`] = this.#value(open, '', depth + 1);
    }
    return value;
  }

  /** Optional properties are filled only with what the text really says. */
  #isMentioned(name: string, property: unknown): boolean {
    if (statedValue(name, this.text) !== undefined) return true;
    const format = this.#reader.plain(property).format;
    return typeof format === 'string' && formatsInText[format]?.test(this.text) === true;
  }

  #array(schema: JsonObject, name: string, depth: number): Json[] {
    const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    const values = prefix.map((item) => this.#value(item, name, depth + 1));
    const least = Math.min(bound(schema.minItems, 0), mostItems);
    const most = bound(schema.maxItems, Number.POSITIVE_INFINITY);
    if (schema.items === false || depth >= deepest) return values;
    const items = this.#reader.plain(schema.items);
    const listed = values.length === 0 ? this.#listed(items, name) : [];
    for (const value of listed) if (values.length < most && !values.includes(value)) values.push(value);
    if (schema.uniqueItems === true) this.#addDifferent(values, least, items, name, depth);
    while (values.length < least && this.#written < mostValues)
      values.push(this.#value(items, name, depth + 1));
    return values;
  }

  /** Makes the list as long as it has to be without saying anything twice, as far as there is more to say. */
  #addDifferent(values: Json[], least: number, items: JsonObject, name: string, depth: number): void {
    const seen = new Set(values.map((value) => JSON.stringify(value)));
    const add = (value: Json): boolean => {
      const text = JSON.stringify(value);
      if (seen.has(text)) return false;
      seen.add(text);
      values.push(value);
      return true;
    };
    for (const choice of choicesOf(items) ?? []) {
      if (values.length >= least || ++this.#written > mostValues) break;
      add(choice);
    }
    while (values.length < least && this.#written < mostValues) {
      const value = this.#value(items, name, depth + 1);
      if (!add(value) && !add(another(value, values, items))) return;
    }
  }

  /** The members that the text lists for an array: all its numbers, its quotations, its named choices. */
  #listed(items: JsonObject, name: string): Json[] {
    const choices = choicesOf(items);
    const spoken = new Set(words(this.text));
    if (choices) return choices.filter((choice) => words(String(choice)).every((word) => spoken.has(word)));
    const type = typeOf(items);
    if (type === 'number' || type === 'integer') {
      return this.#numbers.splice(0).map((number) => withinBounds(number, items));
    }
    if (type !== 'string' || items.format !== undefined || items.pattern !== undefined) return [];
    const after = new RegExp(`${words(name).join('[\\s_-]*')}\\s*(?:=|:|are|is)\\s*([^.;\\n]+)`, 'i').exec(
      this.text,
    )?.[1];
    const found = name !== '' && after ? enumerated(after) : this.#quoted.splice(0);
    return found.map((part) => this.#fitLength(part.trim(), items));
  }

  #number(schema: JsonObject, name: string): number {
    const said = Number(statedValue(name, this.text) ?? Number.NaN);
    if (Number.isFinite(said)) {
      const used = this.#numbers.indexOf(said);
      if (used !== -1) this.#numbers.splice(used, 1);
      return withinBounds(said, schema);
    }
    const next = this.#numbers.findIndex((number) => isWithinBounds(number, schema));
    const [given = withinBounds(0, schema)] = next === -1 ? [] : this.#numbers.splice(next, 1);
    return given;
  }

  #boolean(name: string): boolean {
    const said = statedValue(name, this.text)?.toLowerCase();
    if (said !== undefined) return ['true', 'yes', 'on', '1'].includes(said);
    return /\b(yes|true)\b/i.test(this.text) || false;
  }

  #string(schema: JsonObject, name: string): string {
    const { format, pattern } = schema;
    if (typeof pattern === 'string' && --this.#patterns < 0) return examples[String(format)] ?? 'text';
    const verdict = (text: string) => (typeof pattern === 'string' ? fitsPattern(pattern, text) : true);
    if (typeof format === 'string' && examples[format] !== undefined) {
      const found = formatsInText[format]?.exec(this.text)?.[0];
      return found !== undefined && verdict(found) !== false ? found : examples[format];
    }
    const candidate = this.#fitLength(this.#phrase(name), schema);
    if (verdict(candidate) === true) return candidate;
    return (typeof pattern === 'string' ? textMatching(pattern) : undefined) ?? candidate;
  }

  #fitLength(text: string, schema: JsonObject): string {
    const room = Math.max(this.#room, 10);
    const least = Math.min(bound(schema.minLength, 0), room);
    const most = Math.min(bound(schema.maxLength, room), room);
    const fitted = [...text.padEnd(least, '.')].slice(0, most).join('');
    this.#room -= fitted.length;
    return fitted;
  }

  #phrase(name: string): string {
    const said = statedValue(name, this.text);
    if (said !== undefined) return said;
    const isName = /name|person|author|city|place|country|location|title/i.test(name);
    return (
      (isName ? this.#names.shift() : undefined) ??
      this.#quoted.shift() ??
      sentences(this.text)[0] ??
      (name || 'text')
    );
  }
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** A value beside those that there are. */
function another(value: Json, values: readonly Json[], items: JsonObject): Json {
  if (typeof value === 'number') return Math.max(...values.map(Number)) + bound(items.multipleOf, 1);
  return typeof value === 'string' ? `${value}${values.length + 1}` : value;
}

function isWithinBounds(number: number, schema: JsonObject): boolean {
  return withinBounds(number, schema) === number;
}

/** The nearest number that the schema allows. */
function withinBounds(number: number, schema: JsonObject): number {
  const whole = typeOf(schema) === 'integer';
  const step = bound(schema.multipleOf, whole ? 1 : 0);
  const nudge = step || 1e-6;
  // Older schemas mark an exclusive bound with `true` beside the bound itself.
  const aboveMinimum =
    schema.exclusiveMinimum === true ? bound(schema.minimum, -Infinity) + nudge : -Infinity;
  const belowMaximum = schema.exclusiveMaximum === true ? bound(schema.maximum, Infinity) - nudge : Infinity;
  const least = Math.max(
    bound(schema.minimum, -Infinity),
    bound(schema.exclusiveMinimum, -Infinity) + nudge,
    aboveMinimum,
  );
  const most = Math.min(
    bound(schema.maximum, Infinity),
    bound(schema.exclusiveMaximum, Infinity) - nudge,
    belowMaximum,
  );
  const clamped = Math.min(Math.max(number, least), most);
  if (step === 0) return clamped;
  const rounded = Math.round(clamped / step) * step;
  if (rounded < least) return Math.ceil(least / step) * step;
  return rounded > most ? Math.floor(most / step) * step : rounded;
}
