import type { UserMemory } from '../../core/memory/user-memories.js';

/** A memory as it is stored. */
export interface StoredMemory extends Omit<UserMemory, 'topics'> {
  /** Null: its subject was not given. */
  readonly topics: readonly string[] | null;
}

/** How long one topic may be; what is longer is cut. */
export const longestTopic = 255;
/** How many topics one memory may have. */
export const mostTopics = 100;

/** The topics as they are stored: no empty ones, each once, bounded. */
export function tidyTopics(topics: readonly string[]): string[] {
  const tidy = topics.map((topic) => topic.trim().slice(0, longestTopic)).filter((topic) => topic !== '');
  return [...new Set(tidy)].slice(0, mostTopics);
}
