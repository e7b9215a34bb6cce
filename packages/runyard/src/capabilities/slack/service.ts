import type { Log } from '../../core/log.js';
import type { Timers } from '../../core/timers.js';
import type { Database } from '../../platform/storage/database.js';
import { Deliveries, type DeliveryHandler } from './deliveries.js';
import { InstallationStore, type StoredInstallation } from './installations-store.js';
import { Sealing } from './sealing.js';
import { type NewDelivery, type OpenDelivery, SlackStore, type StoredSlackRun } from './store.js';

export type { DeliveryOutcome, HeldDelivery } from './deliveries.js';
export type { NewDelivery, StoredSlackRun } from './store.js';

/** A workspace, or an organisation, with the token that the app has there. */
export interface Installation extends Omit<StoredInstallation, 'sealedToken'> {
  readonly token: string;
}

/** How much may wait. Slack delivers again what is refused. */
const mostWaiting = 10_000;

/** Keeps what the interfaces for Slack received, and what they have to know of it later. */
export class SlackService {
  readonly #store: SlackStore;
  readonly #installations: InstallationStore;
  readonly #handlers = new Map<string, DeliveryHandler>();
  readonly #deliveries: Deliveries;

  constructor(database: Database, options: { readonly timers: Timers; readonly log: Log }) {
    this.#store = new SlackStore(database);
    this.#installations = new InstallationStore(database);
    this.#deliveries = new Deliveries({ ...options, store: this.#store, handlers: this.#handlers });
  }

  /** From now on this process processes what the interface at this place receives. */
  enable(mount: string, handler: DeliveryHandler): void {
    this.#handlers.set(mount, handler);
  }

  start(): void {
    this.#deliveries.start();
  }

  stop(graceMs: number): Promise<void> {
    return this.#deliveries.stop(graceMs);
  }

  /** Stores a delivery, once. When it resolves, the delivery may be acknowledged unless too many wait. */
  async accept(delivery: NewDelivery): Promise<'stored' | 'known' | 'full'> {
    const outcome = await this.#store.put(delivery, mostWaiting);
    if (outcome === 'stored') this.#deliveries.look();
    return outcome;
  }

  run(mount: string, runId: string): Promise<StoredSlackRun | undefined> {
    return this.#store.run(mount, runId);
  }

  /** The last runs of a thread, the newest first. */
  runsOfThread(mount: string, threadKey: string, limit: number): Promise<StoredSlackRun[]> {
    return this.#store.runsOfThread(mount, threadKey, limit);
  }

  /** Messages of a thread before a place in it that are not answered yet, without the delivery itself. */
  openBefore(of: NewDelivery, orderKey: string, position: string, limit: number): Promise<OpenDelivery[]> {
    return this.#store.openBefore(of, orderKey, position, limit);
  }

  /** Gives up a delivery that no process works on and that has no run; false when one does, or it has. */
  drop(open: OpenDelivery, reason: string): Promise<boolean> {
    return this.#store.drop(open, reason);
  }

  writeNotes(mount: string, runId: string, notes: string): Promise<void> {
    return this.#store.writeNotes(mount, runId, notes);
  }

  async install(mount: string, { token, ...installed }: Installation, secret: string): Promise<void> {
    const sealedToken = new Sealing(secret).seal(token, `${mount} ${installed.ownerId}`);
    await this.#installations.put(mount, { ...installed, sealedToken });
  }

  /** Undefined for a workspace without the app, and for one whose token was encrypted with another secret. */
  async installation(mount: string, ownerId: string, secret: string): Promise<Installation | undefined> {
    const found = await this.#installations.find(mount, ownerId);
    if (found === undefined) return undefined;
    const { sealedToken, ...installed } = found;
    const token = new Sealing(secret).open(sealedToken, `${mount} ${ownerId}`);
    return token === undefined ? undefined : { ...installed, token };
  }

  /** Removes an installation, unless its token is valid: then the app was installed again. */
  async uninstall(
    mount: string,
    ownerId: string,
    secret: string,
    isValid: (token: string) => Promise<boolean>,
  ): Promise<void> {
    const found = await this.#installations.find(mount, ownerId);
    if (found === undefined) return;
    const token = new Sealing(secret).open(found.sealedToken, `${mount} ${ownerId}`);
    if (token !== undefined && (await isValid(token))) return;
    await this.#installations.remove(mount, ownerId, found.sealedToken);
  }
}
