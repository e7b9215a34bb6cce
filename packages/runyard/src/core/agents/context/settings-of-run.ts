import { RunyardError } from '../../errors/runyard-error.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { Knowledge } from '../../knowledge/knowledge.js';
import { describeModel, type ModelLike } from '../../models/resolve.js';
import { fieldsOf } from '../../objects.js';
import type { RunContext } from '../../runs/context.js';
import { RunFailed } from '../../runs/executable.js';
import { read, readIf } from '../../runs/journal/codec.js';
import type { AnyLimits } from '../../runs/limits/run-limits.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { storable } from '../../storable-json.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import { toolSourcesOf } from '../../tools/collect-tools.js';
import { plainEntry } from '../../tools/tool-component.js';
import type { ToolEntry } from '../../tools/toolkit.js';
import { runStarted } from '../agent-events.js';
import type { AgentDefinition, AgentSettings } from '../definition.js';
import {
  type SettingsInput,
  type SettingsRecord,
  settingsInput,
  settingsRecord,
} from '../journal-records.js';
import { knowledgeOf } from '../knowledge/knowledge-use.js';
import { type ChosenSources, makingSources } from './chosen-sources.js';
import { applicationFailure, dependenciesOf } from './dependencies.js';
import type { RunValues } from './run-values.js';
import { currentValues, fixedValues } from './values-of-run.js';

/** The settings that may be functions of the run. `instructions` is called when the context is built. */
const settingNames = ['model', 'tools', 'members', 'knowledge', 'limits'] as const;

type SettingName = (typeof settingNames)[number];

/** What the functions returned, once it is checked. */
interface Chosen {
  readonly model?: ModelLike;
  readonly tools?: readonly ToolEntry[];
  readonly members?: readonly { readonly kind: string; readonly id: string }[];
  readonly knowledge?: Knowledge | readonly Knowledge[];
  readonly limits?: AnyLimits;
}

type Returned = Partial<Record<SettingName, unknown>>;

/** What may have such settings: an agent, or a team, which also has members. */
interface Choosing<Made> extends Pick<AgentDefinition, 'toolEntries'> {
  readonly kind: 'agent' | 'team';
  readonly id: string;
  readonly owner: string;
  readonly settings: AgentSettings;
  with(settings: object): Made;
}

interface Made extends Pick<AgentDefinition, 'toolEntries'> {
  readonly limits?: AnyLimits | undefined;
}

export const settingsKey = 'settings';

/** The settings that functions choose for each run. */
export function dependentSettings(settings: object): readonly SettingName[] {
  const given = fieldsOf(settings);
  return settingNames.filter((name) => typeof given[name] === 'function');
}

/**
 * The component with what the functions of its settings return for this run. Which model, tools, members and knowledge
 * those were is recorded: an execution after a crash calls the functions again with the same values, and ends when
 * they return something else.
 */
export async function chooseSettings<Component extends Made>(
  component: Choosing<Component>,
  context: RunContext,
  sources: ChosenSources,
): Promise<{ readonly chosen: Component; done(): Promise<void> }> {
  const names = dependentSettings(component.settings);
  // a replay calls no functions of the application, and without them nothing that follows can be compared
  if (context.replay !== null)
    throw new Error(
      `a function chooses ${names.join(', ')} of ${component.kind} '${component.id}' for each run`,
    );
  try {
    const chosen = await recordedChoice(component, context, names);
    const named = new Set(toolSourcesOf(component.toolEntries));
    const own = sources.add(toolSourcesOf(chosen.toolEntries).filter((source) => !named.has(source)));
    if (names.includes('limits')) context.guard?.limit(chosen.limits ?? {});
    return { chosen, done: () => sources.done(own) };
  } catch (error) {
    // a team begins later, and its run may end before that
    if (component.kind === 'agent' && context.entry === 'started')
      context.emit(runStarted({ id: '', provider: '' }), `started:${context.run.attempt}`);
    throw error;
  }
}

