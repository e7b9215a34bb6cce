import { isIP } from 'node:net';
import { errors } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { Caller } from '../../platform/auth/caller.js';
import { isPublicAddress } from '../../platform/net/public-address.js';
import type { Spaces } from '../capability.js';
import type { RunPlace, RunsService } from '../runs/service.js';
import type { NewPushConfig, PushConfig, PushOrigin, PushSender } from './push-config.js';

export type {
  NewPushConfig,
  PushConfig,
  PushMessage,
  PushOrigin,
  PushSender,
  RestingRun,
} from './push-config.js';

/** How many addresses are notified of one run. */
const mostPushConfigs = 10;
const longestUrl = 2_000;
const longestId = 200;
const longestSecret = 4_000;

const keyName = 'default';

/**
 * Notifies clients of their runs. A caller who may see a run may see where its notifications go: the secrets that were
 * registered with an address are in no answer.
 */
export class PushNotificationsService {
  /** How each interface writes to its clients, by where it is mounted. */
  readonly senders = new Map<string, PushSender>();

  constructor(
    private readonly runs: () => RunsService,
    private readonly spaces: Spaces,
  ) {}

  /** An interface says how it writes, before the service starts. Without any nothing is ever sent. */
  enable(mount: string, sender: PushSender): void {
    this.senders.set(mount, sender);
  }

  /** Refuses what cannot be registered, before a run is started for it. */
  check(mount: string, config: NewPushConfig): void {
    const sender = this.senders.get(mount);
    if (sender === undefined) throw errors.pushNotificationsOff();
    checkConfig(config, sender.allowedHosts);
  }

  /** Registers an address, or replaces the one with this id. A run that rests already is reported at once. */
  async set(caller: Caller, place: RunPlace, config: NewPushConfig, origin: PushOrigin): Promise<PushConfig> {
    this.check(origin.mount, config);
    const { space, run } = await this.runs().find(caller, place);
    const { url, token, authentication } = config;
    const values = {
      ...origin,
      runId: run.runId,
      configId: config.id || newId(),
      url,
      token: token || null,
      scheme: authentication?.scheme || null,
      credentials: authentication?.credentials || null,
    };
    const stored = await space.pushStore.put(values, mostPushConfigs);
    if (stored === undefined) throw errors.tooManyPushConfigs(mostPushConfigs);
    await space.pushes.registered(run.runId);
    return stored;
  }

  async get(caller: Caller, place: RunPlace, mount: string, configId: string): Promise<PushConfig> {
    const [store, runId] = await this.#of(caller, place, mount);
    const found = await store.find(runId, configId);
    if (found === undefined) throw errors.pushConfigNotFound();
    return found;
  }

  /** In the order of their ids. There are never more than `mostPushConfigs`. */
  async list(caller: Caller, place: RunPlace, mount: string): Promise<readonly PushConfig[]> {
    const [store, runId] = await this.#of(caller, place, mount);
    return store.list(runId, mostPushConfigs);
  }

  async remove(caller: Caller, place: RunPlace, mount: string, configId: string): Promise<void> {
    const [store, runId] = await this.#of(caller, place, mount);
    if (!(await store.remove(runId, configId))) throw errors.pushConfigNotFound();
  }

  /** The key that signs notifications where the application gives none: one for all processes. */
  async storedKey(make: () => Promise<string>): Promise<string> {
    const { pushStore } = await this.spaces.get(undefined);
    return pushStore.key(keyName, make);
  }

  async #of(caller: Caller, place: RunPlace, mount: string) {
    if (!this.senders.has(mount)) throw errors.pushNotificationsOff();
    const { space, run } = await this.runs().find(caller, place);
    return [space.pushStore, run.runId] as const;
  }
}

function checkConfig(
  { id, url, token, authentication }: NewPushConfig,
  allowedHosts: readonly string[],
): void {
  const refuse = (reason: string): never => {
    throw errors.pushConfigInvalid(reason);
  };
  if (id !== undefined && id.length > longestId) refuse(`id has more than ${longestId} characters.`);
  if (url.length > longestUrl) refuse(`url has more than ${longestUrl} characters.`);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    refuse('url is not an address that begins with https:// or http://.');
  const { hostname, host, username, password } = new URL(url);
  if (username !== '' || password !== '')
    refuse('url has a user name or a password. Give them as authentication.');
  const address = hostname.replace(/^\[|\]$/g, '');
  const isAllowed = allowedHosts.some((one) => [address, hostname, host].includes(one.toLowerCase()));
  // a name is looked up when a notification is sent, and each time
  if (isIP(address) !== 0 && !isAllowed && !isPublicAddress(address))
    refuse('url is not a public address. The service has to allow a private host by name.');
  for (const [name, value = ''] of [
    ['token', token],
    ['authentication.scheme', authentication?.scheme],
    ['authentication.credentials', authentication?.credentials],
  ] as const) {
    if (value.length > longestSecret) refuse(`${name} has more than ${longestSecret} characters.`);
    if (!isHeaderValue(value)) refuse(`${name} has characters that a header cannot carry.`);
  }
}

function isHeaderValue(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
