import { thrownError } from '../../core/errors/thrown-error.js';
import type { KnowledgeBase } from './knowledge-base.js';

/**
 * Adds what the settings of a knowledge base name, and resolves when it is indexed. What is there already and has not
 * changed is left as it is, so this happens at every start. A content that cannot be added does not keep the others.
 */
export async function addInitialContents(base: KnowledgeBase, signal: AbortSignal): Promise<void> {
  const added = (base.settings.contents ?? []).map(async (content) => {
    try {
      const { id } = await base.add(content);
      await base.processed(id, signal);
    } catch (error) {
      if (signal.aborted) return;
      const facts = { err: thrownError(error), knowledge: base.name, content: content.name };
      base.parts.log.warn(facts, 'a content of the settings could not be added');
    }
  });
  await Promise.all(added);
}
