import { z } from 'zod';
import type { Json } from '../../json.js';
import { claimMetadata } from '../../knowledge/claim-filters.js';
import type { KnowledgeFilter } from '../../knowledge/filter.js';
import { parseFilter } from '../../knowledge/filter-parse.js';
import type { Knowledge } from '../../knowledge/knowledge.js';
import { lazySchema } from '../../schemas/lazy-schema.js';
import { ToolRefused } from '../../tools/call/tool-hooks.js';
import { nativeTool, type Tool } from '../../tools/tool.js';
import type { ToolCallSite } from '../../tools/tool-context.js';
import type { AgentExecution } from '../execution.js';
import { executionOf } from '../turns/built-in/execution-of-call.js';
import { hasKnowledge, type KnowledgeUse, knowledgeOf } from './knowledge-use.js';
import { referencesText } from './references-text.js';
import { claimsOf, longestQuery, searchFailure, searchKnowledge } from './search-knowledge.js';

export const searchToolName = 'search_knowledge_base';

const mostFilters = 20;
const longestResult = 100_000;

const query = lazySchema(() => z.string().max(longestQuery).describe('What to look for, in words.'));

const filters = lazySchema(() =>
  z
    .array(
      z.object({
        key: z.string().max(255).describe('One of the known keys.'),
        value: z
          .union([z.string().max(1_000), z.number(), z.boolean()])
          .describe('The value that it has to have.'),
      }),
    )
    .max(mostFilters)
    .optional()
    .describe('Restricts the search to documents with these values. Leave it out to search everything.'),
);

type AskedFilters = readonly { readonly key: string; readonly value: Json }[];

const searches = new WeakSet<Tool>();

/** Whether the result of a tool is what a search of knowledge found. */
export function isKnowledgeSearch(tool: Tool | undefined): boolean {
  return tool !== undefined && searches.has(tool);
}

/** The tools that an agent has because of what it knows. */
export function knowledgeTools(use: KnowledgeUse): readonly Tool[] {
  const tools: Tool[] = [];
  if (hasKnowledge(use) && use.searchKnowledge !== false) tools.push(searchTool(use));
  const [first] = knowledgeOf(use);
  if (first !== undefined && use.updateKnowledge) tools.push(addTool(first));
  return tools;
}

function searchTool({ agenticKnowledgeFilters }: KnowledgeUse): Tool {
  const described = {
    name: searchToolName,
    description: 'Search the knowledge base for documents about a subject.',
    readOnly: true,
  };
  const tool = agenticKnowledgeFilters
    ? nativeTool({
        ...described,
        inputSchema: z.object({ query, filters }),
        execute: (asked, site) => search(site, asked.query, asked.filters),
      })
    : nativeTool({
        ...described,
        inputSchema: z.object({ query }),
        execute: (asked, site) => search(site, asked.query),
      });
  searches.add(tool);
  return tool;
}

async function search(site: ToolCallSite, text: string, asked: AskedFilters = []): Promise<string> {
  const execution = executionOf(site);
  try {
    const filter = await agenticFilter(execution, asked);
    const found = await searchKnowledge(execution, { query: text, filter, signal: site.signal });
    return referencesText(found, 'json');
  } catch (error) {
    site.signal.throwIfAborted();
    if (error instanceof ToolRefused) throw error;
    throw new ToolRefused(searchFailure(execution, error));
  }
}

/** What the model asks for. A key that does not exist is refused: without it, the search would find other things. */
async function agenticFilter(
  execution: AgentExecution,
  asked: AskedFilters,
): Promise<KnowledgeFilter | undefined> {
  if (asked.length === 0) return undefined;
  const known = await knownFilterKeys(execution);
  const unknown = asked.filter(({ key }) => !known.includes(key));
  if (unknown.length > 0) {
    const names = [...new Set(unknown.map(({ key }) => `'${key}'`))].join(', ');
    const others = known.length === 0 ? 'There are none.' : `Known keys: ${known.join(', ')}.`;
    throw new ToolRefused(`Error searching knowledge base: unknown filter key ${names}. ${others}`);
  }
  const byKey = new Map<string, Json[]>();
  for (const { key, value } of asked) byKey.set(key, [...(byKey.get(key) ?? []), value]);
  return parseFilter(Array.from(byKey, ([key, values]) => ({ op: 'IN', key, values })));
}

/** The metadata keys that a model can filter by: those of the contents that the caller of the run may see. */
export async function knownFilterKeys(execution: AgentExecution): Promise<readonly string[]> {
  const claims = claimsOf(execution);
  const keys = await Promise.all(
    knowledgeOf(execution.agent.settings).map(async (base) => {
      const bound = claimMetadata(base.settings, claims);
      return bound === null ? [] : base.filterKeys(bound);
    }),
  );
  return [...new Set(keys.flat())].sort();
}

function addTool(base: Knowledge): Tool {
  return nativeTool({
    name: 'add_to_knowledge',
    description: 'Add what you have found out to the knowledge base, so that later searches find it.',
    inputSchema: z.object({
      query: z.string().min(1).max(longestQuery).describe('The question that it answers.'),
      result: z
        .string()
        .min(1)
        .max(longestResult)
        .describe('The answer, complete and understandable on its own.'),
    }),
    execute: (given, site) => add(base, given, site),
  });
}

async function add(
  base: Knowledge,
  { query: asked, result }: { readonly query: string; readonly result: string },
  site: ToolCallSite,
): Promise<string> {
  const execution = executionOf(site);
  const bound = claimMetadata(base.settings, claimsOf(execution));
  if (bound === null)
    throw new ToolRefused('Not added: the caller of this run may not add to the knowledge base.');
  // an execution after a crash has to find this very call: it must not undo what others have added since then
  await execution.context.stored();
  await base.addOnce(site.idempotencyKey, {
    name: asked.replaceAll(' ', '_').replace(/[?!.]/g, ''),
    ...(Object.keys(bound).length > 0 && { metadata: bound }),
    type: 'Text',
    from: { text: JSON.stringify({ query: asked, result }) },
  });
  return 'Successfully added to knowledge base';
}
