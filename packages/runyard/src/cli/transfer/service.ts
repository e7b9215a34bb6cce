import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Application } from '../application.js';
import { CommandFailure } from '../failure.js';
import { findEntry, loadEntry } from '../load-entry.js';
import { configure, type SettingFlags } from '../setting-flags.js';
import { withoutOutput } from '../without-output.js';

export interface ServiceFlags extends SettingFlags {
  readonly entry?: string;
  readonly url?: string;
  readonly token?: string;
}

/** In whose name a request is made: undefined for the operator. A service elsewhere knows only who holds the token. */
export type Acting = string | undefined;

/** What answers requests: a service that runs elsewhere, or one that is opened in this process. */
interface Answering {
  fetch(path: string, init: RequestInit, acting: Acting): Promise<Response>;
  /** Whether a request can be made in the name of a user. */
  readonly actsAsUsers: boolean;
  close(): Promise<void>;
}

/** A fault that a service reports. */
export class RefusedRequest extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = 'RefusedRequest';
  }
}

/** How long one request to a service elsewhere may take. */
const requestMs = 60_000;
const perPage = 100;
/** No list of a service is longer: a service that answers with one page for ever is not followed for ever. */
const mostPages = 10_000;

/** A service whose contents are exported, or imported to. */
export class TransferService {
  constructor(private readonly answering: Answering) {}

  get actsAsUsers(): boolean {
    return this.answering.actsAsUsers;
  }

  close(): Promise<void> {
    return this.answering.close();
  }

  get(path: string): Promise<Json> {
    return this.send('GET', path);
  }

  /** All entries of a list that comes in pages. */
  async all(path: string): Promise<JsonObject[]> {
    const entries: JsonObject[] = [];
    for (let page = 1; page <= mostPages; page += 1) {
      const { data, meta } = fields(
        await this.get(`${path}${path.includes('?') ? '&' : '?'}limit=${perPage}&page=${page}`),
      );
      if (!Array.isArray(data)) throw new CommandFailure(`${path} of the service is not a list.`);
      entries.push(...data.filter(isJsonObject));
      if (page >= Number(fields(meta ?? null).total_pages ?? 0)) break;
    }
    return entries;
  }

  /** The body of the answer; null for one without a body. Throws a `RefusedRequest`. */
  async send(method: string, path: string, body?: JsonObject | FormData, acting?: Acting): Promise<Json> {
    const text = await this.text(method, path, body, acting);
    return text === '' ? null : parsed(text);
  }

  async text(method: string, path: string, body?: JsonObject | FormData, acting?: Acting): Promise<string> {
    const isForm = body instanceof FormData;
    const init: RequestInit = {
      method,
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      ...(body !== undefined && !isForm && { headers: { 'content-type': 'application/json' } }),
    };
    const response = await this.answering.fetch(path, init, acting);
    const text = await response.text();
    if (!response.ok) throw new RefusedRequest(response.status, faultIn(text, response.status));
    return text;
  }
}

export function fields(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Opens the service that the flags name. */
export async function openTransfer(flags: ServiceFlags): Promise<TransferService> {
  const { url, token, entry, ...settings } = flags;
  if (url !== undefined) {
    if (entry !== undefined) throw new CommandFailure('Use either --url or --entry.');
    return new TransferService(elsewhere(url, token ?? process.env.RUNYARD_TOKEN));
  }
  if (token !== undefined) throw new CommandFailure('--token belongs to --url.');
  const application = await withoutOutput(() => loadEntry(findEntry(entry)));
  // standard output is the report's
  configure(application, { ...settings, logLevel: settings.logLevel ?? 'silent' });
  return new TransferService(inThisProcess(application));
}

export function inThisProcess(application: Pick<Application, 'request' | 'close'>): Answering {
  return {
    actsAsUsers: true,
    fetch: (path, init, acting) =>
      application.request(path, { ...init, ...(acting !== undefined && { userId: acting }) }),
    close: () => withoutOutput(() => application.close({ graceMs: 0 })),
  };
}

function elsewhere(url: string, token: string | undefined): Answering {
  const base = baseOf(url);
  return {
    actsAsUsers: false,
    fetch: async (path, init) => {
      const headers = new Headers(init.headers);
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
      try {
        return await fetch(`${base}${path}`, { ...init, headers, signal: AbortSignal.timeout(requestMs) });
      } catch (error) {
        throw new CommandFailure(`${base} cannot be reached: ${reasonOf(error)}`);
      }
    },
    close: async () => {},
  };
}

function baseOf(url: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol))
    throw new CommandFailure(`flag --url is "${url}"; allowed: an address such as http://127.0.0.1:7777.`);
  if (address.username !== '' || address.password !== '')
    throw new CommandFailure('flag --url has a user name or a password. Use --token or RUNYARD_TOKEN.');
  return `${address.origin}${address.pathname.replace(/\/+$/, '')}`;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailure('The service answered with something that is not JSON.');
  }
}

/** What the body of an error says, as one line. */
function faultIn(text: string, status: number): string {
  let detail: Json | undefined;
  try {
    detail = fields(JSON.parse(text)).detail;
  } catch {
    // a proxy may answer with a page
  }
  if (typeof detail === 'string') return detail;
  if (Array.isArray(detail))
    return detail
      .map(fields)
      .map(({ loc, msg }) => `${Array.isArray(loc) ? loc.join('.') : 'request'}: ${String(msg)}`)
      .join('; ');
  return `the service answered with ${status}`;
}
