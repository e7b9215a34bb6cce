import type { Learning, Learnings, LearningsQuery } from './learnings.js';

/** How many records are kept; beyond it the oldest are forgotten. */
const keptLearnings = 10_000;

/** What agents learn that are run without a service: nothing outlives the process. */
export class InProcessLearnings implements Learnings {
  private readonly records = new Map<string, Learning>();

  async find(userId: string | null, query: LearningsQuery): Promise<readonly Learning[]> {
    const words = (query.search ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    return [...this.records.values()]
      .filter((record) => isVisible(record, userId) && fits(record, query, words))
      .reverse()
      .sort((left, right) => right.updatedAt - left.updatedAt)
      .slice(0, query.limit);
  }

  async get(userId: string | null, learningId: string): Promise<Learning | undefined> {
    const record = this.records.get(learningId);
    return record && isVisible(record, userId) ? record : undefined;
  }

  async put(
    userId: string | null,
    learning: Omit<Learning, 'createdAt' | 'updatedAt'>,
    now: number,
  ): Promise<void> {
    const stored = this.records.get(learning.learningId);
    if (stored !== undefined && !isVisible(stored, userId)) return;
    this.records.set(learning.learningId, {
      ...learning,
      createdAt: stored?.createdAt ?? now,
      updatedAt: now,
    });
    const [oldest] = this.records.keys();
    if (this.records.size > keptLearnings && oldest !== undefined) this.records.delete(oldest);
  }
}

function isVisible(record: Learning, userId: string | null): boolean {
  return record.userId === null || record.userId === userId;
}

function fits(record: Learning, query: LearningsQuery, words: readonly string[]): boolean {
  const exact = ['learningType', 'namespace', 'sessionId', 'entityId', 'entityType'] as const;
  if (exact.some((name) => query[name] !== undefined && record[name] !== query[name])) return false;
  const text = words.length === 0 ? '' : JSON.stringify(record.content).toLowerCase();
  return words.every((word) => text.includes(word));
}
