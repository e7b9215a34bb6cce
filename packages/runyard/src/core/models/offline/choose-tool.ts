import { newCallId } from '../../ids.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { ToolCall } from '../message.js';
import type { ToolChoice, ToolDefinition } from '../model.js';
import { fillSchema } from './fill-schema.js';
import { readArguments } from './read-arguments.js';
import { propertiesOf, SchemaReader } from './schema-parts.js';
import { escapePattern, keywords, overlap, words } from './words.js';

const mostCalls = 3;
/** One word of the name, or as much from the description. */
const enough = 3;

/** Verbs that say nothing about what a tool is for. */
const emptyVerbs = new Set([
  'get',
  'set',
  'list',
  'run',
  'call',
  'make',
  'fetch',
  'read',
  'show',
  'tool',
  'current',
]);

interface Candidate {
  readonly tool: ToolDefinition;
  readonly score: number;
  /** The text names the tool in all its words. */
  readonly named: boolean;
  readonly args: JsonObject;
}

/** The tools that the message asks for, as far as plain rules show, with the arguments found in it. */
export function chooseToolCalls(
  message: string,
  tools: readonly ToolDefinition[],
  choice: ToolChoice = 'auto',
): ToolCall[] {
  if (choice === 'none' || tools.length === 0) return [];
  const named = typeof choice === 'object' ? tools.filter((tool) => tool.name === choice.name) : tools;
  const candidates = named.flatMap((tool) => candidate(tool, message)).sort((a, b) => b.score - a.score);
  const best =
    candidates.find(({ score }) => score >= enough) ?? (choice === 'auto' ? undefined : candidates[0]);
  if (!best) return choice === 'auto' ? [] : named.slice(0, 1).map((tool) => forcedCall(tool, message));
  const others = candidates.filter((other) => other !== best && other.named && other.score >= enough);
  const chosen = typeof choice === 'object' ? [best] : [best, ...others.filter(asksForMore(best))];
  return chosen.slice(0, mostCalls).map(({ tool, args }) => toolCall(tool, args));
}

function candidate(tool: ToolDefinition, message: string): Candidate[] {
  const score = relevance(tool, message);
  const args = readArguments(tool, message);
  return args ? [{ tool, args, ...score }] : [];
}

function relevance(tool: ToolDefinition, message: string): { score: number; named: boolean } {
  // “Do you remember …” asks; it is no request to remember.
  const asked = message.replace(/\byou (?:still |already )?(?:remember|know)\b/gi, 'recall');
  const spoken = keywords(asked);
  const name = new Set([...keywords(tool.name)].filter((word) => !emptyVerbs.has(word)));
  const inName = overlap(name, spoken);
  const literal = new RegExp(`(?<![\\w-])${escapePattern(tool.name)}(?![\\w-])`, 'i').test(asked);
  const inDescription = overlap(keywords(tool.description), spoken);
  const inParameters = overlap(keywords(parameterWords(tool)), spoken);
  return {
    score: (literal ? 10 : 0) + inName * 3 + inDescription * 1.5 + inParameters,
    named: literal || (name.size > 0 && inName === name.size),
  };
}

function parameterWords(tool: ToolDefinition): string {
  const reader = new SchemaReader(tool.inputSchema);
  return propertiesOf(reader.plain(tool.inputSchema))
    .map(([name, property]) => {
      const { enum: choices } = reader.plain(property);
      return [name, ...(Array.isArray(choices) ? choices : [])].join(' ');
    })
    .join(' ');
}

/** A second tool is called only for words that the first does not account for. */
function asksForMore(best: Candidate): (other: Candidate) => boolean {
  const covered = keywords(best.tool.name);
  return (other) =>
    words(other.tool.name).some((word) => !emptyVerbs.has(word) && !overlap(keywords(word), covered));
}

function forcedCall(tool: ToolDefinition, message: string): ToolCall {
  const args = fillSchema({ type: 'object', ...tool.inputSchema }, message);
  return toolCall(tool, isJsonObject(args) ? args : {});
}

function toolCall(tool: ToolDefinition, args: JsonObject): ToolCall {
  return { id: newCallId(), name: tool.name, arguments: JSON.stringify(args) };
}
