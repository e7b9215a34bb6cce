import type { WebClient } from '@slack/web-api';
import { errorCode } from '../../../core/errors/error-code.js';
import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { Log } from '../../../core/log.js';
import type { SlackApi, SlackThread, UploadedFile, WebApiOptions } from '../parts.js';
import { isOfToken, isPassing, SlackCallError } from './call-error.js';
import { downloaded } from './download.js';
import { type Clock, Pace } from './pace.js';
import { unlessAborted } from './waiting.js';

const publicApi = 'https://slack.com/api/';
const timeoutMs = 30_000;
/** A call that Slack turns away so often has to be made later, by its job. */
const mostAttempts = 5;
/** Slack asks for some seconds as a rule. A longer wait is left to the job. */
const longestRetryMs = 120_000;
/** A message says what it is, so that it is not taken for one that was lost. */
const note: JsonObject = { event_type: 'runyard_note', event_payload: {} };

type SlackLibrary = typeof import('@slack/web-api');

/** Opens the Web API with a token. The package is loaded on first use. */
export async function openWebApi(options: WebApiOptions, clock?: Clock): Promise<SlackApi> {
  return new WebApi(await library(), options, clock);
}

async function library(): Promise<SlackLibrary> {
  try {
    return await import('@slack/web-api');
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw errors.invalidConfig(
      'slack() needs a package that is not installed. Run: npm install @slack/web-api@8.2.0',
    );
  }
}

class WebApi implements SlackApi {
  private readonly client: WebClient;
  private readonly pace: Pace;
  private readonly apiUrl: string;

  constructor(
    private readonly slack: SlackLibrary,
    private readonly options: WebApiOptions,
    clock?: Clock,
  ) {
    this.apiUrl = options.apiUrl ?? publicApi;
    this.pace = new Pace(clock);
    this.client = new slack.WebClient(options.token, {
      slackApiUrl: this.apiUrl.endsWith('/') ? this.apiUrl : `${this.apiUrl}/`,
      allowAbsoluteUrls: false,
      timeout: timeoutMs,
      rejectRateLimitedCalls: true,
      // a lost answer does not mean that a message was not posted: who wrote it knows what to do
      retryConfig: { retries: 0 },
      logger: quietLogger(options.log, slack),
    });
  }

  async call(method: string, fields: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    for (let attempt = 1; ; attempt++) {
      if (!(await this.pace.turn(method, fields.channel, signal)))
        throw new SlackCallError(method, 'too-many-calls-wait', true);
      try {
        const whole = method === 'chat.postMessage' ? { metadata: note, ...fields } : { ...fields };
        const result = await unlessAborted(this.client.apiCall(method, whole), signal);
        // an answer of Slack is JSON
        return result as unknown as JsonObject;
      } catch (error) {
        signal?.throwIfAborted();
        const waitMs = this.waitAfter(error);
        if (waitMs === undefined || waitMs > longestRetryMs || attempt >= mostAttempts)
          throw this.callError(method, error);
        this.options.log.debug({ method, waitMs }, 'Slack asks to call later');
        this.pace.block(method, fields.channel, waitMs);
      }
    }
  }

  async upload(
    { name, bytes, mimeType }: UploadedFile,
    thread: SlackThread,
    signal?: AbortSignal,
  ): Promise<void> {
    const method = 'files.getUploadURLExternal';
    const { upload_url: url, file_id: id } = await this.call(
      method,
      { filename: name, length: bytes.byteLength },
      signal,
    );
    await this.send(String(url), bytes, mimeType, signal);
    await this.call(
      'files.completeUploadExternal',
      {
        files: [{ id: String(id), title: name }],
        channel_id: thread.channel,
        thread_ts: thread.threadTs,
      },
      signal,
    );
  }

  download(url: string, mostBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
    const { token } = this.options;
    return downloaded({ url, mostBytes, token, apiUrl: this.apiUrl, signal, timeoutMs });
  }

  private async send(
    url: string,
    bytes: Uint8Array,
    mimeType: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const given = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': mimeType ?? 'application/octet-stream' },
      body: new Uint8Array(bytes),
      redirect: 'error',
      signal: signal === undefined ? given : AbortSignal.any([given, signal]),
    }).catch((error) => {
      signal?.throwIfAborted();
      throw new SlackCallError('the upload of a file', 'request-failed', true, { cause: error });
    });
    await response.body?.cancel();
    if (!response.ok)
      throw new SlackCallError('the upload of a file', `http-${response.status}`, response.status >= 500);
  }

  /** How long Slack asks to wait; undefined when it does not. */
  private waitAfter(error: unknown): number | undefined {
    return error instanceof this.slack.WebAPIRateLimitedError ? error.retryAfter * 1000 : undefined;
  }

  /** Without what was sent: a token or a user's text is in no log. */
  private callError(method: string, error: unknown): SlackCallError {
    const { WebAPIPlatformError, WebAPIHTTPError, WebAPIRateLimitedError, WebAPIRequestError } = this.slack;
    if (error instanceof WebAPIPlatformError) {
      const code = error.data.error;
      const { onTokenRefused } = this.options;
      // `auth.test` is how it is found out
      const isStale = onTokenRefused !== undefined && isOfToken(code) && method !== 'auth.test';
      if (isStale) onTokenRefused();
      return new SlackCallError(method, code, isStale || isPassing(code));
    }
    if (error instanceof WebAPIHTTPError)
      return new SlackCallError(method, `http-${error.statusCode}`, error.statusCode >= 500);
    if (error instanceof WebAPIRateLimitedError)
      return new SlackCallError(method, 'ratelimited', true, { retryAfterMs: error.retryAfter * 1000 });
    // Slack said nothing that can be understood: a proxy may have answered
    const isRequest = error instanceof WebAPIRequestError;
    return new SlackCallError(method, isRequest ? 'request-failed' : 'call-failed', true, { cause: error });
  }
}

/** What the package has to say is for those who look for a fault. */
function quietLogger(log: Log, { LogLevel }: SlackLibrary) {
  const say = (...words: unknown[]) => log.debug({}, words.map(String).join(' '));
  const silent = () => {};
  return {
    // it would print every request
    debug: silent,
    info: say,
    warn: say,
    error: say,
    setLevel: silent,
    getLevel: () => LogLevel.WARN,
    setName: silent,
  };
}
