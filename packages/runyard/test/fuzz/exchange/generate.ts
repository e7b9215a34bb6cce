import type { Random } from '../../chaos/storm/random.js';
import type { Description } from '../../support/clients/api-check.js';
import { type Operation, type Parameter, resolved, type Schema } from '../description.js';
import { answered } from '../values/hints.js';
import { anyJson, brokenJson, hostileText, hugeText } from '../values/hostile.js';
import type { Asked, Known, Pool } from '../values/pool.js';
import { SchemaValues, textOf } from '../values/schema-values.js';
import type { FuzzBody, FuzzRequest, Pair, Part } from './request.js';

/** How wild a request is: how likely each of its values is one to break something with. */
type Wildness = number;

export interface GeneratorOptions {
  readonly description: Description;
  /** What the caller knows about, and may request. */
  readonly pool: Pool;
  readonly random: Random;
  /** How often a request is one that a good client would send. */
  readonly tame: number;
}

/** Makes one request for an operation. */
export function generate(operation: Operation, options: GeneratorOptions): FuzzRequest {
  return new Generator(operation, options).request();
}

class Generator {
  private readonly random: Random;
  private readonly values: SchemaValues;
  private readonly wildness: Wildness;
  /** Ids that belong together, so that the request is about something that is there. */
  private readonly about: Known;
  /** The open questions of the run that the request is about. */
  private readonly asked: Asked | undefined;

  constructor(
    private readonly operation: Operation,
    private readonly options: GeneratorOptions,
  ) {
    const { random, pool, description, tame } = options;
    this.random = random;
    this.values = new SchemaValues(description, pool, random);
    this.wildness = random.chance(tame) ? 0 : random.pick([0.1, 0.1, 0.3, 0.7]);
    const ids = operation.parameters.filter((one) => one.in === 'path' && /_id$/.test(one.name));
    const names = ids.map(({ name }) => name);
    const continued = /\/continue$/.test(operation.template) ? pool.waiting(names, random) : undefined;
    this.about = random.chance(0.85) ? (continued ?? pool.withAll(names, random) ?? {}) : {};
    this.asked = pool.asked(this.about.run_id ?? '');
  }

  request(): FuzzRequest {
    const { operation, random } = this;
    const { id, template } = operation;
    const path = Object.fromEntries(
      this.#of('path').map((parameter) => [parameter.name, this.#pathValue(parameter)]),
    );
    const query = this.#query();
    const headers = this.#of('header').flatMap((parameter) => this.#optional(parameter, 0.2));
    const body = this.#body();
    const method = this.#is(0.02) ? random.pick(['PUT', 'PATCH', 'DELETE', 'POST', 'GET']) : operation.method;
    return { operationId: id, method, template, path, query, headers, body };
  }

