import { z } from 'zod';
import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { OpenaiCall } from '../routes.js';
import { checked } from './request-body.js';

const query = z.looseObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().max(1_000).optional(),
});

export type PageQuery = z.output<typeof query>;

export function pageQuery({ request }: OpenaiCall): PageQuery {
  return checked(query, request.query);
}

/** A page of items, which come in the order that the query asks for. Only those that it needs are made. */
export async function pageOf(
  items: AsyncIterable<JsonObject> | Iterable<JsonObject>,
  { limit, after }: PageQuery,
): Promise<JsonObject> {
  const data: JsonObject[] = [];
  let isBehind = after === undefined;
  let hasMore = false;
  for await (const item of items) {
    if (!isBehind) {
      isBehind = item.id === after;
      continue;
    }
    if (data.length === limit) {
      hasMore = true;
      break;
    }
    data.push(item);
  }
  if (!isBehind) throw errors.openaiRequest(`There is no item '${String(after).slice(0, 200)}'.`, 'after');
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
