import { createClient, type RunyardClient } from '@runyard/client';
import { ownService } from './base.js';
import { withDatabase } from './database.js';
import { readToken, type TokenClaims } from './rights.js';
import { store, stored } from './storage.js';

/** Which service the console shows, and with which token. */
export interface ConnectionState {
  /** The address of another service; empty for the one that sent the page. */
  readonly address: string;
  readonly token: string;
  /** Whether the token outlives the tab. */
  readonly remembered: boolean;
  readonly claims: TokenClaims | undefined;
  /** Set while the service refuses the token, or asks for one. Requests wait until a person gives one. */
  readonly refused: 'missing' | 'invalid' | undefined;
  readonly client: RunyardClient;
}

type Waiter = { readonly resolve: (token: string) => void; readonly reject: (error: unknown) => void };

let waiting: Waiter[] = [];
let state = opened(stored('local', 'address') ?? '');
const listeners = new Set<() => void>();

export function connection(): ConnectionState {
  return state;
}

export function subscribeToConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Uses a token from now on. Requests that wait for one are sent again. */
export function giveToken(token: string, remember: boolean): void {
  store('local', tokenKey(state.address), remember ? token : undefined);
  store('session', tokenKey(state.address), remember ? undefined : token);
  taken(token, remember);
}

export function forgetToken(): void {
  store('local', tokenKey(state.address), undefined);
  store('session', tokenKey(state.address), undefined);
  changeAddress(state.address);
}

/** Shows another service; an empty address is the one that sent the page. */
export function changeAddress(address: string): void {
  const left = waiting;
  waiting = [];
  store('local', 'address', address || undefined);
  change(opened(address));
  for (const { reject } of left) reject(new Error('The console now shows another service.'));
}

/** Asks the service whether it accepts a token. Throws what the service says. */
export async function tryToken(token: string): Promise<void> {
  await createClient({ baseUrl: baseUrlOf(state.address), token, retries: 0 }).service.getInfo();
}

/** The address of a service as a person writes it. Throws an error that says what is wrong. */
export function serviceAddress(text: string): string {
  const trimmed = text.trim().replace(/\/+$/, '');
  if (trimmed === '') return '';
  const address = /^https?:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
  if (!URL.canParse(address))
    throw new Error(`${text} is not an address. Example: https://agents.example.com`);
  const { origin, pathname } = new URL(address);
  const found = origin + pathname.replace(/\/+$/, '').replace(/\/console$/, '');
  return found === location.origin + ownService ? '' : found;
}

function opened(address: string): ConnectionState {
  const remembered = stored('local', tokenKey(address));
  const token = stored('session', tokenKey(address)) ?? remembered ?? '';
  let given: string | undefined;
  const nextToken = async (): Promise<string> => {
    if (state.client !== client) throw new Error('The console now shows another service.');
    // the client asks again only after the service has refused what it was given
    if (given === state.token) {
      await new Promise<string>((resolve, reject) => {
        waiting.push({ resolve, reject });
        change({ ...state, refused: state.token === '' ? 'missing' : 'invalid' });
      });
    }
    given = state.token;
    return given;
  };
  const baseUrl = baseUrlOf(address);
  const mainDatabase = async () => (await client.service.getConfig()).os_database ?? undefined;
  const client: RunyardClient = createClient({
    baseUrl,
    token: nextToken,
    fetch: withDatabase(baseUrl, mainDatabase),
  });
  return {
    address,
    token,
    remembered: remembered !== undefined,
    claims: readToken(token),
    refused: undefined,
    client,
  };
}

function taken(token: string, remembered: boolean): void {
  const left = waiting;
  waiting = [];
  change({ ...state, token, remembered, claims: readToken(token), refused: undefined });
  for (const { resolve } of left) resolve(token);
}

function change(next: ConnectionState): void {
  state = next;
  for (const listener of listeners) listener();
}

function baseUrlOf(address: string): string {
  return address || ownService;
}

/** Each service has a token of its own: it is never sent to another one. */
function tokenKey(address: string): string {
  return address ? `token ${address}` : 'token';
}

/** A token that a person gives in one tab serves the others, if it is remembered. */
window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== `runyard.${tokenKey(state.address)}` || !newValue || newValue === state.token) return;
  taken(newValue, true);
});
