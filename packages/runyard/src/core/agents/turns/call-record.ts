import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Writable } from '../../objects.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import type { AgentExecution } from '../execution.js';
import { isGuarded } from '../hooks/guarded.js';
import type { ModelCallRecord } from '../journal-records.js';

/** A longer text is a prompt or a grammar of the application's own. */
const longestText = 500;
const secretNames = /key$|secret|password|authorization|credential|(^|_)token$/i;

/** How the model is about to be called, unless that is the same as in the last call. */
export function newCallRecord(execution: AgentExecution): ModelCallRecord | undefined {
  const { given, model, tools, soFar } = execution;
  const record: Writable<ModelCallRecord> = isStreamed(execution)
    ? { adapter: model.name, stream: true }
    : { adapter: model.name };
  if (tools.size > 0) record.tools = [...tools.keys()];
  const parameters = shownParameters({ ...model.parameters, ...given?.parameters });
  if (Object.keys(parameters).length > 0) record.parameters = parameters;
  const { lastCall } = soFar;
  return lastCall !== null && canonicalJson(lastCall) === canonicalJson(record) ? undefined : record;
}

export function isStreamed({ agent, context, output }: AgentExecution): boolean {
  const { stream, partialObjects = false } = context.options;
  return stream && (output === null || partialObjects) && !isGuarded(agent.settings);
}

/** Numbers, switches and short texts, also within an object: what else there is may hold keys of other services. */
function shownParameters(parameters: JsonObject): JsonObject {
  const shown = Object.entries(parameters).flatMap(([name, value]): [string, Json][] => {
    if (secretNames.test(name)) return [];
    if (!isJsonObject(value)) return isPlain(value) ? [[name, value]] : [];
    const inner = Object.entries(value).filter(([key, part]) => !secretNames.test(key) && isPlain(part));
    return inner.length > 0 ? [[name, Object.fromEntries(inner)]] : [];
  });
  return Object.fromEntries(shown);
}

function isPlain(value: Json): boolean {
  if (Array.isArray(value))
    return value.length <= 20 && value.every((part) => !Array.isArray(part) && isPlain(part));
  return typeof value === 'string'
    ? value.length <= longestText
    : typeof value === 'boolean' || typeof value === 'number';
}
