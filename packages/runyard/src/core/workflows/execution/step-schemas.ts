import type { Json } from '../../json.js';
import { faultText } from '../../schemas/schema-faults.js';
import { fitInName, type ValueSchema } from '../../schemas/value-schema.js';
import type { StepNode } from '../definition/node.js';
import type { LeafRecord } from '../journal-records.js';
import { type Flow, Scope } from './flow.js';

/** What a step was given or has made does not fit its schema. */
export interface SchemaFailure {
  readonly type: 'input_schema_mismatch' | 'output_schema_mismatch';
  readonly message: string;
}

const shownFaults = 5;

/** The scope in which the step finds what its input schema made of the output before it. */
export async function scopeFor(
  flow: Flow,
  { inputSchema }: StepNode,
  scope: Scope,
): Promise<Scope | { readonly failure: SchemaFailure }> {
  // a replay calls no code of the application, and the step is not executed in it
  if (inputSchema === undefined || flow.context.replay !== null) return scope;
  const fitted = await fit(flow, 'inputSchema', inputSchema, scope.givenIn(flow));
  if ('fault' in fitted)
    return {
      failure: {
        type: 'input_schema_mismatch',
        message: `What it was given does not fit its input schema: ${fitted.fault}`,
      },
    };
  return new Scope(fitted.value, scope.outputs, scope.media, scope.additionalData);
}

/** The record of a step with what its output schema made of its content. */
export async function checkedRecord(
  flow: Flow,
  { outputSchema }: StepNode,
  record: LeafRecord,
  contentOf: () => Json,
): Promise<LeafRecord | { readonly failure: SchemaFailure }> {
  if (outputSchema === undefined || !record.success) return record;
  flow.context.replay?.stop();
  const content = contentOf();
  const fitted = await fit(flow, 'outputSchema', outputSchema, content);
  if ('fault' in fitted)
    return {
      failure: {
        type: 'output_schema_mismatch',
        message: `What it made does not fit its output schema: ${fitted.fault}`,
      },
    };
  // what the run of an agent made is in the journal once
  const isSame = record.from !== undefined && JSON.stringify(fitted.value) === JSON.stringify(content);
  return isSame ? record : { ...record, content: fitted.value };
}

async function fit(flow: Flow, what: string, schema: ValueSchema, value: Json) {
  const fitted = await fitInName(flow.context.callApplication, what, schema, value);
  if (fitted.ok) return { value: fitted.value };
  const faults = fitted.faults.slice(0, shownFaults).map(faultText);
  return { fault: `${faults.join('; ')}.` };
}