  #is(likelihood: number): boolean {
    return this.wildness > 0 && this.random.chance(likelihood);
  }

  #wild(): boolean {
    return this.random.chance(this.wildness);
  }

  #of(place: Parameter['in']): Parameter[] {
    return this.operation.parameters.filter((parameter) => parameter.in === place);
  }

  #pathValue({ name, schema }: Parameter): string {
    if (this.#wild()) return this.values.hostileText(schema, name).slice(0, 2000);
    return this.about[name] ?? textOf(this.values.fitting(schema, name));
  }

  #query(): Pair[] {
    const pairs = this.#of('query').flatMap((parameter) => this.#optional(parameter, 0.3));
    const [first] = pairs;
    if (first && this.#is(0.1)) pairs.push([first[0], hostileText(this.random)]);
    // what is fuzzed next needs the schema
    if (/\/migrate$/.test(this.operation.template)) return [...pairs, ['dry_run', 'true']];
    if (this.#is(0.15))
      pairs.push([hostileText(this.random).slice(0, 500), hostileText(this.random).slice(0, 500)]);
    return pairs;
  }

  /** A parameter is sent, or not; one that is a list is repeated. */
  #optional({ name, schema, required }: Parameter, likelihood: number): Pair[] {
    if (!required && !this.random.chance(likelihood + this.wildness / 3)) return [];
    if (this.#wild()) return [[name, this.values.hostileText(schema, name).slice(0, 3000)]];
    const known = this.random.chance(0.7) ? this.about[name] : undefined;
    const value = known ?? this.values.fitting(schema, name);
    const values = Array.isArray(value) ? value : [value];
    return values.map((one): Pair => [name, textOf(one)]);
  }

  #body(): FuzzBody | null {
    const { bodies } = this.operation;
    const { random } = this;
    if (bodies.length === 0) return this.#is(0.05) ? { kind: 'json', value: anyJson(random) } : null;
    if (this.#is(0.03)) return null;
    const [contentType, given] = random.pick(bodies);
    const schema = resolved(given, this.options.description);
    if (this.#is(0.06)) return this.#rawBody(contentType);
    if (contentType === 'application/json') return { kind: 'json', value: this.#json(schema) };
    const parts = this.#parts(schema);
    if (contentType === 'multipart/form-data') return { kind: 'multipart', parts };
    return { kind: 'urlencoded', fields: parts.map(({ name, content }) => [name, content] as const) };
  }

  #rawBody(contentType: string): FuzzBody {
    const { random } = this;
    const text = random.chance(0.6) ? brokenJson(random) : hugeText(random);
    const types = [
      'text/plain',
      'application/xml',
      '',
      'application/json; charset=utf-16',
      'multipart/form-data',
    ];
    return { kind: 'raw', contentType: random.chance(0.5) ? contentType : random.pick(types), text };
  }

  #json(schema: Schema): unknown {
    const { random } = this;
    if (this.#is(0.05)) return anyJson(random);
    if (schema.examples?.length && random.chance(0.2)) return random.pick(schema.examples);
    const members = this.#members(schema).map(([name, member]): [string, unknown] => [
      name,
      this.#wild() ? this.values.hostile(member, name) : this.#fitting(member, name),
    ]);
    if (this.#is(0.15)) members.push([hostileText(random).slice(0, 300), anyJson(random)]);
    return Object.fromEntries(members);
  }

  #parts(schema: Schema): Part[] {
    const { random } = this;
    const parts = this.#members(schema).flatMap(([name, member]) => this.#fieldParts(member, name));
    const [first] = parts;
    if (first && this.#is(0.08)) parts.push({ ...first, content: hostileText(random) });
    if (this.#is(0.1)) parts.push({ name: hostileText(random).slice(0, 300), content: hostileText(random) });
    if (this.#is(0.01))
      parts.push(...Array.from({ length: 250 }, (_all, at) => ({ name: `f${at}`, content: '' })));
    return parts;
  }

  #fieldParts(schema: Schema, name: string): Part[] {
    if (schema.items?.format === 'binary') return this.#files(name);
    if (this.#wild()) return [{ name, content: this.values.hostileText(schema, name) }];
    return [{ name, content: textOf(this.#fitting(schema, name)) }];
  }

  #files(name: string): Part[] {
    const { random } = this;
    return Array.from({ length: this.#is(0.05) ? 25 : random.between(1, 2) }, () => ({
      name,
      content: random.pick(['Hello', '', '\u0000\u0001PNG', '{"a":1}', 'a,b\n1,2', hugeText(random)]),
      filename: this.#wild()
        ? hostileText(random).slice(0, 500)
        : random.pick(['a.txt', 'b.png', 'c.csv', 'd.json']),
      contentType: this.#wild()
        ? hostileText(random).slice(0, 200)
        : random.pick(['text/plain', 'image/png', 'text/csv', 'application/json', 'application/pdf']),
    }));
  }

  /** The members that are sent: nearly always what is required, some of the others. */
  #members({ properties = {}, required = [] }: Schema): [string, Schema][] {
    const { random, wildness } = this;
    const few = 3 / Object.keys(properties).length;
    const others = this.asked === undefined ? Math.min(0.25, few) : 0.05;
    return Object.entries(properties).filter(([name]) =>
      required.includes(name) || this.#isAnswer(name)
        ? !this.#is(0.05)
        : random.chance(others + wildness / 4),
    );
  }

  /** Whether the field holds an answer to a question of the run. */
  #isAnswer(name: string): boolean {
    return this.asked !== undefined && /^(step_)?requirements$/.test(name);
  }

  #fitting(schema: Schema, name: string): unknown {
    const { random } = this;
    const { asked } = this;
    if (asked && name === 'tools') return JSON.stringify(answered(asked.tools ?? [], random));
    if (asked && this.#isAnswer(name)) return JSON.stringify(answered(asked.requirements, random));
    return (random.chance(0.3) ? this.about[name] : undefined) ?? this.values.fitting(schema, name);
  }
}
