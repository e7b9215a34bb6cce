import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { isNative } from '../native-code.js';
import { withoutUndefined } from '../objects.js';
import { jsonSchemaOf } from '../schemas/value-schema.js';
import { collectFixedTools } from '../tools/collect-tools.js';
import type { Tool } from '../tools/tool.js';
import type { ToolSource } from '../tools/tool-source.js';
import { Toolkit } from '../tools/toolkit.js';

/** Where code comes from: that of Runyard, or that of the application, whose files are its own business. */
export function moduleOf(made: object): string {
  return isNative(made) ? 'runyard' : 'application';
}

/** What a model sees of a tool: arguments that a person fills in are no part of it. */
export function toolFacts(tool: Tool): JsonObject {
  const { gate, name } = tool;
  const parameters = parametersOf(tool);
  return withoutUndefined({
    module: moduleOf(tool),
    qualname: name,
    has_entrypoint: !gate.externalExecution,
    ...(parameters !== undefined && { parameters, signature: signatureOf(parameters) }),
    return_annotation: resultOf(tool),
    ...(gate.requiresConfirmation !== false && { requires_confirmation: true }),
    ...(gate.externalExecution && { external_execution: true }),
    ...(gate.approval !== undefined && { approval_type: gate.approval }),
  });
}

/** The tools of a kit; what a source has is known only when it is asked. */
export function toolsOfKit(kit: Toolkit | ToolSource): JsonObject[] {
  if (!(kit instanceof Toolkit)) return [];
  const { tools } = collectFixedTools(`Toolkit '${kit.name}'`, [kit]);
  return Array.from(tools.values(), (tool) => ({
    name: tool.name,
    description: tool.description,
    ...toolFacts(tool),
  }));
}

/** Faults of a schema are reported where it is used. */
function parametersOf(tool: Tool): JsonObject | undefined {
  try {
    return tool.definition.inputSchema;
  } catch {
    return undefined;
  }
}

function resultOf({ outputSchema }: Tool): string {
  try {
    return outputSchema === undefined ? 'unknown' : typeName(jsonSchemaOf(outputSchema));
  } catch {
    return 'unknown';
  }
}

/** The arguments as TypeScript would declare them: `(city: string, days?: number)`. */
function signatureOf({ properties, required }: JsonObject): string {
  const needed = Array.isArray(required) ? required : [];
  const declared = Object.entries(isJsonObject(properties) ? properties : {}).map(
    ([name, schema]) => `${name}${needed.includes(name) ? '' : '?'}: ${typeName(schema)}`,
  );
  return `(${declared.join(', ')})`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'unknown[]',
  object: 'object',
  null: 'null',
};

function typeName(schema: Json): string {
  const { type } = isJsonObject(schema) ? schema : { type: null };
  return (typeof type === 'string' ? typeNames[type] : undefined) ?? 'unknown';
}
