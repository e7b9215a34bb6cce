import type { Body } from '../../support/service.js';
import type { Fleet } from './fleet.js';
import type { Ledger } from './ledger.js';
import { pause } from './random.js';

export interface Sent {
  readonly method?: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Requests to a service whose processes die. */
export class Wire {
  constructor(
    private readonly fleet: Fleet,
    private readonly ledger: Ledger,
    /** The database may be away, which a process says with 503 and when to ask again. */
    private readonly hasOutages = false,
  ) {}

  /** Sends to any process that is up; undefined when the connection broke or the outcome is unknown. */
  async send(path: string, sent: Sent = {}): Promise<Response | undefined> {
    const { form, json, signal } = sent;
    const url = await this.fleet.url();
    const body = form !== undefined ? new URLSearchParams(form) : json && JSON.stringify(json);
    const headers = { ...sent.headers, ...(json && { 'content-type': 'application/json' }) };
    try {
      const response = await fetch(url + path, {
        method: sent.method ?? (body === undefined ? 'GET' : 'POST'),
        headers,
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
      if (this.hasOutages && response.status === 503 && response.headers.has('retry-after')) {
        await response.body?.cancel();
        return undefined;
      }
      if (response.status >= 500) {
        const answer = `${path} answered ${response.status}: ${await response.clone().text()}`;
        this.ledger.violation(`${answer}\nIts log:\n${this.fleet.logOf(url)}`);
      }
      return response;
    } catch {
      return undefined;
    }
  }

  /** The same with the whole answer. */
  async ask(path: string, sent: Sent = {}): Promise<Answer | undefined> {
    const response = await this.send(path, sent);
    return response && answerOf(response);
  }

  /** Sends until there is an answer: for requests that may be repeated any number of times. */
  async insist(path: string, sent: Sent = {}): Promise<Answer> {
    for (;;) {
      const answer = await this.ask(path, sent);
      if (answer !== undefined) return answer;
      await pause(20);
    }
  }

  /** The run as stored; undefined when it does not exist. */
  async run(runId: string): Promise<Body | undefined> {
    const { status, body } = await this.insist(this.ledger.pathOf(runId));
    if (status !== 200 && status !== 404)
      this.ledger.violation(`GET of run ${runId} answered ${status}: ${JSON.stringify(body)}`);
    return status === 200 ? body : undefined;
  }
}

export async function answerOf(response: Response): Promise<Answer | undefined> {
  try {
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  } catch {
    return undefined;
  }
}
