import { createHash } from 'node:crypto';
import type { Services } from '../../../capabilities/capability.js';
import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { Caller } from '../../../platform/auth/caller.js';
import { authMode } from '../../../platform/auth/tokens/settings.js';
import type { ComponentName } from '../../common/exposed-components.js';
import type { A2aConfig } from '../options.js';
import { cardV1, cardV03 } from './card.js';
import { CardSigner } from './card-signer.js';
import { cardSubject } from './card-subject.js';
import { newSigningKey, readSigningKey, type SigningKey } from './signing-key.js';

/** Which card of which component a client wants. */
export interface WantedCard {
  readonly target: ComponentName;
  readonly caller: Caller;
  /** As the client sees the service, without the path of the interface. */
  readonly calledAddress: string;
  readonly version: '1.0' | '0.3';
  readonly extended?: boolean;
}

/** A card, and what distinguishes it from others that say something else. */
export interface MadeCard {
  readonly card: JsonObject;
  readonly tag: string;
}

/** Makes the cards of one mounted interface. */
export class Cards {
  #signer: Promise<CardSigner> | undefined;
  #key: Promise<SigningKey> | undefined;
  /** One interface may be mounted in several services, each with a database of its own. */
  readonly #stored = new WeakMap<object, Promise<SigningKey>>();

  constructor(private readonly config: A2aConfig) {}

  /** The key of the application, if it gives one. */
  key(): Promise<SigningKey> | undefined {
    const { signingKey } = this.config;
    if (signingKey !== undefined) this.#key ??= readSigningKey(signingKey);
    return this.#key;
  }

  /** The key that signs push notifications: the application's, or one that all processes share. */
  pushKey({ pushNotifications }: Services): Promise<SigningKey> {
    const given = this.key();
    if (given !== undefined) return given;
    let stored = this.#stored.get(pushNotifications);
    if (stored === undefined) {
      stored = pushNotifications.storedKey(async () => newSigningKey()).then(readSigningKey);
      this.#stored.set(pushNotifications, stored);
      // a database that cannot be reached now can be later
      stored.catch(() => this.#stored.delete(pushNotifications));
    }
    return stored;
  }

  /** The keys that verify what this interface signs. */
  async publicKeys(services: Services): Promise<readonly JsonObject[]> {
    const key = await (this.config.push === undefined ? this.key() : this.pushKey(services));
    return key === undefined ? [] : [key.publicKey];
  }

  async make({ components, settings }: Services, wanted: WantedCard): Promise<MadeCard> {
    const { config } = this;
    const { kind, componentId } = wanted.target;
    if (!config.exposes(kind, componentId)) throw errors.componentNotFound(kind);
    const component = await components.get(kind, componentId, wanted.caller);
    const subject = cardSubject(component, kind, wanted.extended ?? false);
    const address = mountAddress(config, wanted.calledAddress);
    const site = {
      address,
      authorized: authMode(settings) !== 'none',
      pushNotifications: config.push !== undefined,
    };
    if (wanted.version === '0.3') return tagged(cardV03(subject, site));
    const { card, tag } = tagged(cardV1(subject, site));
    const signer = await this.#signing();
    return { tag, card: signer === undefined ? card : await signer.signed(card, keysAddress(address)) };
  }

  #signing(): Promise<CardSigner> | undefined {
    const key = this.key();
    if (key !== undefined) this.#signer ??= key.then((one) => new CardSigner(one));
    return this.#signer;
  }
}

/** Where the interface is for the client. The operator knows best, if they say so. */
export function mountAddress({ publicUrl, prefix }: A2aConfig, calledAddress: string): string {
  return `${(publicUrl ?? calledAddress).replace(/\/+$/, '')}${prefix}`;
}

/** Where the public keys of an interface are. */
function keysAddress(mount: string): string {
  return `${mount}/.well-known/jwks.json`;
}

/** Without the signature: processes sign the same card differently. */
function tagged(card: JsonObject): MadeCard {
  const digest = createHash('sha256').update(JSON.stringify(card)).digest('base64url').slice(0, 22);
  return { card, tag: `W/"${digest}"` };
}
