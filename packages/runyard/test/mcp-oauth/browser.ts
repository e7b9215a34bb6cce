import { challengeOf } from '../../src/capabilities/mcp-oauth/keys.js';
import { connectSecret } from './guarded-service.js';

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;
type Fields = Readonly<Record<string, string>>;

/** What a person sees, and can answer. */
export class ConsentForm {
  constructor(
    readonly url: string,
    readonly page: Response,
    readonly text: string,
    readonly cookie: string,
    private readonly send: Fetch,
  ) {}

  field(name: string): string {
    return new RegExp(`name="${name}" value="([^"]*)"`).exec(this.text)?.[1] ?? '';
  }

  /** Sends the form as a browser does. */
  answer(fields: Fields, headers: Fields = {}): Promise<Response> {
    const body = new URLSearchParams({ txn: this.field('txn'), csrf: this.field('csrf'), ...fields });
    const { origin, pathname } = new URL(this.url);
    return this.send(origin + pathname, {
      method: 'POST',
      body,
      redirect: 'manual',
      headers: { cookie: this.cookie, origin, 'sec-fetch-site': 'same-origin', ...headers },
    });
  }

  /** Where an approval leads to. */
  async approve(): Promise<URL> {
    const answer = await this.answer({ decision: 'approve', secret: connectSecret });
    return new URL(answer.headers.get('location') ?? `about:${answer.status}`);
  }
}

/** Opens the address that a client sends a browser to. */
export async function openConsent(authorization: URL | string, send: Fetch = fetch): Promise<ConsentForm> {
  const first = await send(authorization, { redirect: 'manual' });
  const url = first.headers.get('location') ?? `about:${first.status}`;
  const page = await send(url);
  const cookie = page.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  return new ConsentForm(url, page, await page.text(), cookie, send);
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

/** The texts of an answer. */
export async function jsonOf(answer: Response): Promise<Partial<Record<string, string>>> {
  // an answer of ours, whose fields the tests compare
  return (await answer.json()) as Partial<Record<string, string>>;
}

export async function tokensOf(answer: Response): Promise<Tokens> {
  const { access_token = '', refresh_token = '', scope = '' } = await jsonOf(answer);
  return { access_token, refresh_token, scope };
}

export const redirectUri = 'http://127.0.0.1:4711/callback';
export const verifier = 'v'.repeat(43);

/** A client that does each step by hand, so that a test can do it wrongly. */
export class HandClient {
  private constructor(
    readonly url: string,
    readonly clientId: string,
  ) {}

  static async registered(url: string, metadata: object = { redirect_uris: [redirectUri] }) {
    const answer = await HandClient.register(url, metadata);
    const { client_id: clientId } = await jsonOf(answer);
    return new HandClient(url, clientId ?? '');
  }

  static register(url: string, metadata: unknown): Promise<Response> {
    return fetch(`${url}/register`, {
      method: 'POST',
      body: JSON.stringify(metadata),
      headers: { 'content-type': 'application/json' },
    });
  }

  address(further: Readonly<Record<string, string | undefined>> = {}): string {
    const parameters: Record<string, string | undefined> = {
      response_type: 'code',
      client_id: this.clientId,
      redirect_uri: redirectUri,
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
      ...further,
    };
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
    return `${this.url}/authorize?${query}`;
  }

  authorize(further?: Readonly<Record<string, string | undefined>>): Promise<Response> {
    return fetch(this.address(further), { redirect: 'manual' });
  }

  async code(further?: Readonly<Record<string, string>>): Promise<string> {
    const back = await (await openConsent(this.address(further))).approve();
    return back.searchParams.get('code') ?? '';
  }

  redeem(code: string, further: Fields = {}): Promise<Response> {
    const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri };
    return this.post('/token', { ...grant, code_verifier: verifier, ...further });
  }

  refresh(token: string, further: Fields = {}): Promise<Response> {
    return this.post('/token', { grant_type: 'refresh_token', refresh_token: token, ...further });
  }

  revoke(token: string): Promise<Response> {
    return this.post('/revoke', { token });
  }

  async connected(): Promise<Tokens> {
    return tokensOf(await this.redeem(await this.code()));
  }

  post(path: string, fields: Fields, headers: Fields = {}): Promise<Response> {
    const body = new URLSearchParams({ client_id: this.clientId, ...fields });
    return fetch(this.url + path, { method: 'POST', body, headers });
  }

  /** The status of a call of the endpoint. */
  async call(token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${this.url}/mcp`, { method: 'POST', headers })).status;
  }
}
