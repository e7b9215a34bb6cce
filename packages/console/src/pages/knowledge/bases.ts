import { ForbiddenError } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';

export interface KnowledgeBase {
  /** Undefined where the caller may not see the list: the service then takes its only one. */
  readonly id: string | undefined;
  readonly name: string;
  readonly description: string | undefined;
}

const onlyOne: KnowledgeBase = { id: undefined, name: 'Knowledge base', description: undefined };

/** The knowledge bases of the service. */
export function useKnowledgeBases() {
  const { client, address } = useConnection();
  return useQuery({
    queryKey: ['knowledge-bases', address],
    staleTime: 30_000,
    queryFn: async ({ signal }): Promise<readonly KnowledgeBase[]> => {
      try {
        const { knowledge } = await client.service.getConfig({ signal });
        const found = knowledge?.knowledge_instances ?? [];
        return found.map(({ id, name, description }) => ({ id, name, description }));
      } catch (error) {
        // the list needs config:read; contents need only knowledge:read
        if (error instanceof ForbiddenError) return [onlyOne];
        throw error;
      }
    },
  });
}

/** The part of a query that names a knowledge base. */
export function inBase(id: string | undefined): { knowledge_id?: string } {
  return id === undefined ? {} : { knowledge_id: id };
}

/** Readers, chunkers, keys of metadata, the embedder and the sources of a knowledge base. */
export function useKnowledgeConfig(baseId: string | undefined) {
  const { client, address } = useConnection();
  return useQuery({
    queryKey: ['knowledge-config', address, baseId],
    staleTime: 30_000,
    queryFn: ({ signal }) => client.knowledge.getConfig(inBase(baseId), { signal }),
  });
}
