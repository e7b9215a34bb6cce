import { isJsonObject, type Json, parseJson } from '../json.js';
import { closedJson } from '../schemas/partial-json.js';

/** A value that is being written: any part of it may be missing yet. */
export type DeepPartial<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]?: DeepPartial<Value[Name]> }
    : Value;

/** What of an event is read here. Its name has the kind of the component before it. */
interface ContentEvent {
  readonly event: string;
  readonly run_id: string;
  readonly content?: unknown;
}

/** A longer answer is shown when it is complete. */
const longestText = 1_000_000;
/** A text is read again when it has grown by this part of its length: reading takes as long as the text. */
const growth = 1 / 50;

/** The content of a run as it grows, from its events: each value holds more than the one before. The last is complete. */
export async function* partialObjectsOf(
  events: AsyncIterable<ContentEvent>,
  runId: string,
): AsyncGenerator<Json, void, void> {
  let text = '';
  let readAt = 0;
  let shown: string | undefined;
  for await (const { event, run_id, content } of events) {
    if (run_id !== runId) continue;
    if (event.endsWith('ModelRequestStarted')) {
      // the next call of the model, or another try
      text = '';
      readAt = 0;
      shown = undefined;
    } else if (event.endsWith('RunIntermediateContent') && typeof content === 'string') {
      text += content;
      if (text.length < readAt || text.length > longestText) continue;
      readAt = Math.ceil(text.length * (1 + growth));
      const closed = closedJson(text);
      const value = closed === undefined || closed === shown ? undefined : readValue(closed);
      if (value === undefined) continue;
      shown = closed;
      yield value;
    } else if (event.endsWith('RunContent') && (isJsonObject(content) || Array.isArray(content))) {
      // an event holds JSON
      yield content as Json;
    }
  }
}

function readValue(closed: string): Json | undefined {
  try {
    return parseJson(closed);
  } catch {
    // not JSON: a text with a bracket in it
    return undefined;
  }
}
