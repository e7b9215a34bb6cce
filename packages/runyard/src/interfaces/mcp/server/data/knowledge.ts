import type { KnowledgeService } from '../../../../capabilities/knowledge/service.js';

/** As the routes of knowledge ask for it. */
export const readKnowledge = { scope: 'knowledge:read', params: {} };

type SearchOutcome = Awaited<ReturnType<KnowledgeService['search']>>;

/** A passage that was found. */
export function foundOf(found: SearchOutcome['documents'][number]) {
  const { id, contentId, name, content, metadata, similarity, rerankingScore } = found;
  return {
    id,
    content_id: contentId,
    name,
    content,
    meta_data: metadata,
    ...(similarity !== undefined && { similarity_score: similarity }),
    ...(rerankingScore !== undefined && { reranking_score: rerankingScore }),
  };
}
