import { type EventPayload, SseClient } from '../../support/clients/sse-client.js';
import type { Body } from '../../support/service.js';
import {
  type Asked,
  type Following,
  factoryField,
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
  isVariant: true,
  open: (person) => new SseRunClient(person),
};

class SseRunClient extends RestClient {
  override start(asked: Asked): Following {
    const { sessionId, message, ...place } = asked;
    const connection = new AbortController();
    const stream = this.stream(`/${place.plural}/${place.id}/runs`, {
      method: 'POST',
      body: new URLSearchParams({
        message,
        session_id: sessionId,
        stream: 'true',
        ...factoryField(asked),
      }),
      signal: connection.signal,
    });
    let last: string | undefined;
    const rested = stream.then(seenAtEnd);
    rested.catch(() => {});
    return {
      rested,
      receives: async (news) => {
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
    const form = { [requirementsField(asked)]: JSON.stringify(requirements), stream: 'true' };
    const init = { method: 'POST', body: new URLSearchParams(form) };
    return seenAtEnd(await this.stream(`${pathOf(asked, runId)}/continue`, init));
  }

  override async comeBack(asked: Asked, runId: string, lost?: Following): Promise<Seen> {
    const last = lost?.last?.();
    const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
    return seenAtEnd(await this.stream(`${pathOf(asked, runId)}/events`, { headers }));
  }

  private async stream(path: string, { headers = {}, ...init }: RequestInit): Promise<SseClient> {
    const { url, headers: own } = this.person;
    const response = await fetch(url + path, { ...init, headers: { ...own, ...headers } });
    if (!response.ok) throw new Refused(((await response.json()) as Body).detail);
    return new SseClient(response);
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
