import type { Holder } from '../../support/clients/tokens.js';
import type { Answer, Body, TestService } from '../../support/service.js';
import { until } from '../../support/until.js';
import {
  type Asked,
  type Client,
  type Following,
  Refused,
  requirementsField,
  type Seen,
  seenIn,
  type Way,
} from '../way.js';

/** One request, one body. */
export const rest: Way = {
  name: 'REST',
  news: [],
  open: (service, holder) => new RestClient(service, holder),
};

export class RestClient implements Client {
  constructor(
    protected readonly service: TestService,
    protected readonly holder: Holder,
  ) {}

  start({ sessionId, message, ...place }: Asked): Following {
    const connection = new AbortController();
    const form = { message, session_id: sessionId, stream: false };
    const sent = this.service.submit(`/${place.plural}/${place.id}/runs`, form, {
      headers: this.holder.headers,
      signal: connection.signal,
    });
    const rested = sent.then(seenOf);
    rested.catch(() => {});
    return { hears: () => rested, rested, drop: () => connection.abort() };
  }

  async answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    const form = { [requirementsField(asked)]: requirements };
    return seenOf(await this.holder.submit(`${pathOf(asked, runId)}/continue`, form));
  }

  async cancel(asked: Asked, runId: string): Promise<void> {
    accepted(await this.holder.submit(`${pathOf(asked, runId)}/cancel`));
  }

  comeBack(asked: Asked, runId: string, _lost?: Following): Promise<Seen> {
    return until('the run rests', async () => {
      const seen = seenOf(await this.holder.get(pathOf(asked, runId)));
      return !['pending', 'running'].includes(seen.status) && seen;
    });
  }
}

export function pathOf({ plural, id }: Asked, runId: string): string {
  return `/${plural}/${id}/runs/${runId}`;
}

function seenOf(answer: Answer): Seen {
  return seenIn(accepted(answer).body);
}

function accepted(answer: Answer): Answer {
  if (answer.status >= 400) throw new Refused(answer.body.detail);
  return answer;
}
