import { newCallId } from '../../ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Message, ToolCall } from '../message.js';
import type { ToolChoice, ToolDefinition } from '../model.js';
import { keywords, sentences } from './words.js';

const searchTool = 'search_knowledge_base';
const longestQuery = 1_000;
/** How many documents an answer quotes, and how much of each. */
const mostPassages = 3;
const longestPassage = 500;
/** How many sentences of a document the rules look at. */
const mostSentences = 200;

/** A document that was found for the question. */
export interface FoundDocument {
  readonly name: string | null;
  readonly content: string;
}

/** A search for what the question is about, when the model has knowledge to search. */
export function chooseSearch(
  question: string,
  tools: readonly ToolDefinition[],
  choice: ToolChoice | undefined,
): ToolCall[] {
  const isOffered = tools.some(({ name }) => name === searchTool);
  const isFree = choice === undefined || choice === 'auto' || choice === 'required';
  if (!isOffered || !isFree || keywords(question).size === 0) return [];
  const query = question.trim().slice(0, longestQuery);
  return [{ id: newCallId(), name: searchTool, arguments: JSON.stringify({ query }) }];
}

/** What was found for the question: by the searches of this turn, or before it. Undefined when other tools have more to say. */
export function foundDocuments(
  results: readonly Message[],
  references: string | undefined,
): readonly FoundDocument[] | undefined {
  if (results.length === 0) return references === undefined ? undefined : documentsIn(references);
  const isSearch = ({ toolName, toolCallError }: Message) => toolName === searchTool && !toolCallError;
  return results.every(isSearch) ? results.flatMap(({ content }) => documentsIn(content)) : undefined;
}

/** Whether the system message instructs the model to search. */
export function requiresSearch(system: string): boolean {
  return knowledgeBlock.test(system);
}

/** The system message without what it says about searching. */
export function withoutKnowledgeBlock(system: string): string {
  return system.replace(knowledgeBlock, '');
}

const knowledgeBlock = /^<knowledge_base>\n[\s\S]*?\n<\/knowledge_base>$/m;

/** The documents that a text lists; none in a text of another form. */
function documentsIn(text: string): readonly FoundDocument[] {
  const list = parsed(text) ?? text.split(/^- /m).slice(1).map(yamlFields);
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => {
    if (!isJsonObject(item) || typeof item.content !== 'string') return [];
    return [{ name: typeof item.name === 'string' ? item.name : null, content: item.content }];
  });
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The texts of a document that is written as YAML: a text in quotes, or a block of lines. */
function yamlFields(document: string): JsonObject {
  const fields = document.matchAll(/^(?: {2})?(name|content): (?:\|-\n((?: {4}.*(?:\n|$))+)|(".*"))/gm);
  return Object.fromEntries(
    Array.from(fields, ([, field = '', lines, quoted = '']) => [
      field,
      lines === undefined ? (parsed(quoted) ?? null) : lines.replaceAll(/^ {4}/gm, '').trimEnd(),
    ]),
  );
}

/** The passages that are about the question, and the names of the documents that they come from. */
export function answerFromDocuments(question: string, documents: readonly FoundDocument[]): string {
  const asked = keywords(question);
  const passages = documents
    .flatMap((document) => bestPassage(asked, document))
    .sort((a, b) => b.score - a.score);
  const best = passages[0];
  if (best === undefined) return 'I found nothing about that in the knowledge base.';
  // what says hardly anything about the question is left out beside a passage that does
  const quoted = passages.filter(({ score }) => score * 2 > best.score).slice(0, mostPassages);
  const texts = [...new Set(quoted.map(({ text }) => text))];
  const sources = [...new Set(quoted.flatMap(({ name }) => name ?? []))];
  const named = sources.length === 0 ? '' : `\n\nSources: ${sources.join(', ')}`;
  return `${texts.join('\n\n')}${named}`;
}

interface Passage {
  readonly name: string | null;
  readonly text: string;
  readonly score: number;
}

/** The sentence of a document that is most about the question, with the one after it. */
function bestPassage(asked: ReadonlySet<string>, { name, content }: FoundDocument): Passage[] {
  let best: Passage | undefined;
  let heading = '';
  const said = sentences(content).slice(0, mostSentences);
  for (const [position, sentence] of said.entries()) {
    if (isHeading(sentence)) {
      heading = sentence;
      continue;
    }
    const after = said[position + 1] ?? '';
    const next = isHeading(after) ? '' : after;
    const score = relevance(asked, sentence, next, heading);
    if (score <= (best?.score ?? 0)) continue;
    const text = [sentence, next].map((part) => part.replace(/^(?:[-*>]|\d+\.)\s+/, '')).join(' ');
    best = { name, text: shortened(text.trim()), score };
  }
  return best === undefined ? [] : [best];
}

/** Words that a sentence shares with the question count most, then those of the next one, then those of its heading. */
function relevance(asked: ReadonlySet<string>, ...texts: readonly string[]): number {
  const words = texts.map(keywords);
  let score = 0;
  for (const word of asked) {
    const place = words.findIndex((one) => one.has(word));
    if (place !== -1) score += 1 - place / 4;
  }
  return score;
}

function isHeading(sentence: string): boolean {
  return /^#{1,6}\s/.test(sentence);
}

function shortened(text: string): string {
  return text.length > longestPassage ? `${text.slice(0, longestPassage)}…` : text;
}
