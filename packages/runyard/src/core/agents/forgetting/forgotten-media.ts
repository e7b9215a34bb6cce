import { isJsonObject, type JsonObject } from '../../json.js';
import type { Media } from '../../media/media.js';
import { isOwned, withoutContent } from '../../media/owned-media.js';
import type { StepRecord } from '../../runs/run.js';

/**
 * A record without the content of media: `all` of them, or those whose bytes belong to a run that does not keep them. The
 * same record if it has none.
 */
export function withoutMedia<Value>(value: Value, all: boolean): Value {
  // what is put in place of media is media, and nothing else changes
  return strippedIn(value, all) as Value;
}

export function stepWithoutMedia(step: StepRecord, all: boolean): StepRecord {
  const [input, output] = [strippedIn(step.input, all), strippedIn(step.output, all)];
  return input === step.input && output === step.output ? step : { ...step, input, output };
}

/** What the application, the user or the model put there. */
const opaque: ReadonlySet<string> = new Set(['args', 'arguments', 'content', 'options', 'sessionState']);

function strippedIn(value: unknown, all: boolean): unknown {
  if (Array.isArray(value)) {
    const left = value.map((member) => strippedIn(member, all));
    return left.some((member, position) => member !== value[position]) ? left : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (isMedia(value)) return all || isOwned(value) ? withoutContent(value) : value;
  const changed = Object.entries(value).flatMap(([key, member]) => {
    const left = opaque.has(key) ? member : strippedIn(member, all);
    return left === member ? [] : [[key, left] as const];
  });
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

const kinds: ReadonlySet<unknown> = new Set(['image', 'audio', 'video', 'file']);

function isMedia(value: object): value is Media {
  return (
    'kind' in value &&
    kinds.has(value.kind) &&
    'id' in value &&
    typeof value.id === 'string' &&
    ('hash' in value || 'url' in value)
  );
}

const listNames = ['images', 'audio', 'audios', 'videos', 'files'] as const;

/** The same for events, which describe media by their addresses. */
export function eventWithoutMedia(value: JsonObject): JsonObject {
  let left = value;
  for (const name of listNames) {
    const list = value[name];
    if (!Array.isArray(list) || !list.some((one) => isJsonObject(one) && 'url' in one)) continue;
    left = { ...left, [name]: list.map((one) => (isJsonObject(one) ? withoutAddress(one) : one)) };
  }
  return left;
}

function withoutAddress({ url: _url, ...facts }: JsonObject): JsonObject {
  return facts;
}
