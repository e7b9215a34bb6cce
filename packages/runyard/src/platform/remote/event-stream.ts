import { isJsonObject, type JsonObject, parseJson } from '../../core/json.js';
import { RemoteFault } from '../../core/remote/remote-service.js';

/** One frame of server-sent events. */
export interface StreamFrame {
  readonly event: string;
  readonly data: string;
}

/** How many characters one frame may have. */
const longestFrame = 32 * 1024 * 1024;

/** Reads server-sent events. Comments, which keep a connection open, are passed over. */
export async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamFrame> {
  const decoder = new TextDecoder();
  // the pieces of a line that has not ended: to join them at each piece would read a long line again and again
  let line: string[] = [];
  let event = '';
  let data: string[] = [];
  let size = 0;
  let endsWithReturn = false;
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    // a line may end with two characters, which may come apart
    const lines = (endsWithReturn && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\n|\r/);
    if (text !== '') endsWithReturn = text.endsWith('\r');
    size += text.length;
    for (const [place, piece] of lines.entries()) {
      line.push(piece);
      if (place === lines.length - 1) continue;
      const whole = line.join('');
      line = [];
      if (whole === '') {
        if (data.length > 0) yield { event, data: data.join('\n') };
        event = '';
        data = [];
        size = 0;
      } else if (whole.startsWith('data:')) data.push(fieldValue(whole, 'data:'));
      else if (whole.startsWith('event:')) event = fieldValue(whole, 'event:');
    }
    if (size > longestFrame)
      throw new RemoteFault('refused', `an event of its stream has more than ${longestFrame} characters`);
  }
}

function fieldValue(line: string, field: string): string {
  const value = line.slice(field.length);
  return value.startsWith(' ') ? value.slice(1) : value;
}

/** The data of an event of a run or a task. */
export function objectIn(data: string): JsonObject {
  try {
    const value = parseJson(data);
    if (isJsonObject(value)) return value;
  } catch {
    // reported below
  }
  throw new RemoteFault('refused', 'an event of its stream is no JSON object');
}