async function recordedChoice<Component extends Made>(
  component: Choosing<Component>,
  context: RunContext,
  names: readonly SettingName[],
): Promise<Component> {
  const values = valuesIn(context.recorded(settingsKey)) ?? {
    ...storedValues(currentValues(component, context)),
    dependencies: await dependenciesOf(component, context),
  };
  let made: Component | undefined;
  const choose = async (signal: AbortSignal): Promise<SettingsRecord> => {
    const run = { ...fixedValues(context), ...values, signal };
    const results = names.map(async (name) => [name, await chosenBy(component, context, name, run)] as const);
    const returned: Returned = Object.fromEntries(await Promise.all(results));
    made = builtWith(component, returned);
    // the component was just made with it, which has checked it
    return { chosen: identitiesOf(returned as Chosen) };
  };
  const spec = { kind: 'hook', name: settingsKey, record: settingsRecord, input: values } as const;
  const record = await context.step(settingsKey, spec, ({ signal }) => choose(signal));
  if (made !== undefined) return made;
  const again = await choose(context.signal);
  for (const name of names) {
    const [was, is] = [record.chosen[name] ?? null, again.chosen[name] ?? null];
    if (canonicalJson(was) !== canonicalJson(is))
      throw context.definitionChanged({
        key: settingsKey,
        was: `${name} ${JSON.stringify(was)}`,
        is: `${name} ${JSON.stringify(is)}`,
      });
  }
  // `choose` has made it
  return made as unknown as Component;
}

function storedValues({ state, metadata }: Omit<RunValues, 'dependencies'>) {
  return { state, metadata };
}

/** What the functions were called with in an earlier execution. */
function valuesIn(step: StepRecord | undefined): SettingsInput | undefined {
  return step?.status === 'completed' ? readIf(step, settingsInput) : undefined;
}

/** What the function of a setting returns for this run. */
export async function chosenBy(
  { settings }: { readonly settings: object },
  context: RunContext,
  name: SettingName,
  run: RunValues,
): Promise<unknown> {
  // the caller has found a function there
  const choose = (settings as Readonly<Record<string, unknown>>)[name] as (run: RunValues) => unknown;
  try {
    return await context.callApplication(name, () => makingSources(new Set(), async () => choose(run)));
  } catch (error) {
    context.signal.throwIfAborted();
    throw applicationFailure('settings_error', `The function that chooses '${name}'`, error);
  }
}

function builtWith<Component>(component: Choosing<Component>, chosen: Returned): Component {
  return checkedChoice(component.owner, chosen, () =>
    component.with({ ...chosen, ...withoutKnowledge(component.settings, chosen) }),
  );
}

/** Checks what the functions returned as the settings of a definition are checked, by what `use` refuses. */
export function checkedChoice<Used>(owner: string, chosen: Returned, use: () => Used): Used {
  for (const [name, value] of Object.entries(chosen))
    if (value === undefined || value === null || typeof value === 'function')
      throw chosenFault(
        owner,
        `the function that chooses '${name}' returned ${value === null ? 'null' : typeof value}.`,
      );
  try {
    return use();
  } catch (error) {
    if (!(error instanceof RunyardError)) throw error;
    throw chosenFault(
      owner,
      `what its functions returned for this run does not fit: ${error.message}`,
      error,
    );
  }
}

function chosenFault(owner: string, message: string, cause?: unknown): RunFailed {
  const failure = { type: 'settings_error', message: `${owner}: ${message}` };
  return new RunFailed(failure, cause === undefined ? {} : { cause });
}

/** A run without knowledge searches none, whatever the settings say about searches. */
function withoutKnowledge(
  { knowledgeRetriever }: AgentSettings,
  { knowledge }: Returned,
): Partial<AgentSettings> {
  if (!Array.isArray(knowledge) || knowledge.length > 0) return {};
  return {
    updateKnowledge: false,
    ...(knowledgeRetriever === undefined && { agenticKnowledgeFilters: false, addKnowledgeToContext: false }),
  };
}

/** What of a choice has to be the same in every execution: names and ids, and nothing that could be secret. */
function identitiesOf({ model, tools, members, knowledge, limits }: Chosen): JsonObject {
  return {
    ...(model !== undefined && { model: modelIdentity(model) }),
    ...(tools !== undefined && { tools: tools.map((entry) => plainEntry(entry).name) }),
    ...(members !== undefined && { members: members.map(({ kind, id }) => `${kind} ${id}`) }),
    ...(knowledge !== undefined && { knowledge: knowledgeOf({ knowledge }).map(({ name }) => name) }),
    ...(limits !== undefined && { limits: storable(limits, 'limits') }),
  };
}

function modelIdentity(model: ModelLike): JsonObject {
  const { id, provider } = describeModel(model);
  return { id, provider };
}

interface UsedModel {
  readonly id: string;
  readonly provider: string;
}

/** The model of a run: that of its component, or the one that a function has chosen; undefined before that. */
export function modelOfRun(run: Run, steps: readonly StepRecord[]): UsedModel | undefined {
  if (run.model !== null) return { id: run.model, provider: run.modelProvider ?? '' };
  const step = steps.find(({ key, status }) => key === settingsKey && status === 'completed');
  const model = step && read(step, settingsRecord).chosen.model;
  return isJsonObject(model) ? { id: String(model.id), provider: String(model.provider) } : undefined;
}
