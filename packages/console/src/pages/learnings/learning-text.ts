import type { Learning } from '@runyard/client';

/** The types that agents write. Any other name is a type of one's own. */
export const knownTypes = [
  'user_profile',
  'user_memory',
  'session_context',
  'entity_memory',
  'decision_log',
  'working_memory',
] as const;

export const typeNames: Readonly<Record<string, string>> = {
  user_profile: 'profile',
  user_memory: 'memories',
  session_context: 'session',
  entity_memory: 'entity',
  decision_log: 'decision',
  working_memory: 'working memory',
};

/** What a record is about. */
export function subjectOf({ user_id, session_id, entity_id, entity_type, namespace }: Learning): string {
  const subject = entity_id === null ? (session_id ?? user_id) : `${entity_type ?? ''} ${entity_id}`.trim();
  return subject ?? namespace ?? 'everyone';
}

/** The content in one line: its texts and numbers with their names. */
export function summaryOf(content: Learning['content']): string {
  return Object.entries(content)
    .map(([key, value]) => `${key}: ${shortText(value)}`)
    .join(' · ');
}

function shortText(value: unknown): string {
  if (Array.isArray(value)) return value.map(shortText).join(', ');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(shortText).join(' ');
  return String(value);
}
