import type { JobContext } from '../../../core/runs/jobs/job.js';
import { outputRecord } from '../../../core/runs/journal/codec.js';
import { list, nullable, number, object, type Shaped, text } from '../../../core/runs/journal/shapes.js';
import type { VisitedPage } from '../../../platform/sources/web/open-url.js';
import type { BaseInDatabase } from '../base-in-database.js';
import type { StoredContent } from '../contents/content.js';
import { chunksOfParts, type StagingPlace } from './index-content.js';
import { pagesOfUrl, type WebPart } from './url-parts.js';

const pageShape = object({
  url: text,
  links: list(text),
  /** Why it could not be read. */
  failure: nullable(text),
  /** How many pages are read, with this one. */
  pages: number,
  staged: object({ chunks: number, batches: number, dimensions: number }),
});

/** `null`: there are no more pages. */
const pageRecord = outputRecord('staged_page', 1, object({ page: nullable(pageShape) }));

interface Pages {
  readonly context: JobContext;
  readonly base: BaseInDatabase;
  readonly content: StoredContent;
  readonly into: StagingPlace;
}

/**
 * Stages the pages that an address leads to. Each page is a step: after a restart, those that are staged are not fetched
 * again, except for the first address, which says how to continue.
 */
export async function stagePages({ context, base, content, into }: Pages, url: string): Promise<void> {
  const { key, read, staging } = into;
  const { signal } = context;
  const visited: VisitedPage[] = [];
  let pages: AsyncGenerator<WebPart> | undefined;
  const staged = async (): Promise<Shaped<typeof pageShape> | null> => {
    pages ??= pagesOfUrl(base, content, url, visited, signal);
    const next = await pages.next();
    if (next.done === true) return null;
    const { links, part, url: address } = next.value;
    const failed = read.failed.length;
    await into.add(chunksOfParts(base, content, [part], read, signal));
    await staging.flush();
    const failure = read.failed[failed]?.reason ?? null;
    return { url: address, links: [...links], failure, pages: read.pages, staged: staging.progress };
  };
  const step = { name: 'index a page', record: pageRecord };
  try {
    for (;;) {
      const { failed } = read;
      const before = failed.length;
      const { page } = await context.step(`${key}page:${visited.length}`, step, async () => ({
        page: await staged(),
      }));
      if (page === null) return;
      visited.push(page);
      staging.continueAfter(page.staged);
      read.pages = page.pages;
      // known from an earlier execution of the job
      if (page.failure !== null && failed.length === before)
        failed.push({ name: page.url, reason: page.failure });
    }
  } finally {
    await pages?.return(undefined);
  }
}
