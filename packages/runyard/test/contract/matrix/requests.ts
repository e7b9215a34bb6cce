import { patience } from '../../support/patience.js';
import type { Answer, TestService } from '../../support/service.js';
import { componentParameterOf, type Field, type Operation } from './operations.js';
import { excludedBy, namedBy, samples, sharedFields, type Things } from './things.js';
import { componentId, type Kind, kinds } from './world.js';

export interface Request {
  readonly operation: Operation;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly form?: Record<string, string>;
  readonly json?: Record<string, unknown>;
  /** All that it says, to distinguish an answer that repeats it from one that gives something away. */
  readonly text: string;
}

/** Where the values of a request come from: what it names of a user, and what it needs of the caller's own. */
interface Wording {
  /** The fields that name something of `target`. */
  readonly named: ReadonlySet<string>;
  readonly target: Things;
  /** For other values that have to exist. */
  readonly own: Things;
  readonly kind: Kind;
}

export function ownedIn({ fields }: Operation): Field[] {
  return fields.filter((field) => namedBy(field) !== undefined);
}

/** The kinds of what an operation is about: that of its path, or all. */
export function kindsOf(operation: Operation): readonly Kind[] {
  const parameter = componentParameterOf(operation);
  return parameter === undefined ? kinds : [parameter.replace('_id', '') as Kind];
}

export function requestOf(operation: Operation, wording: Wording): Request {
  const values = valuesOf(operation, wording);
  const of = (place: Field['place']) =>
    operation.fields.flatMap((field) => {
      const value = field.place === place ? values.get(field) : undefined;
      return value === undefined ? [] : [[field.name, value] as const];
    });
  const query = of('query').flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}=${encodeURIComponent(textOf(one))}`),
  );
  const inPath = new Map(of('path').map(([name, value]) => [name, encodeURIComponent(textOf(value))]));
  const plain = operation.template.replace(/\{(\w+)\}/g, (_all, name: string) => inPath.get(name)!);
  const path = query.length === 0 ? plain : `${plain}?${query.join('&')}`;
  const texts = (place: Field['place']) =>
    Object.fromEntries(of(place).map(([name, value]) => [name, textOf(value)]));
  const body = Object.fromEntries(of('body'));
  return {
    ...{ operation, path, headers: texts('header') },
    ...(operation.accepts === 'form' && { form: texts('body') }),
    ...(operation.accepts === 'json' && { json: body }),
    text: decodeURIComponent(path) + JSON.stringify([body, texts('header')]),
  };
}

function valuesOf(operation: Operation, { named, target, own, kind }: Wording): Map<Field, unknown> {
  const values = new Map<Field, unknown>();
  const inBody = new Set(operation.fields.filter(({ place }) => place === 'body').map(({ name }) => name));
  const isNamed = (name: string) => inBody.has(name) && named.has(name);
  for (const field of operation.fields) {
    const { name, place, required } = field;
    const value = namedBy(field);
    if (place === 'body' && excludedBy[name]?.some(isNamed)) continue;
    if (value !== undefined && named.has(name)) values.set(field, value(target));
    else if (value !== undefined && required) values.set(field, value(own));
    else if (place === 'body' && Object.hasOwn(samples, name)) values.set(field, samples[name]);
    // what executes the cases of a dataset
    else if (name === 'agent_id' && isNamed('dataset_id')) values.set(field, componentId);
    else if (required) values.set(field, neededValue(operation, field, kind));
  }
  return values;
}

function neededValue(operation: Operation, { name, schema }: Field, kind: Kind): unknown {
  if (name === componentParameterOf(operation)) return componentId;
  if (sharedFields.has(name)) return name === 'message_index' ? 1 : 'absent';
  if (schema.enum !== undefined) return schema.enum.includes(kind) ? kind : schema.enum[0];
  if (schema.type === 'object') return {};
  if (schema.type === 'array') return [];
  if (schema.type === 'boolean') return false;
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  return 'text';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export async function sent(
  service: TestService,
  request: Request,
  caller: Record<string, string>,
): Promise<Answer> {
  try {
    return await exchanged(service, request, { ...request.headers, ...caller });
  } catch (error) {
    throw new Error(`${request.operation.method} ${request.path} ${request.text}`, { cause: error });
  }
}

function exchanged(
  service: TestService,
  { operation: { method }, path, form, json }: Request,
  headers: Record<string, string>,
): Promise<Answer> {
  // a stream without an end is given up
  const signal = AbortSignal.timeout(patience());
  if (form !== undefined) return service.submit(path, form, { headers, encoding: 'urlencoded', signal });
  if (json === undefined) return service.call(method, path, { headers, signal });
  const typed = { ...headers, 'content-type': 'application/json' };
  return service.call(method, path, { headers: typed, body: JSON.stringify(json), signal });
}

/** Whether it only reads. */
export function isView({ method, name }: Operation): boolean {
  return method === 'GET' || /\/(resume|search)$/.test(name);
}

/** Whether it changes nothing, as the requests of these tests say it. */
export function isSafe(operation: Operation): boolean {
  return isView(operation) || operation.name === 'POST /optimize-memories';
}

const atOnce = 4;

/** Does it for all of them, several at a time. */
export async function together<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items].reverse();
  const next = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}
