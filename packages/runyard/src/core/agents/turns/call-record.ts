import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import type { AgentExecution } from '../execution.js';
import { isGuarded } from '../hooks/guarded.js';
import type { ModelCallRecord } from '../journal-records.js';

/** A longer text is a prompt or a grammar of the application's own. */
const longestText = 500;
const secretNames = /key$|secret|password|authorization|credential|(^|_)token$/i;

/** How the model is about to be called, unless that is the same as in the last call. */
export function newCallRecord(execution: AgentExecution): { input?: ModelCallRecord } {
  const { given, model, tools, soFar } = execution;
  const parameters = shownParameters({ ...model.parameters, ...given?.parameters });
  const record: ModelCallRecord = {
    adapter: model.name,
    ...(isStreamed(execution) && { stream: true }),
    ...(tools.size > 0 && { tools: [...tools.keys()] }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  };
  const { lastCall } = soFar;
  return lastCall !== null && canonicalJson(lastCall) === canonicalJson(record) ? {} : { input: record };
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
