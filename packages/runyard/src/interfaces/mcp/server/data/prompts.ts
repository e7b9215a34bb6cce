import {
  type GetPromptResult,
  type ListPromptsResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import type { Caller } from '../../../../platform/auth/caller.js';
import { type ComponentPlace, kinds } from '../runs/run-place.js';
import type { McpSite } from '../site.js';

/** How many stored components of a kind have a prompt: a client shows them all in one menu. */
const mostStored = 100;

interface Runnable extends ComponentPlace {
  readonly name: string;
  readonly description: string | undefined;
}

/** A prompt for each component that the caller may run: it hands a message to the component. */
export async function listPrompts(site: McpSite, caller: Caller): Promise<ListPromptsResult> {
  if (!site.config.tags.has('core')) return { prompts: [] };
  return { prompts: (await runnable(site, caller)).map(promptOf) };
}

function promptOf({ kind, componentId, name, description }: Runnable): Prompt {
  return {
    name: promptName({ kind, componentId }),
    title: `Ask ${name}`,
    description: description ?? `Hands a message to the ${kind} ${name}.`,
    arguments: [{ name: 'message', description: `What to ask the ${kind}.`, required: true }],
  };
}

export async function getPrompt(
  site: McpSite,
  caller: Caller,
  name: string,
  given: Readonly<Record<string, string>> = {},
): Promise<GetPromptResult> {
  const prompts = site.config.tags.has('core') ? await runnable(site, caller) : [];
  const component = prompts.find((one) => promptName(one) === name);
  if (component === undefined) throw invalid(`Unknown prompt: '${name.slice(0, 200)}'`);
  const { message } = given;
  if (message === undefined) throw invalid(`The prompt '${name}' needs the argument 'message'`);
  const { kind, componentId } = component;
  const text =
    `Call the tool run_${kind} with ${kind}_id '${componentId}' and this message, and give me its answer. If the ` +
    `run is paused, show me what it waits for before you call continue_run.\n\n${message}`;
  return {
    ...(component.description !== undefined && { description: component.description }),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

async function runnable({ services: { components } }: McpSite, caller: Caller): Promise<Runnable[]> {
  const found: Runnable[] = [];
  const registered = {
    agent: components.listAgents(caller, ['run']),
    team: components.listTeams(caller, ['run']),
    workflow: components.listWorkflows(caller, ['run']),
  };
  for (const kind of kinds) {
    for (const { id, name, settings } of registered[kind])
      found.push({ kind, componentId: id, name, description: settings.description });
    const most = found.length + mostStored;
    for await (const { stored, component } of components.listStored(kind, caller, ['run'])) {
      if (found.length === most) break;
      if (component === undefined) continue;
      const { description } = component.settings;
      found.push({ kind, componentId: stored.id, name: component.name, description });
    }
  }
  return found;
}

function promptName({ kind, componentId }: ComponentPlace): string {
  return `${kind}/${componentId}`;
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
