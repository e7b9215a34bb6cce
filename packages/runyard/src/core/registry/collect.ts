import type { AnyAgent } from '../agents/agent.js';
import { noteNamed } from '../agents/context/chosen-sources.js';
import type { AgentSettings } from '../agents/definition.js';
import { knowledgeOf } from '../agents/knowledge/knowledge-use.js';
import { learningPlan } from '../agents/learning/learning-settings.js';
import { recallPlan } from '../agents/recall/recall-settings.js';
import { fallbackOf } from '../agents/turns/fallback.js';
import { type EmbedderLike, resolveEmbedder } from '../embedders/resolve.js';
import type { Knowledge } from '../knowledge/knowledge.js';
import { describeModel, type ModelLike } from '../models/resolve.js';
import { isRemote } from '../remote/remote-component.js';
import type { Executable } from '../runs/executable.js';
import { jsonSchemaOf, type ValueSchema } from '../schemas/value-schema.js';
import { namedMembers } from '../teams/members/inherited-model.js';
import type { AnyTeam } from '../teams/team.js';
import { collectFixedTools, namedTools, toolSourcesOf } from '../tools/collect-tools.js';
import { Tool } from '../tools/tool.js';
import { plainEntry } from '../tools/tool-component.js';
import { type ToolEntry, Toolkit } from '../tools/toolkit.js';
import { nodesInside, type WorkflowNode } from '../workflows/definition/node.js';
import { isUnnamed } from '../workflows/definition/node-identity.js';
import { type AnyWorkflow, Workflow } from '../workflows/workflow.js';
import type { Place } from './named-things.js';
import type { RegisteredThings } from './registered-things.js';
import type { RegisteredFunction, RegistrySettings } from './registry-options.js';

/** What a registry is filled from. */
export interface RegistrySources {
  readonly settings?: RegistrySettings | undefined;
  /** The components of the code. Their members and steps are looked at, too. */
  readonly components?: readonly (AnyAgent | AnyTeam | AnyWorkflow)[];
  readonly knowledge?: readonly Knowledge[];
}

/** Fills a registry from what the application registers and from what its components use. */
export function collect(
  registry: RegisteredThings,
  { settings = {}, components = [], knowledge = [] }: RegistrySources,
) {
  const own = (option: string): Place => ({ text: `registry.${option}`, explicit: true });
  for (const model of settings.models ?? []) addModel(registry, model, own('models'));
  for (const entry of settings.tools ?? []) addTool(registry, entry, own('tools'));
  for (const [name, schema] of Object.entries(settings.schemas ?? {}))
    registry.schemas.add(name, schema, own('schemas'));
  for (const [name, work] of Object.entries(settings.functions ?? {}))
    registry.functions.add(name, work, own('functions'));
  for (const base of settings.knowledge ?? []) addKnowledge(registry, base, own('knowledge'));
  for (const hook of settings.hooks ?? []) registry.hooks.add(hook.name, hook, own('hooks'));
  for (const base of knowledge) addKnowledge(registry, base, { text: 'knowledge', explicit: false });
  new Collector(registry).visit(components);
}

class Collector {
  private readonly seen = new Set<Executable>();

  constructor(private readonly registry: RegisteredThings) {}

  visit(components: readonly Executable[]): void {
    for (const component of components) {
      if (this.seen.has(component)) continue;
      this.seen.add(component);
      const place = { text: `${component.kind} '${component.id}'`, explicit: false };
      if (isRemote(component) && component instanceof Workflow) continue;
      if (component instanceof Workflow) this.workflow(component, place);
      else if (isLed(component)) this.led(component, place);
    }
  }

  private workflow({ id, nodes, whole, settings }: AnyWorkflow, place: Place): void {
    if (settings.inputSchema !== undefined) this.schema(settings.inputSchema, `${id}.input_schema`, place);
    if (whole !== undefined) this.function(whole, 'steps', `${id}.steps`, place);
    for (const node of nodes) this.node(node, id, place);
    if (settings.agent !== undefined) this.visit([settings.agent]);
  }

  private node(node: WorkflowNode, workflow: string, place: Place): void {
    if (node.type === 'Step' && 'component' in node.run) this.visit([node.run.component]);
    for (const [setting, work] of Object.entries(worksOf(node)))
      if (typeof work === 'function') {
        // a name that only the position gives would stand for another function when steps are moved
        const isNamed = node.isNamed && !(node.type === 'Step' && isUnnamed(node));
        this.function(work, setting, isNamed ? `${workflow}.${node.name}` : setting, place);
      }
    const { requiresOutputReview: reviewed } = node.review ?? {};
    if (typeof reviewed === 'function')
      this.function(reviewed, 'requiresOutputReview', `${workflow}.${node.name}.review`, place);
    if (node.type === 'Step') {
      const { inputSchema, outputSchema } = node;
      if (inputSchema !== undefined) this.schema(inputSchema, `${workflow}.${node.name}.input_schema`, place);
      if (outputSchema !== undefined)
        this.schema(outputSchema, `${workflow}.${node.name}.output_schema`, place);
    }
    for (const inner of nodesInside(node)) this.node(inner, workflow, place);
  }

