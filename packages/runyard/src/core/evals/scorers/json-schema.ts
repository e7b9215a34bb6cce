import type { Json } from '../../json.js';
import { checkOptions } from '../../options/check-options.js';
import { name, objectOf, required } from '../../options/kinds.js';
import { schema as schemaKind } from '../../options/schema-kind.js';
import { faultText } from '../../schemas/schema-faults.js';
import { fitInName, type ValueSchema } from '../../schemas/value-schema.js';
import type { Scorer } from '../scorer.js';

export interface JsonSchemaScorerOptions {
  /** Default `json_schema`. */
  readonly name?: string;
  /** A zod schema or a JSON schema. */
  readonly schema: ValueSchema;
}

const jsonSchemaOptions = objectOf<JsonSchemaScorerOptions>({ name, schema: required(schemaKind) });

const shownFaults = 20;

/** The output is JSON that fits a schema. */
export function jsonSchema(options: JsonSchemaScorerOptions): Scorer {
  checkOptions('jsonSchema()', options, jsonSchemaOptions);
  const { name: called = 'json_schema', schema } = options;
  return {
    name: called,
    async score({ run: { content } }, { callApplication }) {
      const value = typeof content === 'string' ? parsed(content) : content;
      if (value === undefined) return { score: null, passed: false, reason: 'The output is not JSON.' };
      const fitted = await fitInName(callApplication, called, schema, value);
      if (fitted.ok) return { score: null, passed: true };
      const faults = fitted.faults.slice(0, shownFaults).map(faultText);
      return { score: null, passed: false, reason: faults.join('\n') };
    },
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
