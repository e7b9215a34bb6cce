import type { OutputFormat } from '../model.js';

/** The instruction for a model that cannot be held to a schema in this request. The answer is checked anyway. */
export function schemaInWords({ name, schema }: OutputFormat): string {
  return [
    `Answer with one JSON value and nothing else: no introduction, no code fence. It is the ${name}, and it must`,
    'fit this JSON schema:',
    JSON.stringify(schema),
  ].join('\n');
}
