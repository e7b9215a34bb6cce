import { newCallId } from '../../ids.js';
import type { ModelRecord } from '../journal-records.js';

/**
 * Gives a call an id of its own when the model names it like an earlier one of the run, as some servers do in each
 * answer anew: an answer is given to a call by its id, and must not count for another one.
 */
export function withOwnCallIds(record: ModelRecord, before: { hasCall(id: string): boolean }): ModelRecord {
  if (record.toolCalls === undefined) return record;
  const used = new Set<string>();
  const toolCalls = record.toolCalls.map((call) => {
    const isTaken = call.id === '' || used.has(call.id) || before.hasCall(call.id);
    const id = isTaken ? newCallId() : call.id;
    used.add(id);
    return { ...call, id };
  });
  return { ...record, toolCalls };
}
