import type { Json, JsonObject } from '../../json.js';
import type { ToolDefinition } from '../model.js';
import { choicesOf, propertiesOf, requiredOf, SchemaReader, typeOf } from './schema-parts.js';
import { enumerated, namesIn, numbersIn, quotedIn, statedValue, words } from './words.js';

/** The arguments of a tool as the message states them; undefined when one that is required is not there. */
export function readArguments(tool: ToolDefinition, message: string): JsonObject | undefined {
  return new ArgumentReader(tool, message).read();
}

/** Parameters that take a piece of text as a whole. */
const freeText =
  /text|query|question|message|content|note|prompt|input|task|fact|topic|expression|term|what|value|body/i;
const formats: Record<string, RegExp> = {
  email: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/,
  uri: /https?:\/\/[^\s"'<>]+[^\s"'<>.,;!?)]/,
  date: /\b\d{4}-\d{2}-\d{2}\b/,
  'date-time': /\b\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})/,
  uuid: /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/i,
};

class ArgumentReader {
  readonly #reader: SchemaReader;
  readonly #numbers: number[];
  readonly #quoted: string[];
  readonly #names: string[];

  constructor(
    readonly tool: ToolDefinition,
    readonly message: string,
  ) {
    this.#reader = new SchemaReader(tool.inputSchema);
    this.#numbers = numbersIn(message);
    this.#quoted = quotedIn(message);
    this.#names = namesIn(message);
  }

  read(): JsonObject | undefined {
    return this.#object(this.#reader.plain(this.tool.inputSchema), 0);
  }

  #object(schema: JsonObject, depth: number): JsonObject | undefined {
    const args: JsonObject = {};
    const required = requiredOf(schema);
    for (const [name, property] of propertiesOf(schema)) {
      const value = this.#value(this.#reader.plain(property), name, required.has(name), depth);
      if (value !== undefined) args[name] = value;
      else if (required.has(name)) return undefined;
    }
    return args;
  }

  /** What is optional is taken only from where it is named: guesses are for what cannot be left out. */
  #value(schema: JsonObject, name: string, required: boolean, depth: number): Json | undefined {
    const choices = choicesOf(schema);
    if (choices) return this.#choice(choices, name);
    const said = statedValue(name, this.message);
    switch (typeOf(schema)) {
      case 'integer':
      case 'number':
        return this.#number(said, required, typeOf(schema) === 'integer');
      case 'boolean':
        return readBoolean(said ?? (required ? this.message : undefined));
      case 'array':
        return required ? this.#array(this.#reader.plain(schema.items)) : undefined;
      case 'object':
        return required && depth < 4 ? this.#object(schema, depth + 1) : undefined;
      case 'string':
        return this.#string(schema, name, said, required);
      default:
        return undefined;
    }
  }

  #choice(choices: readonly Json[], name: string): Json | undefined {
    const said = statedValue(name, this.message)?.toLowerCase();
    const spoken = new Set(words(this.message));
    return (
      choices.find((choice) => String(choice).toLowerCase() === said) ??
      choices.find((choice) => words(String(choice)).every((word) => spoken.has(word)))
    );
  }

  #number(said: string | undefined, required: boolean, whole: boolean): number | undefined {
    const named = said === undefined || said === '' ? Number.NaN : Number(said);
    const accepts = (number: number) => Number.isFinite(number) && (!whole || Number.isInteger(number));
    const at = accepts(named)
      ? this.#numbers.indexOf(named)
      : required
        ? this.#numbers.findIndex(accepts)
        : -1;
    const [taken] = at === -1 ? [] : this.#numbers.splice(at, 1);
    return accepts(named) ? named : taken;
  }

  #array(items: JsonObject): Json[] | undefined {
    const type = typeOf(items);
    if (type === 'number' || type === 'integer') {
      return this.#numbers.length > 0 ? this.#numbers.splice(0) : undefined;
    }
    if (type !== 'string') return undefined;
    const quoted = this.#quoted.splice(0);
    if (quoted.length > 0) return quoted;
    const list = /:\s*(.+)$/s.exec(this.message)?.[1] ?? '';
    const parts = enumerated(list);
    return parts.length > 0 ? parts : undefined;
  }

  #string(schema: JsonObject, name: string, said: string | undefined, required: boolean): string | undefined {
    const format = typeof schema.format === 'string' ? formats[schema.format] : undefined;
    if (format) return format.exec(this.message)?.[0];
    if (said !== undefined) return said;
    if (!required) return undefined;
    return (
      this.#quoted.shift() ??
      (freeText.test(name) ? this.#remainder() : undefined) ??
      this.#names.shift() ??
      this.#afterPreposition()
    );
  }

  /** What follows the word that made us think of the tool: “remember that I like tea” leaves “I like tea”. */
  #remainder(): string | undefined {
    const named = [
      ...words(this.tool.name),
      'save',
      'note',
      'find',
      'look up',
      'the',
      'a',
      'my',
      'your',
    ].join('|');
    const after = new RegExp(
      `\\b(?:${named})(?:s|ed|ing)?\\b(?:\\s+(?:${named}))*\\s*(?:for|that|about|:)?\\s*(.+)$`,
      'is',
    );
    const text = (after.exec(this.message)?.[1] ?? this.message).trim().replace(/[.?!]+$/, '');
    return text || undefined;
  }

  /** The word after the last preposition: “weather in paris”. */
  #afterPreposition(): string | undefined {
    const found = [
      ...this.message.matchAll(
        /\b(?:in|for|of|at|to|from|about|on|with|named|called)\s+([\p{L}\p{N}'’-]+)/giu,
      ),
    ];
    return found.at(-1)?.[1];
  }
}

function readBoolean(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (/\b(?:true|yes|on)\b/i.test(text)) return true;
  return /\b(?:false|no|off|not)\b/i.test(text) ? false : undefined;
}
