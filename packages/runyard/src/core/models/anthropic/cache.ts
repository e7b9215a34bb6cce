import { errors } from '../../errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';

/** The API takes no more than this many marks in one request. */
const mostMarks = 4;

/** How many marks a request has room for beside those that the parameters bring along. */
export function freeMarks({ tools, system, cache_control }: JsonObject): number {
  const marked = [tools, system].flatMap(listOf).filter((item) => item.cache_control != null);
  const free = mostMarks - marked.length - (cache_control == null ? 0 : 1);
  if (free >= 0) return free;
  throw errors.invalidConfig(
    `anthropic(): parameters hold ${mostMarks - free} cache_control marks. Anthropic takes at most ${mostMarks}.`,
  );
}

/**
 * Marks what was said so far, and what never changes before it (tools, system prompt). Only what the user's side says is
 * marked: the blocks of an answer are sent back as they came. Tools may belong to the application: a copy is marked.
 */
export function markForCache(body: JsonObject, mark: JsonObject, free: number): void {
  const content = listOf(body.messages).findLast(({ role }) => role === 'user')?.content;
  const fixed = Array.isArray(body.system) ? 'system' : 'tools';
  let left = free;
  if (left > 0 && Array.isArray(content) && markLast(content, mark)) left -= 1;
  const list = body[fixed];
  if (left > 0 && Array.isArray(list)) {
    const copy = [...list];
    if (markLast(copy, mark)) body[fixed] = copy;
  }
}

/** Puts a marked copy in the place of the last item, unless that has a mark. */
function markLast(items: Json[], mark: JsonObject): boolean {
  const last = items.at(-1);
  if (!isJsonObject(last) || last.cache_control != null) return false;
  items.splice(-1, 1, { ...last, cache_control: mark });
  return true;
}

function listOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
