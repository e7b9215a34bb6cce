import { idFrom } from '../ids.js';
import { globalNamespace, type Learning, privateNamespacePrefix } from './learnings.js';

type Identity = Partial<Pick<Learning, 'namespace' | 'userId' | 'sessionId' | 'entityId' | 'entityType'>>;

/** The types of which there is one record for each identity, with what makes up the identity. */
const keyedTypes = new Map<
  string,
  { needs(identity: Identity): readonly (keyof Identity)[]; idOf(identity: Identity): string }
>(
  Object.entries({
    user_profile: { needs: () => ['userId'], idOf: ({ userId }) => `user_profile_${userId}` },
    user_memory: { needs: () => ['userId'], idOf: ({ userId }) => `memories_${userId}` },
    session_context: { needs: () => ['sessionId'], idOf: ({ sessionId }) => `session_context_${sessionId}` },
    entity_memory: {
      needs: () => ['entityId', 'entityType'],
      idOf: ({ namespace, entityType, entityId }) =>
        `entity_${keyPart(namespace || globalNamespace)}_${entityType}_${entityId}`,
    },
    // of an agent or a team, in a session or for a user: nobody can take the id of what another user will have
    working_memory: {
      needs: ({ sessionId }) => ['entityId', 'entityType', ...(sessionId ? [] : (['userId'] as const))],
      idOf: ({ entityType, entityId, sessionId, userId }) =>
        `working_memory_${idFrom(JSON.stringify([entityType, entityId, sessionId ?? null, userId ?? null]))}`,
    },
  }),
);

/** Where the namespace of one user ends must be plain: else the entities of `eve` could take the ids of those of `eve_x`. */
function keyPart(namespace: string): string {
  return namespace.startsWith(privateNamespacePrefix) ? namespace.replaceAll('_', '%5F') : namespace;
}

/** What is lacking for a record of this type; empty when nothing is, and for types that have no such ids. */
export function missingIdentity(learningType: string, identity: Identity): readonly (keyof Identity)[] {
  const needs = keyedTypes.get(learningType)?.needs(identity) ?? [];
  return needs.filter((name) => !identity[name]);
}

/** The id of the one record of this type and identity; undefined for types of which there may be many. */
export function keyedLearningId(learningType: string, identity: Identity): string | undefined {
  return keyedTypes.get(learningType)?.idOf(identity);
}
