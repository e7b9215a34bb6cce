import { thrownError } from '../../errors/thrown-error.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { nearestName } from '../../nearest-name.js';
import { shown } from '../../options/faults.js';
import type { Kind } from '../../options/kind.js';
import { flag, json, name, text, word } from '../../options/kinds.js';
import { openGate } from '../../tools/call/gate.js';
import { collectFixedTools } from '../../tools/collect-tools.js';
import { Tool, type ToolChanges } from '../../tools/tool.js';
import { plainEntry } from '../../tools/tool-component.js';
import { type ToolEntry, Toolkit } from '../../tools/toolkit.js';
import { type ConfigValue, isAbsent, listValue } from '../config-keys.js';
import type { Reading } from '../reading.js';
import { nameFor, resolved } from './named-values.js';

const mostTools = 200;

const toolKeys: Readonly<Record<string, Kind>> = {
  name,
  toolkit: name,
  description: text,
  parameters: json,
  strict: flag,
  requires_confirmation: flag,
  external_execution: flag,
  approval_type: word('required', 'audit'),
};

/**
 * `{ name, parameters, … }`: a registered tool, `{ name, toolkit }`: one of a toolkit, `{ toolkit }`: a whole toolkit or
 * tool source. The description and flags change the tool; a gate can only become stricter.
 */
const tool: ConfigValue = {
  read: (value, at) => {
    if (!isJsonObject(value)) return at.fault(`is ${shown(value)}. Give { "name": …, "parameters": … }.`);
    if (!isReference(value, at) || at.site === undefined) return undefined;
    const { name: given, toolkit } = value;
    if (isAbsent(given)) return resolved(({ toolkits }) => toolkits, String(toolkit), at);
    const found = isAbsent(toolkit)
      ? resolved((registry) => registry.findTool(String(given)), String(given), at)
      : toolOfKit(String(toolkit), String(given), at);
    return found instanceof Tool ? changed(found, value, at) : unchanged(found, value, at);
  },
  write: (setting, at) => {
    // the setting holds tools, toolkits, sources and components only
    const entry = plainEntry(setting as ToolEntry);
    if (!(entry instanceof Tool)) {
      const kit = nameFor(at.registry.toolkits, entry, at);
      return kit === undefined ? undefined : { toolkit: kit };
    }
    const registered = at.registry.findTool(entry.name);
    const [found] = registered.find(entry.name);
    if (registered.faultOf(entry.name) !== undefined || found?.thing.isSameCode(entry) !== true)
      return at.fault(
        `is the tool '${entry.name}', by whose name the registry ${found === undefined ? 'knows none' : 'does not know it alone'}. Register it with new Runyard({ registry: { tools } }).`,
      );
    return toolReference(entry);
  },
};

export const tools = listValue(tool, mostTools);

/** Whether it names a tool of the code: what a provider executes itself has no place among the tools of an agent. */
function isReference(value: JsonObject, at: Reading): boolean {
  const before = at.found.faults.length;
  if (!isAbsent(value.type) || !isAbsent(value.input_schema)) {
    at.fault(
      'is a tool of a model provider. Runyard calls tools of the code only: register one and give its name.',
    );
    return false;
  }
  for (const [key, one] of Object.entries(value)) {
    if (one === null) continue;
    const kind = Object.hasOwn(toolKeys, key) ? toolKeys[key] : undefined;
    if (kind !== undefined) at.within(key).checked(kind, one);
    else at.unknownKey(key, 'a tool', Object.keys(toolKeys));
  }
  if (isAbsent(value.toolkit)) {
    if (isAbsent(value.name)) at.within('name').fault('is missing. Give the name of a registered tool.');
    else if (isAbsent(value.parameters))
      at.within('parameters').fault(
        'is missing. A name alone could mean a tool of the provider: give the parameters of the tool, or its toolkit.',
      );
  } else if (
    isAbsent(value.name) &&
    Object.keys(value).some((key) => key !== 'toolkit' && value[key] !== null)
  )
    at.within('name').fault('is missing. What changes a tool needs its name.');
  return at.found.faults.length === before;
}

