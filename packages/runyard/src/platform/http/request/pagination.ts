import { z } from 'zod';
import { lazyObject } from '../../../core/schemas/lazy-schema.js';
import { formInteger } from './fields.js';

/** What a request for a page of a list says. */
export interface PageRequest {
  /** How many entries a page holds. */
  readonly limit: number;
  /** Which page, beginning with 1. */
  readonly page: number;
}

/** A page of a list, and how many entries the list has in all. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly total: number;
}

export interface PageLimits {
  readonly default: number;
  /** A larger page is refused. Left out: any number is accepted, and no page holds more than `largestPage`. */
  readonly max?: number;
  /** 0 where clients ask for page 0 and mean the first one. */
  readonly firstPage?: 0 | 1;
}

/** How many entries a page holds at the most: no request reads a whole table. */
export const largestPage = 1000;

/** The query fields of a list that comes in pages. */
export function pageQuery(limits: PageLimits) {
  const { firstPage = 1, max } = limits;
  // older clients send a large number and mean all: they get the first page, and its meta says how many there are
  const more = max === undefined ? `More than ${largestPage} count as ${largestPage}. ` : '';
  return {
    limit: formInteger({ min: 1, ...(max === undefined ? { atMost: largestPage } : { max }) })
      .default(limits.default)
      .meta({ description: `The number of entries per page. ${more}Default: ${limits.default}.` }),
    page: formInteger({ min: firstPage }).default(1).meta({ description: 'The page number, starting at 1.' }),
  };
}

const pageMeta = lazyObject(
  () => ({
    page: z.int().meta({ description: 'The number of this page, starting at 1.' }),
    limit: z.int(),
    total_pages: z.int().meta({ description: '0 for an empty list.' }),
    total_count: z.int(),
    search_time_ms: z.number(),
  }),
  {
    id: 'PageMeta',
    description: 'The position of a page in its list.',
    examples: [{ page: 1, limit: 20, total_pages: 3, total_count: 42, search_time_ms: 0 }],
  },
);

/** The body of a page of such entries. */
export function pageBody<Entry extends z.ZodType>(entry: Entry, id: string) {
  return lazyObject(() => ({ data: z.array(entry), meta: pageMeta }), {
    id,
    description: 'A page of a list.',
  });
}

/** The first position of a page in its list. */
export function offsetOf({ limit, page }: PageRequest): number {
  // a page so far down that no database could count to it is as empty as any other past the end
  return Math.min(limit * Math.max(page - 1, 0), Number.MAX_SAFE_INTEGER);
}

/** A page in the form of the wire. A page past the end is empty, and says where the end is. */
export function pageOf<T>(data: readonly T[], { limit, page }: PageRequest, total: number, searchTimeMs = 0) {
  return {
    data,
    meta: {
      page,
      limit,
      total_pages: Math.ceil(total / limit),
      total_count: total,
      search_time_ms: searchTimeMs,
    },
  };
}
