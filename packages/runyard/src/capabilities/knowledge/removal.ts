import type { BaseInDatabase } from './base-in-database.js';
import type { StoredContent } from './contents/content.js';

/**
 * Removes a content with every chunk, and the contents that came from it. It is gone for everyone at once, and no job
 * publishes anything for it from then on; the rest follows, here or, after a crash, at the next start.
 */
export async function removeContent(base: BaseInDatabase, contentId: string): Promise<void> {
  const content = await base.parts.contents.markDeleted(base.id, contentId);
  if (content !== undefined) await finishRemoval(base, content);
}

/** What is left to be done for a content that is marked as deleted: nothing, once it is added again. */
export async function finishRemoval(base: BaseInDatabase, content: StoredContent): Promise<void> {
  const { contents, uploads } = base.parts;
  // the job of a file is that of its folder, which has other files to index
  const hasJob = content.status === 'processing' && content.parentId === null;
  const isIdle = !hasJob || (await base.cancel(content.jobId, 'The content was deleted'));
  const isDeleted = async () => (await contents.findAny(base.id, content.id))?.deletedAt != null;
  for await (const child of contents.childIds(base.id, content.id)) {
    if (!(await isDeleted())) break;
    await removeContent(base, child);
  }
  if (await isDeleted()) await base.vectorStore.remove(base.id, content.id);
  const { from } = content.request;
  if (from.kind === 'upload') await uploads.remove(from);
  // a job of another process that has not ended yet may still stage chunks: the mark stays, and the sweep comes back
  if (isIdle) await contents.drop(base.id, content.id);
}
