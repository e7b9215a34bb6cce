import { routes } from '../../../src/capabilities/capabilities.js';
import type { Services } from '../../../src/capabilities/capability.js';
import { consoleRoutes } from '../../../src/platform/http/console/routes.js';
import { documentationRoutes } from '../../../src/platform/http/openapi/docs.js';
import { describeApi } from '../../../src/platform/http/openapi/openapi.js';
import { pathTemplate, type Route } from '../../../src/platform/http/route.js';

/** A JSON schema, as far as values are made up from it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
}

export interface Field {
  readonly name: string;
  readonly place: 'path' | 'query' | 'header' | 'body';
  readonly required: boolean;
  readonly schema: Schema;
}

/** A route of the service, with everything that a request to it can say. */
export interface Operation {
  /** As the contract writes it: `GET /agents/{agent_id}`. */
  readonly name: string;
  readonly method: string;
  readonly template: string;
  /** Any one of these is enough; none are needed when it is empty. */
  readonly scopes: readonly string[];
  readonly isPublic: boolean;
  readonly accepts: 'json' | 'form' | 'bytes' | null;
  readonly fields: readonly Field[];
}

interface Published {
  readonly parameters?: readonly (Omit<Field, 'place'> & { readonly in: Field['place'] })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

const info = { title: 'All routes', version: '0' };

/** Those that are left out of the description too. */
const allRoutes: readonly Route<Services>[] = [
  ...routes,
  ...documentationRoutes(describeApi([], info), true),
  ...consoleRoutes,
];

const described = describeApi(
  allRoutes.map((route) => ({ ...route, undocumented: false })),
  info,
).document();

/** The whole route table: a route that is added is in it by itself. */
export const operations: readonly Operation[] = allRoutes.map((route) => {
  const template = pathTemplate(route.path);
  const published = described.paths[template]?.[route.method.toLowerCase()] as Published;
  const { scope } = route;
  return {
    name: `${route.method} ${template}`,
    method: route.method,
    template,
    scopes: typeof scope === 'string' ? [scope] : (scope ?? []),
    isPublic: route.public === true,
    accepts: route.body === undefined ? null : (route.accepts ?? 'json'),
    fields: [...parametersOf(published), ...bodyFieldsOf(published)],
  };
});

function parametersOf({ parameters = [] }: Published): Field[] {
  return parameters.map(({ name, in: place, required, schema }) => ({ name, place, required, schema }));
}

function bodyFieldsOf({ requestBody }: Published): Field[] {
  const [content] = Object.values(requestBody?.content ?? {});
  if (content === undefined) return [];
  const { properties = {}, required = [] } = resolved(content.schema);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    place: 'body',
    required: required.includes(name),
    schema: resolved(schema),
  }));
}

function resolved(schema: Schema): Schema {
  if (schema.anyOf !== undefined) {
    return resolved(schema.anyOf.find(({ type }) => type !== 'null') ?? {});
  }
  if (schema.$ref === undefined) return schema;
  const schemas = described.components.schemas as Readonly<Record<string, Schema>>;
  return resolved(schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {});
}

/** The parameters of the paths of components, of which each has scopes of its own. */
const componentParameters = ['agent_id', 'team_id', 'workflow_id'] as const;

type ComponentParameter = (typeof componentParameters)[number];

/** The parameter that names the component of a path, if there is one. */
export function componentParameterOf({ fields }: Operation): ComponentParameter | undefined {
  return componentParameters.find((parameter) =>
    fields.some(({ name, place }) => place === 'path' && name === parameter),
  );
}
