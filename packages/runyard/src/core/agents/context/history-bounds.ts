import type { Message } from '../../models/message.js';

/** How much of the history a model is shown; what is left out is not bounded. */
export interface HistoryBounds {
  readonly messages?: number;
  readonly toolCalls?: number;
}

/** The newest part of a history that is within the bounds. Every call keeps its result, every answer its question. */
export function boundedHistory(
  history: readonly Message[],
  { messages, toolCalls }: HistoryBounds,
): readonly Message[] {
  const called = toolCalls === undefined ? history : lastCalls(history, toolCalls);
  return messages === undefined ? called : lastMessages(called, messages);
}

/**
 * The last exchanges that have no more messages than this together. One that does not fit is shown without its tool
 * calls if it fits then: else a single exchange with many calls would hide all that was said.
 */
function lastMessages(history: readonly Message[], most: number): readonly Message[] {
  let room = most;
  const kept: Message[] = [];
  for (const exchange of exchangesOf(history).reverse()) {
    const shown = exchange.length <= room ? exchange : lastCalls(exchange, 0);
    if (shown.length > room) break;
    kept.unshift(...shown);
    room -= shown.length;
    if (shown.length < exchange.length) break;
  }
  return kept;
}

/** Divided before each message of the user. */
function exchangesOf(history: readonly Message[]): Message[][] {
  const exchanges: Message[][] = [];
  for (const message of history) {
    const current = exchanges.at(-1);
    if (message.role === 'user' || current === undefined) exchanges.push([message]);
    else current.push(message);
  }
  return exchanges;
}

/** Without all tool calls but the last ones, and without their results. */
function lastCalls(history: readonly Message[], most: number): readonly Message[] {
  const calls = history.flatMap((message, position) =>
    (message.toolCalls ?? []).map(({ id }) => ({ position, id })),
  );
  if (calls.length <= most) return history;
  const dropped = calls.slice(0, calls.length - most);
  const positions = new Set(dropped.map(({ position }) => position));
  // the ids of calls are unique in a run, not in a session
  const open = new Map<string, number>();
  return history.flatMap((message, position) => {
    if (message.role === 'tool') {
      const id = message.toolCallId ?? '';
      const results = open.get(id) ?? 0;
      if (results > 0) open.set(id, results - 1);
      return results > 0 ? [] : [message];
    }
    if (!positions.has(position)) return [message];
    const ids = new Set(dropped.filter((call) => call.position === position).map(({ id }) => id));
    for (const id of ids) open.set(id, 1);
    return withoutCalls(message, ids);
  });
}

/** What the provider wants to see again of such a message belongs to all of its calls. */
function withoutCalls(message: Message, ids: ReadonlySet<string>): Message[] {
  const { toolCalls = [], providerData: _data, reasoningContent: _thoughts, ...rest } = message;
  const kept = toolCalls.filter(({ id }) => !ids.has(id));
  if (kept.length > 0) return [{ ...rest, toolCalls: kept }];
  return rest.content === '' ? [] : [rest];
}
