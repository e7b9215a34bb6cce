import type { Json, JsonObject, JsonSchema } from '../../json.js';
import { fieldsOf } from '../../objects.js';
import { markedLike } from '../../schemas/json-schema.js';
import { faultText } from '../../schemas/schema-faults.js';
import { fitInName, jsonSchemaOf } from '../../schemas/value-schema.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import { ToolRefused } from '../../tools/call/tool-hooks.js';
import { nativeTool, type Tool } from '../../tools/tool.js';
import type { ToolCallSite } from '../../tools/tool-context.js';
import { executionOf } from '../turns/built-in/execution-of-call.js';
import {
  memoryIdentity,
  type StoredMemory,
  seenMemory,
  storedMemory,
  updateToolName,
} from './known-working-memory.js';
import { fieldSchemas, type WorkingMemorySettings } from './working-memory-settings.js';

/** How many characters of JSON a memory has at the most: every run shows it to the model. */
const longestMemory = 20_000;

/** The tool with which the model changes its working memory. */
export function workingMemoryTools({
  workingMemory,
}: {
  readonly workingMemory?: WorkingMemorySettings;
}): readonly Tool[] {
  if (workingMemory === undefined) return [];
  const updateWorkingMemory = nativeTool({
    name: updateToolName,
    description:
      'Change your working memory. Give only the fields that change, each with its whole new value; null clears a field.',
    inputSchema: changesSchema(workingMemory),
    execute: (changes, site) => update(workingMemory, changes, site),
  });
  return [updateWorkingMemory];
}

/** Each field may be left out, or null. */
function changesSchema({ schema }: WorkingMemorySettings): JsonSchema {
  const { properties, $defs } = jsonSchemaOf(schema);
  const fields = Object.entries(fieldsOf(properties)).map(([name, field]) => [
    name,
    { anyOf: [field, { type: 'null' }] },
  ]);
  return markedLike(schema, {
    type: 'object',
    properties: Object.fromEntries(fields),
    additionalProperties: false,
    ...($defs !== undefined && { $defs }),
  });
}

async function update(
  settings: WorkingMemorySettings,
  changes: JsonObject,
  site: ToolCallSite,
): Promise<JsonObject> {
  const { context } = executionOf(site);
  const identity = memoryIdentity(context.run, settings);
  if (identity === undefined)
    throw new ToolRefused('This conversation belongs to no known user, so nothing is noted.');
  await checkFields(settings, changes, site);
  // what does not fit cannot be shown, and may be replaced unseen
  const seen = { ...unfit(await storedMemory(context, settings, identity)), ...seenMemory(context) };
  let conflicts: readonly string[] = [];
  // an execution after a crash has to find this very call: what another one asks for would come on top
  await context.stored();
  await context.ports.learnings.change({
    identity,
    key: site.idempotencyKey,
    now: context.timers.now(),
    merge(content = {}) {
      conflicts = changedSince(content, seen, changes);
      return conflicts.length > 0 ? undefined : merged(content, changes);
    },
  });
  const { fitting: current } = await storedMemory(context, settings, identity);
  if (conflicts.length === 0) return { working_memory: current };
  return {
    not_changed: `Another conversation has changed ${conflicts.join(', ')} since you read it. Nothing was changed. Look at the memory as it is now and give the new values again.`,
    working_memory: current,
  };
}

/** zod may check more than the parameters of the tool express. */
async function checkFields(
  settings: WorkingMemorySettings,
  changes: JsonObject,
  site: ToolCallSite,
): Promise<void> {
  const { context } = executionOf(site);
  const schemas = fieldSchemas(settings);
  for (const [name, value] of Object.entries(changes)) {
    const schema = schemas.get(name);
    if (schema === undefined)
      throw new ToolRefused(
        `The working memory has no field '${name}'. Its fields are ${[...schemas.keys()].join(', ')}.`,
      );
    if (value === null) continue;
    const fitted = await fitInName(context.callApplication, 'workingMemory', schema, value);
    if (fitted.ok) continue;
    const faults = fitted.faults.map(({ path, ...fault }) => faultText({ ...fault, path: [name, ...path] }));
    throw new ToolRefused(`The working memory was not changed. ${faults.join('; ')}`);
  }
}

function unfit({ content, fitting }: StoredMemory): JsonObject {
  return Object.fromEntries(Object.entries(content).filter(([name]) => !Object.hasOwn(fitting, name)));
}

/** The fields that another run has changed: a value that the model made from an older one would undo that. */
function changedSince(content: JsonObject, seen: JsonObject, changes: JsonObject): string[] {
  return Object.keys(changes).filter(
    (name) => !isSame(content[name], seen[name]) && !isSame(content[name], changes[name]),
  );
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null);
}

function merged(content: JsonObject, changes: JsonObject): JsonObject {
  const fields = new Map(Object.entries(content));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) fields.delete(name);
    else fields.set(name, value);
  }
  const after = Object.fromEntries(fields);
  const { length } = JSON.stringify(after);
  if (length > longestMemory && length > JSON.stringify(content).length)
    throw new ToolRefused(
      `The working memory may have at most ${longestMemory} characters of JSON, but would have ${length}. Nothing was changed. Shorten it.`,
    );
  return after;
}
