import type { Json } from '../../json.js';
import { faultText } from '../../schemas/schema-faults.js';
import { fitToSchema, isZodSchema, type ValueSchema } from '../../schemas/value-schema.js';
import { storable } from '../../storable-json.js';
import { ToolResult } from '../tool-result.js';

/** What a tool returned, as its output schema lets it through. A result that does not fit is a failure of the tool. */
export async function checkedResult(outputSchema: ValueSchema, result: unknown): Promise<unknown> {
  return result instanceof ToolResult
    ? new ToolResult(await fitted(outputSchema, result.content), result.media)
    : fitted(outputSchema, result);
}

async function fitted(outputSchema: ValueSchema, value: unknown): Promise<Json> {
  // zod knows values that JSON does not, such as dates
  const given = isZodSchema(outputSchema) ? (value as Json) : storable(value, 'its result');
  const fit = await fitToSchema(outputSchema, given);
  if (fit.ok) return fit.value;
  const faults = fit.faults.map((fault) => `\n- ${faultText(fault)}`);
  throw new Error(`its result does not fit its outputSchema:${faults.join('')}`);
}
