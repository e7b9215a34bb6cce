import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { read } from '../../runs/journal/codec.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { isNodeInput, type NodeInput, nodeInput, roundRecord, runsByNode } from '../journal-records.js';

/** Metrics of the wire: what each step has cost, over all its executions, and how long the whole took. */
export function metricsOf(run: Run, steps: readonly StepRecord[], now: number): JsonObject {
  const byName: Record<string, JsonObject> = {};
  const runs = runsByNode(steps);
  for (const step of steps) {
    const node = nodeOf(step);
    if (node?.executor === undefined || node.executor === null) continue;
    const before = byName[step.name]?.metrics;
    byName[step.name] = {
      step_name: step.name,
      executor_type: node.executor.type,
      executor_name: node.executor.name,
      metrics: sum(isJsonObject(before) ? before : {}, ownMetrics(step, runs.get(step.key) ?? [])),
    };
  }
  return { steps: byName, duration: (now - run.createdAt) / 1000 };
}

function nodeOf(step: StepRecord): NodeInput | undefined {
  const isNode = step.kind === 'step' && step.key.startsWith('node:') && isNodeInput(step.input);
  return isNode ? read(step, nodeInput) : undefined;
}

function ownMetrics(step: StepRecord, runs: readonly StepRecord[]): JsonObject {
  const outcomes = runs
    .filter(({ status }) => status === 'completed')
    .map((run) => read(run, roundRecord))
    .filter((made) => 'result' in made);
  if (outcomes.length === 0) return { duration: ((step.endedAt ?? step.startedAt) - step.startedAt) / 1000 };
  return outcomes.reduce<JsonObject>((total, { result }) => sum(total, result.metrics ?? {}), {});
}

/** Adds up numbers; of lists (the models of a role) both parts stand. */
function sum(left: JsonObject, right: JsonObject): JsonObject {
  const total: JsonObject = { ...left };
  for (const [name, value] of Object.entries(right)) total[name] = added(total[name], value);
  return total;
}

function added(left: Json | undefined, right: Json): Json {
  if (left === undefined) return right;
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  if (isJsonObject(left) && isJsonObject(right)) return sum(left, right);
  return right;
}
