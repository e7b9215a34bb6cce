import { idFrom } from '../../ids.js';
import type { JsonObject } from '../../json.js';
import { keyedLearningId } from '../../learnings/learning-ids.js';
import {
  globalNamespace,
  type LearningChange,
  type LearningIdentity,
  privateNamespacePrefix,
} from '../../learnings/learnings.js';
import type { Run } from '../../runs/run.js';
import type { Learned } from './learned.js';
import type { LearningPlan } from './learning-settings.js';
import { mergedEntity, mergedMemories, mergedProfile, mergedSession } from './merge-learned.js';

const decisionType = 'decision_log';

/** Where something was learned. */
export interface LearnedAt {
  readonly run: Run;
  readonly plan: LearningPlan;
  /** The same whenever the same is stored again. */
  readonly key: string;
  readonly now: number;
}

/** What to store of what was learned. */
export function changesFor(at: LearnedAt, learned: Learned): LearningChange[] {
  const { key } = at;
  const { userId, sessionId } = at.run;
  const changes: LearningChange[] = [];
  const store = (
    learningType: string,
    about: Partial<LearningIdentity>,
    merge: (content: JsonObject | undefined) => JsonObject | undefined,
  ) => {
    const { run, now } = at;
    const seed = `${key}:${changes.length}`;
    const identity = identityOf(run, learningType, about, seed);
    // the same thing may be reported twice: each is a change of its own
    const earlier = changes.filter((change) => change.identity.learningId === identity.learningId).length;
    changes.push({ identity, key: `${key}:${earlier}`, now, merge });
  };
  if (userId !== null && learned.profile.length > 0)
    store('user_profile', { userId }, (content) => mergedProfile(content, learned));
  if (userId !== null && learned.memories.length > 0)
    store('user_memory', { userId }, (content) => mergedMemories(content, learned, key));
  if (Object.keys(learned.session).length > 0)
    store('session_context', { userId, sessionId }, (content) => mergedSession(content, learned));
  const shared = sharedBy(at.plan, userId);
  learned.entities.forEach((entity, position) => {
    const { entityType, entityId } = entity;
    store('entity_memory', { ...shared, entityType, entityId }, (content) =>
      mergedEntity(content, entity, `${key}:${position}`),
    );
  });
  for (const { decision, reasoning } of learned.decisions) {
    store(decisionType, { ...shared, sessionId }, (content) =>
      content === undefined ? { decision, ...(reasoning !== '' && { reasoning }) } : undefined,
    );
  }
  return changes;
}

/** Where an agent searches for what it was not shown: the shared namespace, or the user's own and the global one. */
export function searchedNamespaces({ namespace }: LearningPlan, userId: string | null): readonly string[] {
  if (namespace !== undefined) return [namespace];
  return userId === null ? [globalNamespace] : [privateNamespacePrefix + userId, globalNamespace];
}

/** What is not shared stays with the user of the run; a run without a user keeps it in the global namespace. */
function sharedBy({ namespace }: LearningPlan, userId: string | null): Partial<LearningIdentity> {
  if (namespace !== undefined) return { namespace, userId: null };
  return userId === null
    ? { namespace: globalNamespace, userId }
    : { namespace: privateNamespacePrefix + userId, userId };
}

function identityOf(
  { kind, componentId }: Run,
  learningType: string,
  about: Partial<LearningIdentity>,
  seed: string,
): LearningIdentity {
  return {
    learningId: keyedLearningId(learningType, about) ?? idFrom(seed),
    learningType,
    namespace: null,
    userId: null,
    sessionId: null,
    entityId: null,
    entityType: null,
    ...about,
    agentId: kind === 'agent' ? componentId : null,
    teamId: kind === 'team' ? componentId : null,
  };
}
