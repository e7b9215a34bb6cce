import type { UserMemory } from '../../memory/user-memories.js';
import { shortened } from '../auxiliary/bounded-text.js';

/** What one memory may hold, as the wire says too. */
export const longestMemory = 5_000;
export const mostTopics = 20;
export const longestTopic = 100;

/** What a model reads of one memory, and of all of them. */
const longestShown = 1_000;
const longestList = 20_000;

/** A memory as it is stored: undefined for one that says nothing. */
export function memoryText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return storable(value, longestMemory) || undefined;
}

/** Topics as they are stored: each once, whatever its letters. */
export function memoryTopics(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  const topics = new Map<string, string>();
  for (const given of value) {
    const topic = typeof given === 'string' ? storable(given, longestTopic) : '';
    if (topic !== '' && !topics.has(topic.toLowerCase())) topics.set(topic.toLowerCase(), topic);
  }
  return [...topics.values()].slice(0, mostTopics);
}

/** What is kept of a text: no more than this, and nothing that a database cannot hold. */
export function storable(text: string, limit: number): string {
  const clean = text.replaceAll('\u0000', '').trim();
  if (clean.length <= limit) return clean;
  // not between the two halves of a character
  const last = clean.charCodeAt(limit - 1);
  return clean.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit).trim();
}

/**
 * Memories as a model is shown them: a line each, the newest first, as many as there is room for. With `ids`, those
 * come first, for a model that may change them.
 */
export function memoryLines(memories: readonly UserMemory[], ids: boolean): string[] {
  const lines: string[] = [];
  let room = longestList;
  for (const { memoryId, memory, topics } of memories) {
    // what is one memory looks like one, whatever it says
    const text = shortened(memory, longestShown).replace(/\s+/g, ' ');
    const about = topics.length === 0 ? '' : ` (${topics.join(', ').replace(/\s+/g, ' ')})`;
    const line = `- ${ids ? `${memoryId}: ` : ''}${text}${about}`;
    room -= line.length;
    if (room < 0) break;
    lines.push(line);
  }
  return lines;
}

/** An untrusted text, between marks that nothing in it can imitate. */
export function block(name: string, text: string): string {
  const marks = new RegExp(`<(?=\\s*/?\\s*${name}\\b)`, 'gi');
  return `<${name}>\n${text.replace(marks, '&lt;')}\n</${name}>`;
}
