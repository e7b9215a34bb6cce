import { errors, type ValidationItem } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import type { Caller } from '../auth/caller.js';
import { fieldsIn } from './request/fields.js';
import { JsonForms } from './request/json-body.js';
import { type RequestPart, validatePart } from './request/validation.js';
import { ContentReply, EventStreamReply, JsonPiecesReply, Reply } from './response/results.js';
import type { ResolveCaller, Route, RouteRequest } from './route.js';

/** What code gives to a route, by the names of the wire. */
export interface RouteInput {
  readonly params?: Readonly<Record<string, string>>;
  /** Numbers and booleans as they are. */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: object | undefined;
}

/**
 * The request of a caller within this process, as the route's handler gets it: the same rights and the same validation,
 * without HTTP. Code that misspells a field is refused; a request that does so is read without it.
 */
export async function routeRequest(
  route: Route<never>,
  { params = {}, query = {}, body }: RouteInput,
  acting: Caller,
  resolveCaller: ResolveCaller,
): Promise<RouteRequest<unknown, unknown, unknown>> {
  const { method, path, scope = null } = route;
  const address = { clientAddress: '', basePath: '', headers: {} };
  const { basePath, headers } = address;
  const access = {
    method,
    path: pathOf(path, params),
    headers,
    scope,
    params,
    client: address,
    basePath,
    acting,
  };
  const caller = route.public === true ? acting : await resolveCaller(access);
  const items: ValidationItem[] = [];
  const read = (part: RequestPart, schema: Route<never>['body'], value: unknown, isForm = false) => {
    if (schema === undefined) return undefined;
    const checked = validatePart(part, schema, value, isForm);
    if (checked.ok) return checked.value;
    items.push(...checked.items);
    return undefined;
  };
  const isForm = route.accepts === 'form';
  items.push(...unknownFields('query', route.query, query), ...unknownFields('body', route.body, body));
  const request = {
    params: read('path', route.params, params),
    query: read('query', route.query, queryTexts(query)),
    body: read('body', route.body, bodyOf(route, body), isForm),
  };
  if (items.length > 0) throw errors.invalidRequest(items);
  const { signal } = new AbortController();
  const spend = () => {};
  return { ...request, ...address, caller, signal, requestId: newId(), calledAddress: '', spend };
}

/** The body that a client would receive, as a value of its own. */
export async function replyBody(reply: unknown): Promise<unknown> {
  if (reply instanceof JsonPiecesReply) {
    let text = '';
    for await (const piece of reply.pieces) text += piece;
    return JSON.parse(text);
  }
  if (reply instanceof ContentReply || reply instanceof EventStreamReply)
    throw new Error('This route answers with something else than JSON.');
  return copied(reply instanceof Reply ? reply.body : reply);
}

/** Nothing that code does to a body reaches the service, and the other way round. */
function copied(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function bodyOf(route: Route<never>, body: object | undefined): unknown {
  const value = copied(body);
  if (route.accepts !== 'form') return value;
  // what is an object stays one as JSON
  return new JsonForms(route.body).fieldsOf((value ?? {}) as JsonObject);
}

/** A query holds texts. */
function queryTexts(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, textOf(value)]));
}

function textOf(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

function unknownFields(
  part: 'query' | 'body',
  schema: Route<never>['body'],
  given: object | undefined,
): ValidationItem[] {
  const known = fieldsIn(schema).map(([name]) => name);
  // a schema that is no plain object refuses for itself
  if (given === undefined || (schema !== undefined && known.length === 0)) return [];
  return Object.entries(given)
    .filter(([name, value]) => value !== undefined && !known.includes(name))
    .map(([name]) => ({
      type: 'extra_forbidden',
      loc: [part, name],
      msg: `there is no such field. The fields are ${known.join(', ')}`,
      input: null,
    }));
}

function pathOf(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''));
}
