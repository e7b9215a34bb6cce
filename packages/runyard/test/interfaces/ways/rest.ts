import { call } from '../../support/clients/call.js';
import type { Body } from '../../support/service.js';
import { until } from '../../support/until.js';
import {
  type Asked,
  type Client,
  type Following,
  factoryField,
  type Person,
  Refused,
  requirementsField,
  type Seen,
  seenIn,
  type Way,
} from '../way.js';

/** One request, one body. */
export const rest: Way = { name: 'REST', news: [], open: (person) => new RestClient(person) };

export class RestClient implements Client {
  constructor(protected readonly person: Person) {}

  start(asked: Asked): Following {
    const { sessionId, message, ...place } = asked;
    const connection = new AbortController();
    const form = { message, session_id: sessionId, stream: 'false', ...factoryField(asked) };
    const rested = post(this.person, `/${place.plural}/${place.id}/runs`, form, connection.signal).then(
      seenIn,
    );
    rested.catch(() => {});
    return { receives: () => rested, rested, drop: () => connection.abort() };
  }

  async answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    const form = { [requirementsField(asked)]: JSON.stringify(requirements), stream: 'false' };
    return seenIn(await post(this.person, `${pathOf(asked, runId)}/continue`, form));
  }

  async cancel(asked: Asked, runId: string): Promise<void> {
    await post(this.person, `${pathOf(asked, runId)}/cancel`, {});
  }

  comeBack(asked: Asked, runId: string, _lost?: Following): Promise<Seen> {
    return until('the run rests', async () => {
      const seen = seenIn(await get(this.person, pathOf(asked, runId)));
      return !['pending', 'running'].includes(seen.status) && seen;
    });
  }
}

export function pathOf({ plural, id }: Asked, runId: string): string {
  return `/${plural}/${id}/runs/${runId}`;
}

/** Reads a body, or rejects with what the service says. */
export function get(person: Person, path: string): Promise<Body> {
  return bodyOf(person, path, { method: 'GET' });
}

function post(
  person: Person,
  path: string,
  form: Record<string, string>,
  signal?: AbortSignal,
): Promise<Body> {
  return bodyOf(person, path, { method: 'POST', body: new URLSearchParams(form), ...(signal && { signal }) });
}

async function bodyOf({ url, headers }: Person, path: string, init: RequestInit): Promise<Body> {
  const { status, text } = await call(url + path, { ...init, headers });
  const body = JSON.parse(text) as Body;
  if (status >= 400) throw new Refused(body.detail);
  return body;
}
