import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import type { RemoteConnection } from '../../../core/remote/remote-options.js';
import { RemoteFault } from '../../../core/remote/remote-service.js';
import { HttpConnection } from '../http-connection.js';

export type A2aVersion = '1.0' | '0.3';

/** How an agent is spoken to: what its card offers first of what this client speaks. */
export interface A2aInterface {
  readonly url: string;
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  readonly version: A2aVersion;
  readonly streaming: boolean;
}

const wellKnown = '/.well-known/agent-card.json';

/** Reads the card of an agent. `url`: the card itself, or what its well-known path is below. */
export async function readCard(options: RemoteConnection, signal: AbortSignal): Promise<A2aInterface> {
  const isCard = options.url.endsWith('.json');
  const connection = new HttpConnection(options);
  const headers = { 'a2a-version': '1.0' };
  const card = await connection.json({ method: 'GET', path: isCard ? '' : wellKnown, headers, signal });
  const found = offered(card).find(({ binding, version }) => isSpoken(binding, version));
  if (found === undefined)
    throw new RemoteFault(
      'refused',
      'its card offers no interface that this client speaks: JSONRPC 1.0 or 0.3, or HTTP+JSON 1.0',
    );
  // the card says where the token goes: only to where it was meant for
  if (!URL.canParse(found.url) || new URL(found.url).origin !== new URL(options.url).origin)
    throw new RemoteFault(
      'refused',
      `its card names ${hostOf(found.url)}, and the agent was defined with ${new URL(options.url).host}. Define it with the address that the card names`,
    );
  const { capabilities } = card;
  return { ...found, streaming: isJsonObject(capabilities) && capabilities.streaming === true };
}

type Offered = Omit<A2aInterface, 'streaming'>;

function isSpoken(binding: string, version: string): boolean {
  return binding === 'JSONRPC' || (binding === 'HTTP+JSON' && version === '1.0');
}

/** In the order of the card, 1.0 before 0.3. */
function offered(card: JsonObject): Offered[] {
  const listed = objects(card.supportedInterfaces).flatMap(({ url, protocolBinding, protocolVersion }) =>
    interfaceOf(url, protocolBinding, protocolVersion),
  );
  const ofOldCard = [
    { url: card.url, transport: card.preferredTransport ?? 'JSONRPC' },
    ...objects(card.additionalInterfaces),
  ].flatMap(({ url, transport }) => interfaceOf(url, transport, card.protocolVersion ?? '0.3'));
  const all = listed.length > 0 ? listed : ofOldCard;
  return [
    ...all.filter(({ version }) => version === '1.0'),
    ...all.filter(({ version }) => version === '0.3'),
  ];
}

function interfaceOf(url: Json | undefined, binding: Json | undefined, version: Json | undefined): Offered[] {
  if (typeof url !== 'string' || (binding !== 'JSONRPC' && binding !== 'HTTP+JSON')) return [];
  if (String(version).startsWith('1.')) return [{ url, binding, version: '1.0' }];
  return String(version).startsWith('0.3') ? [{ url, binding, version: '0.3' }] : [];
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'no address';
}
