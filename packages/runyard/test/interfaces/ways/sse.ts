import type { EventPayload, SseClient } from '../../support/clients/sse-client.js';
import type { Body } from '../../support/service.js';
import {
  type Asked,
  type Following,
  type News,
  Refused,
  requirementsField,
  type Seen,
  seenIn,
  type Way,
} from '../way.js';
import { pathOf, RestClient } from './rest.js';

/** A stream of events for each run. */
export const sse: Way = {
  name: 'SSE',
  news: ['text', 'tool'],
  open: (service, holder) => new SseRunClient(service, holder),
};

class SseRunClient extends RestClient {
  override start({ sessionId, message, ...place }: Asked): Following {
    const connection = new AbortController();
    const form = { message, session_id: sessionId, stream: true };
    const stream = refusing(
      this.service.submitForStream(`/${place.plural}/${place.id}/runs`, form, {
        headers: this.holder.headers,
        signal: connection.signal,
      }),
    );
    let last: string | undefined;
    const rested = stream.then(seenAtEnd);
    rested.catch(() => {});
    return {
      rested,
      hears: async (news) => {
        const opened = await stream;
        return opened.until(() => opened.events.find(isNews(news)), news);
      },
      drop: () => {
        void stream.then(({ frames }) => {
          last = frames.at(-1)?.id;
        });
        connection.abort();
      },
      last: () => last,
    };
  }

  override async answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    const form = { [requirementsField(asked)]: requirements, stream: true };
    return seenAtEnd(await refusing(this.holder.stream(`${pathOf(asked, runId)}/continue`, form)));
  }

  override async comeBack(asked: Asked, runId: string, lost?: Following): Promise<Seen> {
    const last = lost?.last?.();
    const headers = { ...this.holder.headers, ...(last !== undefined && { 'last-event-id': last }) };
    return seenAtEnd(await refusing(this.service.follow(`${pathOf(asked, runId)}/events`, { headers })));
  }
}

/** A stream that is refused is a body with a problem. */
async function refusing(stream: Promise<SseClient>): Promise<SseClient> {
  try {
    return await stream;
  } catch (error) {
    const problem = /^No stream, but \d+: (.*)$/.exec(String((error as Error).message));
    throw problem ? new Refused((JSON.parse(problem[1]!) as Body).detail) : error;
  }
}

async function seenAtEnd(stream: SseClient): Promise<Seen> {
  await stream.end();
  return seenInEvents(stream.events);
}

/**
 * The last event of a run says how it ended; events of members and steps come before it. A cancelled run completes, too,
 * and the whole body of a workflow may follow.
 */
export function seenInEvents(events: readonly EventPayload[]): Seen {
  const named = events.filter(({ event }) => event !== undefined);
  const last = named.findLast((event) => statusOf(event) === 'cancelled') ?? named.at(-1);
  const status = last && statusOf(last);
  if (last === undefined || status === undefined) throw new Error(`${last?.event} is no end of a run`);
  return seenIn(last, status);
}

const ends: Readonly<Record<string, string>> = {
  Completed: 'completed',
  Paused: 'paused',
  Error: 'error',
  Cancelled: 'cancelled',
};

export function statusOf({ event }: EventPayload): string | undefined {
  const end = /^(?:Run|TeamRun|Workflow)(Completed|Paused|Error|Cancelled)$/.exec(event)?.[1];
  return end === undefined ? undefined : ends[end];
}

export function isNews(news: News): (event: EventPayload) => boolean {
  const wanted = { text: /^(Team)?RunContent$/, tool: /^(Team)?ToolCallStarted$/ }[news];
  return ({ event }) => wanted.test(event);
}
