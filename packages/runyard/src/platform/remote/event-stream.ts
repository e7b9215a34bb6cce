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
  let rest = '';
  let event = '';
  let data: string[] = [];
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (rest.length > longestFrame)
      throw new RemoteFault('refused', `an event of its stream has more than ${longestFrame} characters`);
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') };
        event = '';
        data = [];
      } else if (line.startsWith('data:')) data.push(fieldValue(line, 'data:'));
      else if (line.startsWith('event:')) event = fieldValue(line, 'event:');
    }
  }
}

function fieldValue(line: string, field: string): string {
  const value = line.slice(field.length);
  return value.startsWith(' ') ? value.slice(1) : value;
}
