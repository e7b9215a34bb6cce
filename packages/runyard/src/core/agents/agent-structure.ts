import { componentsOfTools } from '../components/component-tool.js';
import { functionIdentity } from '../fingerprint.js';
import type { Json } from '../json.js';
import { toolSourcesOf } from '../tools/collect-tools.js';
import type { Tool } from '../tools/tool.js';
import { dependentSettings } from './context/settings-of-run.js';
import type { AgentDefinition } from './definition.js';
import type { PostHook, PreHook } from './hooks/hook.js';
import type { ModelHook } from './hooks/model-hook.js';

/** What of an agent, or of the leader of a team, a journal has to fit. Prompts and models are not part of it. */
export function agentStructure({
  settings,
  tools,
  toolEntries,
}: Pick<AgentDefinition, 'settings' | 'tools' | 'toolEntries'>): Json {
  const { preHooks = [], postHooks = [], dependencies = {} } = settings;
  const chosen = dependentSettings(settings);
  const inside = componentsOfTools(tools.values());
  const resolved = Object.entries(dependencies).filter(([, value]) => typeof value === 'function');
  return {
    preHooks: preHooks.map(hookIdentity),
    postHooks: postHooks.map(hookIdentity),
    dependencies: resolved.length > 0,
    reasoning: settings.reasoning ?? settings.reasoningModel !== undefined,
    tools: Array.from(tools.values(), toolStructure),
    // what runs inside is a part of the journal
    ...(inside.length > 0 && {
      components: inside.map(({ kind, id, fingerprint = null }) => [kind, id, fingerprint]),
    }),
    sources: toolSourcesOf(toolEntries).map(({ name }) => name),
    toolCallLimit: settings.toolCallLimit ?? null,
    ...(chosen.length > 0 && { chosen: [...chosen] }),
    // without such hooks as it was before there were any
    ...(settings.modelHooks?.length && { modelHooks: settings.modelHooks.map(hookIdentity) }),
  };
}

/** The name of a hook; a function without one is known by its source. */
export function hookIdentity(hook: PreHook | PostHook | ModelHook): string {
  return typeof hook === 'function' ? functionIdentity(hook) : `'${hook.name}'`;
}

/** With its parameters: what a person agreed to has to fit them when it is executed. */
function toolStructure(tool: Tool): Json {
  const { name, gate, onUnknownOutcome } = tool;
  return [
    name,
    onUnknownOutcome,
    gate.approval ?? null,
    gate.requiresConfirmation !== false,
    gate.requiresUserInput,
    gate.externalExecution,
    gate.askPerson !== undefined,
    [...gate.userInputFields],
    inputSchemaOf(tool),
  ];
}

/** Faults of a schema are reported where it is used. */
function inputSchemaOf(tool: Tool): Json {
  try {
    return tool.definition.inputSchema;
  } catch {
    return null;
  }
}
