import type { AgentDefinition } from '../../../core/agents/definition.js';
import { ModelComponent } from '../../../core/agents/model-component.js';
import { errors } from '../../../core/errors/errors.js';
import { isRemote } from '../../../core/remote/remote-component.js';
import type { CallerInput, CallerTool } from '../../../core/runs/caller-input.js';
import { checkConversation, checkToolName, type Place } from '../../../core/runs/check-conversation.js';
import type { Executable } from '../../../core/runs/executable.js';
import { toolSourcesOf } from '../../../core/tools/collect-tools.js';

const mostTools = 128;
const longestDescription = 16 * 1024;
const longestSchema = 64 * 1024;
const deepestSchema = 64;
/** Schemas that no object fits, which is what arguments are. */
const neverObjects = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array']);

/** Refuses tools and conversations that are too large, malformed, or nothing that this component can work with. */
export function checkCallerInput(executable: Executable, input: CallerInput | undefined): void {
  if (input === undefined) return;
  const { tools = [], toolChoice, conversation } = input;
  if (tools.length > 0 || toolChoice !== undefined) checkTools(executable, tools);
  if (typeof toolChoice === 'object') checkChoice(executable, toolChoice.name, tools);
  if (conversation === undefined) return;
  if (!takesCallerInput(executable))
    throw refused(
      ['messages'],
      `${nameOf(executable)} takes one message, and no conversation or instructions of the client`,
    );
  checkConversation(conversation, refused);
}

/** What another service executes gets its input in a form, which has no room for this. */
function takesCallerInput(
  executable: Executable,
): executable is Executable & Pick<AgentDefinition, 'tools' | 'toolEntries' | 'settings'> {
  return executable instanceof ModelComponent && !isRemote(executable);
}

function checkTools(executable: Executable, tools: readonly CallerTool[]): void {
  if (!takesCallerInput(executable))
    throw refused(['tools'], `${nameOf(executable)} takes no tools of the client`);
  if (tools.length > mostTools)
    throw refused(['tools'], `there are ${tools.length} tools, at most ${mostTools}`);
  const names = new Set<string>();
  for (const [position, { name, description = '', inputSchema }] of tools.entries()) {
    const at = (part: string) => ['tools', position, part];
    checkToolName(name, at('name'), refused);
    if (names.has(name)) throw refused(at('name'), `there are two tools named '${name}'`);
    if (executable.tools.has(name))
      throw refused(at('name'), `${nameOf(executable)} has a tool named '${name}' itself. Rename yours`);
    names.add(name);
    if (description.length > longestDescription)
      throw refused(
        at('description'),
        `the description of '${name}' has ${description.length} characters, at most ${longestDescription}`,
      );
    checkSchema(name, inputSchema, at('parameters'));
  }
}

function checkSchema(name: string, schema: CallerTool['inputSchema'], place: Place): void {
  const { type } = schema;
  if (typeof type === 'string' && neverObjects.has(type))
    throw refused(place, `the parameters of '${name}' are a schema of the type '${type}', not of an object`);
  const { length } = JSON.stringify(schema);
  if (length > longestSchema)
    throw refused(place, `the parameters of '${name}' have ${length} characters, at most ${longestSchema}`);
  // what is short has few enough parts for the recursion below
  if (depthOf(schema) > deepestSchema)
    throw refused(place, `the parameters of '${name}' are nested more than ${deepestSchema} levels deep`);
}

function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > deepestSchema) return depth;
  return Math.max(depth, ...Object.values(value).map((part) => depthOf(part, depth + 1)));
}

function checkChoice(executable: Executable, name: string, tools: readonly CallerTool[]): void {
  if (!takesCallerInput(executable) || tools.some((tool) => tool.name === name)) return;
  const { tools: own, toolEntries, settings } = executable;
  // what a source has, or a function returns, is known only in the run
  if (own.has(name) || toolSourcesOf(toolEntries).length > 0 || typeof settings.tools === 'function') return;
  throw refused(['tool_choice'], `there is no tool named '${name.slice(0, 80)}'`);
}

function nameOf({ kind, id }: Executable): string {
  return `the ${kind} '${id}'`;
}

function refused(place: Place, message: string): Error {
  const loc = ['body', ...place];
  return errors.invalidRequest([{ type: 'value_error', loc, msg: `Value error, ${message}`, input: null }]);
}
