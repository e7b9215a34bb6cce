import { z } from 'zod';
import type { Json, JsonObject } from '../../json.js';
import type { Learning } from '../../learnings/learnings.js';
import { once } from '../../once.js';
import { ToolRefused } from '../../tools/call/tool-hooks.js';
import { nativeTool, type Tool } from '../../tools/tool.js';
import type { ToolCallSite } from '../../tools/tool-context.js';
import { shortened } from '../auxiliary/bounded-text.js';
import { executionOf } from '../turns/built-in/execution-of-call.js';
import { learnedIn } from './learned.js';
import { learnedParameters } from './learned-schema.js';
import { changesFor, searchedNamespaces } from './learning-changes.js';
import { kindsFor, type LearningPlan, learningPlan, looksUpLearnings } from './learning-settings.js';

const mostFound = 10;
const longestContent = 1_500;

/** What the model is shown anyway. */
const shownTypes = ['user_profile', 'user_memory', 'session_context', 'working_memory'];

/** The tools of an agent that learns. */
export function learningTools(settings: Parameters<typeof learningPlan>[0]): readonly Tool[] {
  const plan = learningPlan(settings);
  if (plan === undefined) return [];
  return [
    ...(looksUpLearnings(plan) ? [searchLearnings()] : []),
    ...(plan.mode === 'agentic' ? [saveLearning(plan)] : []),
  ];
}

const searchLearnings = once(() =>
  nativeTool({
    name: 'search_learnings',
    description:
      'Look up what was learned in earlier conversations about people, companies, projects and other things, what was decided, and other notes.',
    inputSchema: z.object({
      query: z
        .string()
        .max(500)
        .optional()
        .describe('Words to look for, such as a name; leave it out for the newest.'),
    }),
    readOnly: true,
    async execute({ query = '' }, site) {
      const { agent, context } = executionOf(site);
      const found = await context.ports.learnings.find(site.userId, {
        exceptTypes: shownTypes,
        // only agents with a plan have this tool
        namespaces: searchedNamespaces(learningPlan(agent.settings)!, site.userId),
        search: query,
        limit: mostFound,
      });
      return found.length === 0 ? 'Nothing was learned about that.' : found.map(shown);
    },
  }),
);

function saveLearning(plan: LearningPlan): Tool {
  const { instructions } = plan;
  return nativeTool({
    name: 'save_learning',
    description:
      'Keep what is new and will be of use in later conversations. Give only what is new or has changed, and leave out the rest. Never passwords, keys or card numbers.',
    inputSchema: learnedParameters(plan.kinds),
    ...(instructions !== undefined && {
      instructions: `What is worth keeping with save_learning: ${instructions}`,
    }),
    execute: (args, site) => save(plan, args, site),
  });
}

async function save(plan: LearningPlan, args: JsonObject, site: ToolCallSite): Promise<Json> {
  const { context } = executionOf(site);
  const { run, timers } = context;
  const learned = learnedIn(args, kindsFor(plan, run.userId));
  const changes = changesFor({ run, plan, key: site.idempotencyKey, now: timers.now() }, learned);
  if (changes.length === 0) {
    throw new ToolRefused(
      run.userId === null
        ? 'Nothing was kept: this conversation belongs to no known user, so nothing about one can be.'
        : 'Nothing was kept: there was nothing in it that can be.',
    );
  }
  // an execution after a crash has to find this very call: what another one asks for would come on top
  await context.stored();
  for (const change of changes) await context.ports.learnings.change(change);
  return { kept: changes.map(({ identity }) => identity.learningType) };
}

function shown({ learningType, entityType, content, updatedAt }: Learning): JsonObject {
  return {
    type: learningType,
    ...(entityType !== null && { entity_type: entityType }),
    content: shortened(JSON.stringify(content), longestContent),
    updated: new Date(updatedAt).toISOString(),
  };
}
