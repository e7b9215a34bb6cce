import type { Description } from '../support/clients/api-check.js';

/** A JSON schema as the description has it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly examples?: readonly unknown[];
  readonly contentMediaType?: string;
  readonly contentSchema?: Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

/** One operation of the published description. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly template: string;
  /** Any one of these lets a caller in; none are needed for null. */
  readonly scopes: readonly string[] | null;
  readonly isPublic: boolean;
  readonly parameters: readonly Parameter[];
  /** Content types with the schema of what is sent so. */
  readonly bodies: readonly (readonly [contentType: string, schema: Schema])[];
}

interface Published {
  readonly operationId: string;
  readonly 'x-scope'?: string | readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

export function operationsOf({ paths }: Description): Operation[] {
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationOf(method, template, operation as unknown as Published),
    ),
  );
}

function operationOf(method: string, template: string, published: Published): Operation {
  const scope = published['x-scope'];
  const content = Object.entries(published.requestBody?.content ?? {});
  return {
    id: published.operationId,
    method: method.toUpperCase(),
    template,
    scopes: scope === undefined ? null : typeof scope === 'string' ? [scope] : scope,
    isPublic: published.security?.length === 0,
    parameters: published.parameters ?? [],
    bodies: content.map(([contentType, { schema }]) => [contentType, schema] as const),
  };
}

/** Follows references until there is a schema. */
export function resolved(schema: Schema, description: Description): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.replace('#/components/schemas/', '');
  const found = description.components.schemas[name] as Schema | undefined;
  if (found === undefined) throw new Error(`The description refers to ${schema.$ref}, which is not there`);
  return resolved(found, description);
}
