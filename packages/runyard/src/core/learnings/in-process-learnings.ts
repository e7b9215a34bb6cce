import { bestMatches, searchableText, searchWords } from './learning-search.js';
import {
  isSameLearning,
  type Learning,
  type LearningChange,
  type Learnings,
  type LearningsQuery,
  namespaceOf,
  rememberedChanges,
} from './learnings.js';

/** How many records are kept; beyond it the oldest are forgotten. */
const keptLearnings = 10_000;

interface Kept {
  readonly record: Learning;
  readonly changes: readonly string[];
}

/** What agents learn that are run without a service: nothing outlives the process. */
export class InProcessLearnings implements Learnings {
  private readonly kept = new Map<string, Kept>();

  async find(userId: string | null, query: LearningsQuery): Promise<readonly Learning[]> {
    const newestFirst = Array.from(this.kept.values(), ({ record }) => record)
      .filter((record) => (record.userId === null || record.userId === userId) && fits(record, query))
      .reverse()
      .sort((left, right) => right.updatedAt - left.updatedAt);
    const words = searchWords(query.search ?? '');
    return bestMatches(newestFirst, words, searchableText).slice(0, query.limit);
  }

  async get(userId: string | null, learningId: string): Promise<Learning | undefined> {
    const record = this.kept.get(learningId)?.record;
    return record?.userId === userId ? record : undefined;
  }

  async change({ identity, key, now, merge }: LearningChange): Promise<void> {
    const { learningId } = identity;
    const stored = this.kept.get(learningId);
    if (stored !== undefined && !isSameLearning(stored.record, identity)) return;
    if (stored?.changes.includes(key)) return;
    const content = merge(stored?.record.content);
    if (content === undefined) return;
    const made = { ...identity, metadata: null, createdAt: now };
    this.kept.set(learningId, {
      record: { ...(stored?.record ?? made), content, updatedAt: now },
      changes: [...(stored?.changes ?? []), key].slice(-rememberedChanges),
    });
    const [oldest] = this.kept.keys();
    if (this.kept.size > keptLearnings && oldest !== undefined) this.kept.delete(oldest);
  }
}

function fits(record: Learning, { learningType, exceptTypes, namespaces }: LearningsQuery): boolean {
  if (learningType !== undefined && record.learningType !== learningType) return false;
  if (exceptTypes?.includes(record.learningType)) return false;
  return namespaces === undefined || namespaces.includes(namespaceOf(record));
}
