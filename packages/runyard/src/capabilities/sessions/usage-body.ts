import { type SessionUsage, tokenCounts } from './usage-store.js';

type Counts = Pick<SessionUsage, (typeof tokenCounts)[number] | 'cost'>;

/** The usage of a session as the wire shows it; undefined when no run has paused or ended yet. */
export function usageBody(usage: readonly SessionUsage[]): Record<string, unknown> | undefined {
  if (usage.length === 0) return undefined;
  const models = usage.filter(({ purpose }) => purpose !== '');
  const details: Record<string, unknown[]> = {};
  for (const { purpose, model, provider, ...counts } of models) {
    details[purpose] ??= [];
    details[purpose].push({ ...countsBody([counts]), id: model, provider });
  }
  return { ...countsBody(models), ...(models.length > 0 && { details }) };
}

/** What is zero, or not known, is left out. */
function countsBody(parts: readonly Counts[]): Record<string, number> {
  const body: Record<string, number> = {};
  for (const name of [...tokenCounts, 'cost'] as const) {
    const sum = parts.reduce((total, counts) => total + (counts[name] ?? 0), 0);
    if (sum !== 0) body[name] = sum;
  }
  return body;
}
