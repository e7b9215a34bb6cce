import type { SlackService } from '../../capabilities/slack/service.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { Log } from '../../core/log.js';
import type { SlackConfig } from './options.js';
import type { SlackApi } from './parts.js';
import type { SlackSecrets } from './secrets.js';
import type { Clock } from './web/pace.js';

/** The app in one workspace, or in all of an organisation. */
export interface Workspace {
  readonly ownerId: string;
  readonly api: SlackApi;
  readonly botUserId: string;
  readonly botId: string | undefined;
}

/** Whose an event is. */
export interface EventOwner {
  readonly teamId: string;
  readonly enterpriseId: string | undefined;
}

interface Kept<Value> {
  readonly value: Promise<Value>;
  readonly until: number;
}

const keptMs = 3_600_000;
/** A workspace that uninstalled the app, or changed its token, is noticed after this time by all processes. */
const workspacesKeptMs = 60_000;
const mostKept = 2_000;

/** Finds workspaces with their tokens, and the names of people and channels in them. */
export class Workspaces {
  readonly #workspaces = new Map<string, Kept<Workspace | undefined>>();
  readonly #facts = new Map<string, Kept<JsonObject>>();

  constructor(
    private readonly config: SlackConfig,
    private readonly secrets: SlackSecrets,
    private readonly service: SlackService,
    private readonly log: Log,
    private readonly clock?: Clock,
  ) {}

  /** Whether ids have the workspace in them: they are unique only there. */
  get areMany(): boolean {
    return this.secrets.oauth !== undefined;
  }

  /** What the tokens in the database are encrypted with. */
  get encryptionSecret(): string {
    return this.secrets.oauth?.encryptionSecret ?? '';
  }

  /** Undefined for a workspace that has no app of ours. Rejects while Slack does not say who the app is there. */
  async of({ teamId, enterpriseId }: EventOwner): Promise<Workspace | undefined> {
    const { token, oauth } = this.secrets;
    if (token !== undefined) {
      const own = await this.own(token);
      // an app that was installed elsewhere by hand has another token there
      const isOwn = own.ownerId.startsWith('E')
        ? own.ownerId === enterpriseId
        : own.ownerId === teamId || own.ownerId === '';
      return isOwn ? own : undefined;
    }
    if (oauth === undefined) return undefined;
    for (const ownerId of [teamId, enterpriseId]) {
      const found =
        ownerId &&
        (await this.#kept(this.#workspaces, ownerId, workspacesKeptMs, () => this.#installed(ownerId)));
      if (found) return found;
    }
    return undefined;
  }

  /** The one workspace of a token. Rejects when Slack refuses the token. */
  async own(token: string): Promise<Workspace> {
    const found = await this.#kept(this.#workspaces, '', Number.POSITIVE_INFINITY, () => this.#opened(token));
    if (found === undefined) throw new Error('There is no token.');
    return found;
  }

  forget(ownerId: string): void {
    this.#workspaces.delete(ownerId);
  }

  async #installed(ownerId: string): Promise<Workspace | undefined> {
    const { prefix } = this.config;
    const found = await this.service.installation(prefix, ownerId, this.encryptionSecret);
    return found && this.#opened(found.token, ownerId);
  }

  async #opened(token: string, ownerId?: string): Promise<Workspace> {
    const api = await this.openApi(token, () => this.forget(ownerId ?? ''));
    const who = await api.call('auth.test', {});
    const botUserId = textIn(who, 'user_id');
    if (botUserId === undefined) throw new Error('auth.test does not say who the app is.');
    const organisation = who.is_enterprise_install === true ? textIn(who, 'enterprise_id') : undefined;
    return {
      ownerId: ownerId ?? organisation ?? textIn(who, 'team_id') ?? '',
      api,
      botUserId,
      botId: textIn(who, 'bot_id'),
    };
  }

  /** Loaded when it is first needed, with the package that it uses. */
  async openApi(token?: string, onTokenRefused?: () => void): Promise<SlackApi> {
    const { openWebApi } = await import('./web/web-api.js');
    return openWebApi({ token, apiUrl: this.config.apiUrl, log: this.log, onTokenRefused }, this.clock);
  }

  /** A person as `users.info` shows them; empty when Slack does not say. */
  user(workspace: Workspace, userId: string): Promise<JsonObject> {
    return this.#fact(workspace, 'users.info', { user: userId }, 'user');
  }

  channel(workspace: Workspace, channel: string): Promise<JsonObject> {
    return this.#fact(workspace, 'conversations.info', { channel }, 'channel');
  }

  async #fact(workspace: Workspace, method: string, fields: JsonObject, field: string): Promise<JsonObject> {
    const key = [workspace.ownerId, method, ...Object.values(fields)].join('\n');
    try {
      return await this.#kept(this.#facts, key, keptMs, async () => {
        const { [field]: found } = await workspace.api.call(method, fields);
        return isJsonObject(found) ? found : {};
      });
    } catch (error) {
      // a name is a courtesy: a scope that the app does not have must not keep it from answering
      this.log.debug({ method, err: error }, 'a name could not be read from Slack');
      return {};
    }
  }

  #kept<Value>(
    all: Map<string, Kept<Value>>,
    key: string,
    forMs: number,
    make: () => Promise<Value>,
  ): Promise<Value> {
    const known = all.get(key);
    if (known !== undefined && known.until > performance.now()) return known.value;
    const value = make();
    all.delete(key);
    all.set(key, { value, until: performance.now() + forMs });
    const [oldest] = all.keys();
    if (all.size > mostKept && oldest !== undefined) all.delete(oldest);
    const forget = () => {
      if (all.get(key)?.value === value) all.delete(key);
    };
    // a workspace that is not there may install the app at any moment
    value.then((found) => found === undefined && forget(), forget);
    return value;
  }
}

export function textIn(object: JsonObject, field: string): string | undefined {
  const value = object[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function objectIn(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? value : {};
}