  /** One that is written in place has the name of its setting, as many others have: it is named after its place. */
  private function(work: RegisteredFunction, setting: string, placeName: string, place: Place): void {
    this.registry.functions.add(work.name === setting ? placeName : work.name, work, place);
  }

  private led(component: AnyAgent | AnyTeam, place: Place): void {
    const { registry } = this;
    const { settings } = component;
    registry.members.add(component.id, component, place);
    // its models are at another service
    if (isRemote(component)) return;
    for (const model of modelsOf(settings)) addModel(registry, model, place);
    for (const entry of namedTools(settings.tools)) addTool(registry, entry, place);
    for (const base of knowledgeOf(settings)) addKnowledge(registry, base, place);
    addEmbedder(registry, recallPlan(settings)?.embedder, place);
    const { inputSchema, outputSchema, workingMemory } = settings;
    if (inputSchema !== undefined) this.schema(inputSchema, `${component.id}.input_schema`, place);
    if (outputSchema !== undefined) this.schema(outputSchema, `${component.id}.output_schema`, place);
    if (workingMemory !== undefined)
      this.schema(workingMemory.schema, `${component.id}.working_memory`, place);
    const { instructions, toolHooks = [], knowledgeRetriever, onFallback, dependencies = {} } = settings;
    if (typeof instructions === 'function')
      this.function(instructions, 'instructions', `${component.id}.instructions`, place);
    if (knowledgeRetriever !== undefined)
      this.function(knowledgeRetriever, 'knowledgeRetriever', `${component.id}.knowledge_retriever`, place);
    if (onFallback !== undefined)
      this.function(onFallback, 'onFallback', `${component.id}.on_fallback`, place);
    for (const work of [...toolHooks, ...Object.values(dependencies)])
      if (typeof work === 'function') registry.functions.add(work.name, work, place);
    for (const hook of [...(settings.preHooks ?? []), ...(settings.postHooks ?? [])])
      registry.hooks.add(hook.name, hook, place);
    for (const hook of settings.modelHooks ?? []) registry.hooks.add(hook.name, hook, place);
    for (const transform of settings.textTransforms ?? [])
      registry.functions.add(transform.name, transform, place);
    // those of the code, and not the copies that have taken the model of the team
    if (component.kind === 'team') this.visit(namedMembers(component.settings.members));
    this.visit(component.componentTools);
  }

  /** One without a title is named after its place. */
  private schema(schema: ValueSchema, untitled: string, place: Place): void {
    const { title } = jsonSchemaOf(schema);
    this.registry.schemas.add(typeof title === 'string' && title !== '' ? title : untitled, schema, place);
  }
}

function isLed(component: Executable): component is AnyAgent | AnyTeam {
  return (component.kind === 'agent' || component.kind === 'team') && 'settings' in component;
}

function addModel(registry: RegisteredThings, model: ModelLike, place: Place): void {
  registry.models.add(describeModel(model).id, model, place);
}

function addTool(registry: RegisteredThings, given: ToolEntry, place: Place): void {
  const entry = plainEntry(given);
  if (entry instanceof Tool) {
    registry.tools.add(entry.name, entry, place);
    return;
  }
  registry.toolkits.add(entry.name, entry, place);
  noteNamed(toolSourcesOf([entry]));
  if (!(entry instanceof Toolkit)) return;
  const { tools } = collectFixedTools(`Toolkit '${entry.name}'`, [entry]);
  for (const [name, tool] of tools) registry.toolsInKits.add(name, tool, place);
}

function addKnowledge(registry: RegisteredThings, base: Knowledge, place: Place): void {
  registry.knowledge.add(base.name, base, place);
  addEmbedder(registry, base.settings.embedder, place);
}

function addEmbedder(registry: RegisteredThings, embedder: EmbedderLike | undefined, place: Place): void {
  if (embedder !== undefined) registry.embedders.add(resolveEmbedder(embedder).id, embedder, place);
}

/** The models of an agent or a leader, those of its stages included. */
function modelsOf(settings: AgentSettings): ModelLike[] {
  const stages = [
    typeof settings.model === 'function' ? undefined : settings.model,
    settings.sessionSummaryModel,
    settings.memoryModel,
    learningPlan(settings)?.model,
    settings.parserModel,
    settings.outputModel,
    settings.reasoningModel,
    settings.followupModel,
    settings.compressionModel,
  ];
  const given = stages.filter((model) => model !== undefined);
  return [...given, ...(settings.fallbackModels ?? []).map((one) => fallbackOf(one).model)];
}

/** What executes a step and decides in a group, by its setting. */
function worksOf(node: WorkflowNode) {
  switch (node.type) {
    case 'Step':
      return 'function' in node.run ? { run: node.run.function } : {};
    case 'Loop':
      return { until: node.until };
    case 'Condition':
      return { when: node.when };
    case 'Router':
      return { select: node.select };
    default:
      return {};
  }
}
