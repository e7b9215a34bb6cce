import { errors } from '../../errors/errors.js';
import type { Json, JsonObject } from '../../json.js';
import { parseFilter } from '../../knowledge/filter-parse.js';
import { filterFault } from '../../knowledge/given-search.js';
import { Knowledge } from '../../knowledge/knowledge.js';
import type { Shape } from '../../options/kind.js';
import { anyOf, callable, flag, instanceOf, json, listOf, word } from '../../options/kinds.js';
import { storable } from '../../storable-json.js';
import { ofRun } from '../context/of-run-kind.js';
import type { OfRun } from '../context/run-values.js';
import type { KnowledgeRetriever } from './retriever.js';

/** How an agent, or the leader of a team, uses knowledge. */
export interface KnowledgeUse {
  /** What it knows: the knowledge bases that it searches, together. As a function, it is called for each run. */
  readonly knowledge?: OfRun<Knowledge | readonly Knowledge[]>;
  /** Gives the model a tool to search its knowledge. Default true. */
  readonly searchKnowledge?: boolean;
  /** Instructs the model in the system message to search before it answers. Default true. */
  readonly addSearchKnowledgeInstructions?: boolean;
  /** Restricts every search: metadata that chunks have to have, or expressions of the filter language. */
  readonly knowledgeFilters?: JsonObject | readonly JsonObject[];
  /** Lets the model restrict a search further, by metadata. */
  readonly agenticKnowledgeFilters?: boolean;
  /** Searches for what the user says and shows the model what was found, before the first model call. */
  readonly addKnowledgeToContext?: boolean;
  /** How that is written. Default `json`. */
  readonly referencesFormat?: 'json' | 'yaml';
  /** Gives the model a tool to add what it has found out to the first knowledge base. */
  readonly updateKnowledge?: boolean;
  /** A function of your own that searches in place of the knowledge bases. */
  readonly knowledgeRetriever?: KnowledgeRetriever;
}

const knowledgeBase = instanceOf(Knowledge, 'a knowledge base, made with knowledge()');

export const knowledgeUse: Shape<KnowledgeUse> = {
  knowledge: ofRun(anyOf(knowledgeBase, listOf(knowledgeBase))),
  searchKnowledge: flag,
  addSearchKnowledgeInstructions: flag,
  knowledgeFilters: anyOf(json, listOf(json)),
  agenticKnowledgeFilters: flag,
  addKnowledgeToContext: flag,
  referencesFormat: word('json', 'yaml'),
  updateKnowledge: flag,
  knowledgeRetriever: callable,
};

/** The knowledge bases of an agent or a leader; none where a function chooses them for each run. */
export function knowledgeOf({ knowledge = [] }: KnowledgeUse): readonly Knowledge[] {
  if (typeof knowledge === 'function') return [];
  return knowledge instanceof Knowledge ? [knowledge] : knowledge;
}

/** Whether there is anything to search. */
export function hasKnowledge(use: KnowledgeUse): boolean {
  return use.knowledgeRetriever !== undefined || knowledgeOf(use).length > 0;
}

/** Refuses settings that need knowledge where there is none. */
export function checkKnowledgeUse(owner: string, use: KnowledgeUse): void {
  const { agenticKnowledgeFilters, addKnowledgeToContext, updateKnowledge } = use;
  // what a function returns is known only in a run
  const isChosen = typeof use.knowledge === 'function';
  const needing = { agenticKnowledgeFilters, addKnowledgeToContext };
  for (const [name, value] of Object.entries(needing)) {
    if (value && !isChosen && !hasKnowledge(use))
      throw errors.invalidConfig(`${owner} has ${name} but nothing to search. Give it knowledge.`);
  }
  checkedFilters(owner, use.knowledgeFilters);
  if (updateKnowledge && !isChosen && knowledgeOf(use).length === 0)
    throw errors.invalidConfig(
      `${owner} has updateKnowledge but no knowledge base to add to. Give it knowledge.`,
    );
}

/** Filters that code gives, as they are stored. One that cannot be read is refused: without it, more would be found. */
export function checkedFilters(owner: string, filters: KnowledgeUse['knowledgeFilters']): Json | undefined {
  if (filters === undefined) return undefined;
  try {
    const stored = storable(filters, 'knowledgeFilters');
    parseFilter(stored, ['knowledgeFilters']);
    return stored;
  } catch (error) {
    throw errors.invalidConfig(`${owner} has a filter that cannot be read: ${filterFault(error)}`);
  }
}