/** One tool of a kit. Of a source it is known only when the source is asked. */
function toolOfKit(kitName: string, toolName: string, at: Reading): ToolEntry | undefined {
  const kit = resolved(({ toolkits }) => toolkits, kitName, at);
  if (kit === undefined) return undefined;
  if (!(kit instanceof Toolkit)) return new Toolkit({ name: kit.name, tools: [kit], include: [toolName] });
  const inside = collectFixedTools(`Toolkit '${kitName}'`, [kit]).tools;
  const found = inside.get(toolName);
  if (found !== undefined) return found;
  const near = nearestName(toolName, [...inside.keys()]);
  return at.fault(
    `names the tool '${toolName}', which the toolkit '${kitName}' does not have.${near === undefined ? '' : ` Did you mean '${near}'?`}`,
  );
}

const changingKeys = [
  'description',
  'strict',
  'requires_confirmation',
  'external_execution',
  'approval_type',
];

/** What a source has is known only in a run: nothing of it can be changed before. */
function unchanged(entry: ToolEntry | undefined, value: JsonObject, at: Reading): ToolEntry | undefined {
  const given = changingKeys.filter((key) => !isAbsent(value[key]));
  for (const key of given)
    at.within(key).fault(
      'cannot be given for a tool of a tool source. Leave it out, or use a tool of the code.',
    );
  return given.length === 0 ? entry : undefined;
}

/** The tool as the configuration wants it. Its gate never opens by that. */
function changed(registered: Tool, value: JsonObject, at: Reading): Tool | undefined {
  const { gate } = registered;
  const before = at.found.faults.length;
  const weaker = (key: string, than: string) =>
    at
      .within(key)
      .fault(
        `is ${shown(value[key])}, which is weaker than the tool '${registered.name}' in the code: it has ${than}.`,
      );
  if (value.requires_confirmation === false && gate.requiresConfirmation !== false)
    weaker('requires_confirmation', 'requiresConfirmation');
  if (value.external_execution === false && gate.externalExecution)
    weaker('external_execution', 'externalExecution');
  if (value.approval_type === 'audit' && gate.approval === 'required')
    weaker('approval_type', "approval: 'required'");
  if (value.external_execution === true && !gate.externalExecution && gate !== openGate)
    at.within('external_execution').fault(
      `is true, which would replace what calls of the tool '${registered.name}' wait for in the code.`,
    );
  if (at.found.faults.length > before) return undefined;
  const changes = changesTo(registered, value);
  if (Object.keys(changes).length === 0) return registered;
  try {
    return registered.changed(changes);
  } catch (error) {
    return at.fault(`cannot be changed like this: ${thrownError(error).message}`);
  }
}

function changesTo({ gate, description, definition }: Tool, value: JsonObject): ToolChanges {
  const { strict, approval_type: approval } = value;
  return {
    ...(typeof value.description === 'string' &&
      value.description !== description && { description: value.description }),
    ...(typeof strict === 'boolean' && strict !== (definition.strict ?? false) && { strict }),
    ...(value.requires_confirmation === true &&
      gate.requiresConfirmation !== true && { requiresConfirmation: true }),
    ...(value.external_execution === true && !gate.externalExecution && { externalExecution: true }),
    ...((approval === 'required' || approval === 'audit') && approval !== gate.approval && { approval }),
  };
}

function toolReference({ definition, gate }: Tool): JsonObject {
  const { name: toolName, description, inputSchema, strict } = definition;
  const written: Record<string, Json | undefined> = {
    name: toolName,
    description,
    parameters: inputSchema,
    strict: strict === true ? true : undefined,
    // a function of the code decides about some calls: that is not for a configuration to say
    requires_confirmation: gate.requiresConfirmation === true ? true : undefined,
    external_execution: gate.externalExecution ? true : undefined,
    approval_type: gate.approval,
  };
  return Object.fromEntries(
    Object.entries(written).flatMap(([key, one]) => (one === undefined ? [] : [[key, one]])),
  );
}
