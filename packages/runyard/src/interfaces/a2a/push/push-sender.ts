import { createHash } from 'node:crypto';
import type { Services } from '../../../capabilities/capability.js';
import type {
  PushConfig,
  PushMessage,
  PushSender,
  RestingRun,
} from '../../../capabilities/push-notifications/service.js';
import type { Json } from '../../../core/json.js';
import type { Cards } from '../cards/cards.js';
import type { SigningKey } from '../cards/signing-key.js';
import type { Dialect } from '../dialects/dialect.js';
import { v1 } from '../dialects/v1.js';
import { v03, v03Rest } from '../dialects/v03.js';
import type { PushSettings } from '../options.js';
import type { Task } from '../task.js';
import { taskHead, taskOf } from '../task-view.js';

const dialects = new Map<string, Dialect>([
  ['1.0', v1],
  ['0.3', v03],
  ['0.3-rest', v03Rest],
]);

/** What a notification may hold. A larger task is reported without its contents: the receiver can get them. */
const largestBytes = 1_000_000;
/** How long a receiver may take a signature for a new one. */
const validSeconds = 300;

/** Writes notifications: the task as its client would get it, signed, with what the client gave to recognise them. */
class A2aPushSender implements PushSender {
  readonly allowedHosts: readonly string[];
  readonly maxAttempts: number;
  readonly timeoutMs: number;
  readonly retryMs: number;

  constructor(
    private readonly services: Pick<Services, 'runs'>,
    private readonly key: () => Promise<SigningKey>,
    { allowedHosts, maxAttempts, timeoutMs, retryMs }: PushSettings,
  ) {
    this.allowedHosts = allowedHosts;
    this.maxAttempts = maxAttempts;
    this.timeoutMs = timeoutMs;
    this.retryMs = retryMs;
  }

  async message(config: PushConfig, resting: RestingRun): Promise<PushMessage> {
    const dialect = dialects.get(config.dialect) ?? v1;
    const body = await this.#body(dialect, resting);
    const signature = await this.#sign(config, resting, body);
    const { token, scheme, credentials } = config;
    const isV1 = dialect === v1;
    return {
      body,
      headers: {
        'content-type': isV1 ? 'application/a2a+json' : 'application/json',
        'a2a-version': dialect.version,
        // where examples of the protocol look for it, unless the receiver wants something else there
        authorization:
          scheme === null || credentials === null ? `Bearer ${signature}` : `${scheme} ${credentials}`,
        'x-runyard-signature': signature,
        ...(token !== null && { 'x-a2a-notification-token': token }),
      },
    };
  }

  async #body(dialect: Dialect, resting: RestingRun): Promise<string> {
    const { run } = resting;
    const whole = await taskOf(resting, (media) => this.services.runs.showMedia(run, media));
    const text = written(dialect, whole, {});
    if (Buffer.byteLength(text) <= largestBytes) return text;
    const { message: _, ...head } = taskHead(resting);
    return written(dialect, head, { historyLength: 0, withArtifacts: false });
  }

  /** Proves who sends, to whom, about what and which bytes: a copy of it proves nothing about another notification. */
  async #sign({ issuer, url, configId }: PushConfig, { run }: RestingRun, body: string): Promise<string> {
    const { SignJWT } = await import('jose');
    const { keyId, algorithm, privateKey } = await this.key();
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      taskId: run.runId,
      request_body_sha256: createHash('sha256').update(body).digest('hex'),
    };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, kid: keyId, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(new URL(url).origin)
      .setIssuedAt(now)
      .setExpirationTime(now + validSeconds)
      .setJti(notificationId(run, configId))
      .sign(privateKey);
  }
}

/** The same for each attempt: a receiver recognises what it has had. */
function notificationId({ runId, status, nextEventIndex }: RestingRun['run'], configId: string): string {
  const facts = JSON.stringify([runId, configId, status, nextEventIndex]);
  return createHash('sha256').update(facts).digest('base64url').slice(0, 22);
}

/** In 1.0 a notification is what a stream would send; in 0.3 it is the task. */
function written(dialect: Dialect, task: Task, shown: Parameters<Dialect['task']>[1]): string {
  const body: Json = dialect === v1 ? { task: v1.task(task, shown) } : dialect.task(task, shown);
  return JSON.stringify(body);
}

/** From now on clients may register addresses, and are notified. */
export function enablePushes(services: Services, cards: Cards, mount: string, settings: PushSettings): void {
  const key = () => cards.pushKey(services);
  services.pushNotifications.enable(mount, new A2aPushSender(services, key, settings));
}
