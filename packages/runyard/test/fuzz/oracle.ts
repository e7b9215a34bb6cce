import type { ApiCheck } from '../support/clients/api-check.js';
import type { Wire } from './exchange/request.js';
import type { WireAnswer } from './exchange/send.js';

/** What no answer may show: where the code is, what it runs on, how it asks its database. */
const internals: readonly RegExp[] = [
  /\n\s+at .+:\d+/,
  /node_modules|node:internal/,
  /\b(packages\/runyard|src\/(core|platform|capabilities|interfaces))\//,
  /\.(ts|js|mjs):\d+/,
  /SQLITE_|SqliteError|no such (table|column)|near ".{0,20}": syntax/,
  /syntax error at or near|violates .{0,40}constraint|invalid (byte sequence|input syntax)|PostgresError/i,
  /\bselect .{1,300} from "|insert into "|update "\w+" set/i,
  /Cannot (read|set) propert|is not a function|is not iterable|Maximum call stack/,
];

/** The one 500 of the contract: the model that was asked for did not do its work. */
const modelFailure = '"error_code":"optimize_failed"';

/** Said before it is known which operation is meant: the address or the headers are too long. */
export const beforeOperations: readonly number[] = [414, 431];

/** Checks an answer against everything that is true for every operation. Returns what is wrong, or nothing. */
export function faultOf(api: ApiCheck, wire: Wire, answer: WireAnswer): string | undefined {
  const { status, contentType, text, headers } = answer;
  if (status >= 500 && status !== 503 && !text.includes(modelFailure))
    return `it answered ${status}: ${text.slice(0, 300)}`;
  const undescribed = descriptionFault(api, wire, answer);
  if (undescribed !== undefined) return undescribed;
  const shown = shownInternals(text);
  if (shown !== undefined) return shown;
  if (headers['x-request-id'] === undefined) return 'the answer has no x-request-id';
  if (contentType.startsWith('text/event-stream')) return streamFault(text);
  return undefined;
}

function descriptionFault(api: ApiCheck, { method, target }: Wire, answer: WireAnswer): string | undefined {
  const path = beforeOperations.includes(answer.status) ? '/none' : namedPath(target);
  try {
    api.check(method, path, answer.status, answer.contentType, answer.text);
    return undefined;
  } catch (error) {
    return `${(error as Error).message.slice(0, 500)} (${answer.text.slice(0, 300)})`;
  }
}

/** The path, with something in the place of ids that are empty. */
function namedPath(target: string): string {
  return target.split('?', 1)[0]!.replace(/\/(?=\/)/g, '/-');
}

/** A stream has whole frames only, each with JSON in it. */
function streamFault(text: string): string | undefined {
  if (text !== '' && !text.endsWith('\n\n')) return `the stream broke off: ${text.slice(-200)}`;
  for (const frame of text.split('\n\n').slice(0, -1)) {
    if (frame.startsWith(':')) continue;
    const match = /^(?:id: (\d+)\n)?event: (\w+)\ndata: ([^\n\r]*)$/.exec(frame);
    if (!match) return `this is no frame: ${JSON.stringify(frame.slice(0, 300))}`;
    const { event } = JSON.parse(match[3]!) as { event?: unknown };
    if (event !== undefined && event !== match[2])
      return `a frame of ${match[2]} says that it is ${String(event)}`;
  }
  return undefined;
}

/** Returns the internals that a text reveals, if any. */
export function shownInternals(text: string): string | undefined {
  const pattern = internals.find((one) => one.test(text));
  if (pattern === undefined) return undefined;
  const at = text.search(pattern);
  return `it shows internals (${pattern}): ${text.slice(Math.max(0, at - 100), at + 200)}`;
}
