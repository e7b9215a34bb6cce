import { z } from 'zod';
import { pathTemplate, type ResponseDescription, type Route } from '../route.js';
import { partsOf, requestBodyOf } from './openapi-bodies.js';
import { apiErrors, hintHeader, problemSchemas } from './openapi-errors.js';
import { SchemaCollection } from './openapi-schemas.js';

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

/** The API description of a service, made at the first use. */
export interface ApiDescription {
  document(basePath?: string): OpenApiDocument;
  /** The document as text, serialised once for each place where the service is mounted. */
  json(basePath?: string): string;
}

type Operation = Record<string, unknown>;

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: ApiInfo;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
}

/** Values for parameters of paths by their names, such as an id that exists: API browsers fill them in. */
export type PathExamples = Readonly<Record<string, string>>;

/** What the service offers, derived from its routes: nothing in it is written a second time. */
export function describeApi<Services>(
  routes: readonly Route<Services>[],
  info: ApiInfo,
  examples: PathExamples = {},
): ApiDescription {
  const texts = new Map<string, string>();
  const document = (basePath = '') => buildDocument(routes, info, examples, basePath);
  return {
    document,
    json(basePath = '') {
      const text = texts.get(basePath) ?? JSON.stringify(document(basePath));
      texts.set(basePath, text);
      return text;
    },
  };
}

/** The part that depends on the routes alone. It takes a while, and the services of a process share one table. */
type Operations = Pick<OpenApiDocument, 'tags' | 'paths' | 'components'>;
const describedTables = new WeakMap<object, Operations>();

function buildDocument<Services>(
  routes: readonly Route<Services>[],
  info: ApiInfo,
  examples: PathExamples,
  basePath: string,
): OpenApiDocument {
  const operations = describedTables.get(routes) ?? operationsOf(routes);
  describedTables.set(routes, operations);
  const { tags, components } = operations;
  const paths = withExamples(operations.paths, examples);
  const servers = [{ url: basePath === '' ? '/' : basePath }];
  return { openapi: '3.1.0', info, servers, tags, paths, components };
}

function withExamples(paths: OpenApiDocument['paths'], examples: PathExamples): OpenApiDocument['paths'] {
  const filled = (parameter: Operation) => {
    const example = parameter.in === 'path' ? examples[String(parameter.name)] : undefined;
    return example === undefined ? parameter : { ...parameter, example };
  };
  const operation = ([method, { parameters, ...rest }]: [string, Operation]) => [
    method,
    Array.isArray(parameters) ? { ...rest, parameters: parameters.map(filled) } : rest,
  ];
  const path = ([name, methods]: [string, Readonly<Record<string, Operation>>]) => [
    name,
    Object.fromEntries(Object.entries(methods).map(operation)),
  ];
  return Object.fromEntries(Object.entries(paths).map(path));
}

function operationsOf<Services>(routes: readonly Route<Services>[]): Operations {
  const documented = routes.filter((route) => !route.undocumented);
  refuseRepeatedIds(documented);
  const schemas = new SchemaCollection(problemSchemas);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of documented) {
    const path = pathTemplate(route.path);
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operationOf(route, schemas);
  }
  return {
    tags: [...new Set(documented.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.components(),
      responses: Object.fromEntries(Object.values(apiErrors).map(({ name, response }) => [name, response])),
      securitySchemes: {
        HTTPBearer: { type: 'http', scheme: 'bearer', description: 'The access token of the caller.' },
      },
    },
  };
}

function refuseRepeatedIds<Services>(routes: readonly Route<Services>[]): void {
  const seen = new Set<string>();
  for (const { operationId, method, path } of routes) {
    if (seen.has(operationId))
      throw new Error(`The operation id ${operationId} of ${method} ${path} is taken.`);
    seen.add(operationId);
  }
}

function operationOf<Services>(route: Route<Services>, schemas: SchemaCollection): Operation {
  const parameters = [
    ...parametersOf('path', route.params, schemas),
    ...parametersOf('query', route.query, schemas),
    ...parametersOf('header', route.headers, schemas),
  ];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? undefined : { description: route.description }),
    ...(route.addition ? { 'x-addition': true } : undefined),
    ...(route.scope ? { 'x-scope': route.scope } : undefined),
    security: route.public ? [] : [{ HTTPBearer: [] }],
    ...(parameters.length > 0 ? { parameters } : undefined),
    ...(route.body ? { requestBody: requestBodyOf(route, route.body, schemas) } : undefined),
    responses: responsesOf(route, schemas),
  };
}

function parametersOf(
  place: 'path' | 'query' | 'header',
  schema: z.ZodType | undefined,
  schemas: SchemaCollection,
): Operation[] {
  if (!schema) return [];
  const { properties, required } = partsOf(schemas.inline(schema));
  return properties.map(([name, { description, ...property }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description === undefined ? undefined : { description }),
    schema: property,
  }));
}

function responsesOf<Services>(route: Route<Services>, schemas: SchemaCollection): Operation {
  const responses: Operation = {};
  for (const [status, response] of Object.entries(route.responses)) {
    responses[status] = withHint(route, responseOf(response, schemas));
  }
  for (const [status, { name, applies }] of Object.entries(apiErrors)) {
    if (applies(route)) responses[status] ??= { $ref: `#/components/responses/${name}` };
  }
  return responses;
}

/** Answers to a request with fields may say which of them was misspelt. */
function withHint<Services>({ body }: Route<Services>, response: Operation): Operation {
  if (body === undefined) return response;
  return { ...response, headers: { ...Object(response.headers), ...hintHeader } };
}

function responseOf(response: z.ZodType | ResponseDescription, schemas: SchemaCollection): Operation {
  const {
    description,
    schema,
    events,
    headers,
    contentType = 'application/json',
  } = response instanceof z.ZodType
    ? { schema: response, description: undefined, events: undefined, headers: undefined }
    : response;
  const content: Operation = {};
  if (schema) content[contentType] = { schema: schemas.add(schema, 'output') };
  else if (contentType !== 'application/json') content[contentType] = { schema: { type: 'string' } };
  if (events !== undefined)
    content['text/event-stream'] = { schema: { type: 'string', description: events } };
  return {
    description: description ?? metaDescription(schema) ?? 'The request was successful.',
    ...(headers === undefined ? undefined : { headers: headersOf(headers) }),
    ...(Object.keys(content).length > 0 ? { content } : undefined),
  };
}

function headersOf(headers: Readonly<Record<string, string>>): Operation {
  const described = ([name, description]: [string, string]) => [
    name,
    { description, schema: { type: 'string' } },
  ];
  return Object.fromEntries(Object.entries(headers).map(described));
}

function metaDescription(schema: z.ZodType | undefined): string | undefined {
  return schema && z.globalRegistry.get(schema)?.description;
}
