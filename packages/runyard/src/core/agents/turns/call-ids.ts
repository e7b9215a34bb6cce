import { newId } from '../../ids.js';
import type { StepRecord } from '../../runs/run.js';
import type { ModelRecord } from '../journal-records.js';

/**
 * Gives a call an id of its own when the model names it like an earlier one of the run, as some servers do in each
 * answer anew: an answer is given to a call by its id, and must not count for another one.
 */
export function withOwnCallIds(record: ModelRecord, steps: readonly StepRecord[]): ModelRecord {
  if (record.toolCalls === undefined) return record;
  const used = new Set(steps.flatMap(callIdsIn));
  const toolCalls = record.toolCalls.map((call) => {
    const id = call.id === '' || used.has(call.id) ? `call_${newId()}` : call.id;
    used.add(id);
    return { ...call, id };
  });
  return { ...record, toolCalls };
}

function callIdsIn({ kind, status, output }: StepRecord): readonly string[] {
  if (kind !== 'model' || status !== 'completed') return [];
  return ((output as ModelRecord).toolCalls ?? []).map(({ id }) => id);
}
