import type { SelectQueryBuilder } from 'kysely';
import { searchableText } from '../../core/learnings/learning-search.js';
import { globalNamespace, type Learning } from '../../core/learnings/learnings.js';
import type { Database } from '../../platform/storage/database.js';
import type { Schema } from '../../platform/storage/schema.js';
import { storedJson, storedJsonOrNull } from '../../platform/storage/text.js';
import type { LearningsTable } from './tables.js';

/** A query for learnings that does not say yet what of them is read. */
export type LearningSelection = SelectQueryBuilder<Schema, 'learnings', object>;

/** Stores a new record. False when there is one with this id: of several who try at once, one succeeds. */
export async function insertLearning(
  { query }: Database,
  learning: Learning,
  changes: readonly string[] | null,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await query
    .insertInto('learnings')
    .values(rowOf(learning, changes))
    .onConflict((conflict) => conflict.column('learning_id').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** What has no namespace is in the global one. */
export function inNamespaces(selection: LearningSelection, namespaces: readonly string[]): LearningSelection {
  if (!namespaces.includes(globalNamespace)) return selection.where('namespace', 'in', namespaces);
  return selection.where(({ eb, or }) =>
    or([eb('namespace', 'in', namespaces), eb('namespace', 'is', null)]),
  );
}

function rowOf(learning: Learning, changes: readonly string[] | null): LearningsTable {
  const { content, metadata } = learning;
  return {
    learning_id: learning.learningId,
    learning_type: learning.learningType,
    namespace: learning.namespace,
    user_id: learning.userId,
    agent_id: learning.agentId,
    team_id: learning.teamId,
    session_id: learning.sessionId,
    entity_id: learning.entityId,
    entity_type: learning.entityType,
    content: JSON.stringify(content),
    search_text: searchableText(learning),
    metadata: metadata && JSON.stringify(metadata),
    changes: changes && JSON.stringify(changes),
    created_at: learning.createdAt,
    updated_at: learning.updatedAt,
  };
}

export function learningFromRow(row: LearningsTable): Learning {
  return {
    learningId: row.learning_id,
    learningType: row.learning_type,
    namespace: row.namespace,
    userId: row.user_id,
    agentId: row.agent_id,
    teamId: row.team_id,
    sessionId: row.session_id,
    entityId: row.entity_id,
    entityType: row.entity_type,
    content: storedJson(row.content),
    metadata: storedJsonOrNull(row.metadata),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
