/**
 * What the id of a response names. A run that waits for answers has a response for each part of it: the first one ends
 * with the questions, and each request that answers them begins another.
 */
export interface ResponsePart {
  readonly runId: string;
  /** The first event of the part. Left out: the first part of the run. */
  readonly from?: number;
  /** Where the part before it begins. */
  readonly before?: number;
}

const shown = /^resp_(.+?)(?:~(\d{1,9})(?:~(\d{1,9}))?)?$/s;

export function responseId({ runId, from, before }: ResponsePart): string {
  const places = [from, from === undefined ? undefined : before].filter((one) => one !== undefined);
  return [`resp_${runId}`, ...places].join('~');
}

/** The response that the one before it is the continuation of; undefined for the first of a run. */
export function partBefore({ runId, from, before }: ResponsePart): ResponsePart | undefined {
  if (from === undefined) return undefined;
  return before === undefined ? { runId } : { runId, from: before };
}

/** Undefined for a text that is no such id. */
export function partOf(id: string): ResponsePart | undefined {
  const [, runId, from, before] = shown.exec(id) ?? [];
  if (runId === undefined) return undefined;
  return {
    runId,
    ...(from !== undefined && { from: Number(from) }),
    ...(before !== undefined && { before: Number(before) }),
  };
}

const conversation = /^conv_(.+)$/s;

/** A conversation is a session. */
export function conversationId(sessionId: string): string {
  return `conv_${sessionId}`;
}

export function sessionOfConversation(id: string): string | undefined {
  return conversation.exec(id)?.[1];
}
