import { auth, type OAuthClientProvider, type OAuthTokens } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { type Fetch, openConsent } from './browser.js';

/** The client of the official library, with what it would keep on a disk. */
export class OfficialClient implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:4711/callback';
  readonly clientMetadata = {
    client_name: 'A <b>client</b>',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
  };
  clientMetadataUrl?: string;
  addClientAuthentication?: NonNullable<OAuthClientProvider['addClientAuthentication']>;
  readonly #kept: Record<string, unknown> = {};
  sentTo: URL | undefined;

  state = () => 'a state of its own & more';
  clientInformation = () => this.#get<{ client_id: string }>('client');
  saveClientInformation = (value: unknown) => this.#set('client', value);
  tokens = () => this.#get<OAuthTokens>('tokens');
  saveTokens = (value: unknown) => this.#set('tokens', value);
  saveCodeVerifier = (value: string) => this.#set('verifier', value);
  codeVerifier = () => this.#get<string>('verifier') ?? '';
  discoveryState = () => this.#get<never>('discovery');
  saveDiscoveryState = (value: unknown) => this.#set('discovery', value);
  redirectToAuthorization = (url: URL) => {
    this.sentTo = url;
  };

  /** Connects with the help of a person. */
  async connect(serverUrl: string, fetchFn: Fetch): Promise<void> {
    expect(await auth(this, { serverUrl, fetchFn })).toBe('REDIRECT');
    const back = await this.approved(fetchFn);
    const [authorizationCode = '', iss = ''] = ['code', 'iss'].map(
      (name) => back.searchParams.get(name) ?? '',
    );
    expect(await auth(this, { serverUrl, fetchFn, authorizationCode, iss })).toBe('AUTHORIZED');
  }

  /** What the browser brings back after a person has approved. */
  async approved(fetchFn: Fetch = fetch): Promise<URL> {
    const form = await openConsent(this.sentTo ?? '', fetchFn);
    expect(form.text).toContain('A &lt;b&gt;client&lt;/b&gt;');
    const back = await form.approve();
    expect(back.origin + back.pathname).toBe(this.redirectUrl);
    expect(back.searchParams.get('state')).toBe('a state of its own & more');
    return back;
  }

  // the library puts in and takes out the same types
  #get = <Value>(name: string) => this.#kept[name] as Value | undefined;
  #set = (name: string, value: unknown) => {
    this.#kept[name] = value;
  };
}
