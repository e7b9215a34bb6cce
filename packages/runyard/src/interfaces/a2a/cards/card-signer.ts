import type { Json, JsonObject } from '../../../core/json.js';
import type { SigningKey } from './signing-key.js';

/** How many signatures are kept: making one costs more than all else of a card. */
const mostKept = 500;

/** Signs cards of protocol 1.0: a detached JWS over the canonical JSON (RFC 8785) of the card. */
export class CardSigner {
  readonly #kept = new Map<string, JsonObject>();

  constructor(private readonly key: SigningKey) {}

  /** The card with its signature. `keysUrl` is where the public key is found. */
  async signed(card: JsonObject, keysUrl: string): Promise<JsonObject> {
    const payload = canonicalCard(card);
    const known = `${keysUrl}\n${payload}`;
    const signature = this.#kept.get(known) ?? (await this.#sign(payload, keysUrl));
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(known, signature);
    return { ...card, signatures: [signature] };
  }

  async #sign(payload: string, keysUrl: string): Promise<JsonObject> {
    const { FlattenedSign } = await import('jose');
    const { keyId, algorithm, privateKey } = this.key;
    const { protected: head = '', signature } = await new FlattenedSign(new TextEncoder().encode(payload))
      .setProtectedHeader({ alg: algorithm, kid: keyId, typ: 'JOSE', jku: keysUrl })
      .sign(privateKey);
    return { protected: head, signature };
  }
}

/** What is signed: the card without its signatures and without members that say nothing, its keys in order. */
function canonicalCard({ signatures: _, ...card }: JsonObject): string {
  return canonical(withoutEmpty(card) ?? {});
}

/** Empty texts, lists and objects are what protocol buffers leave out: a verifier does not see them. */
function withoutEmpty(value: Json): Json | undefined {
  if (value === '' || value === null) return undefined;
  if (Array.isArray(value)) {
    const items = value.flatMap((item) => withoutEmpty(item) ?? []);
    return items.length === 0 ? undefined : items;
  }
  if (typeof value !== 'object') return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const kept = withoutEmpty(member);
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function canonical(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}
