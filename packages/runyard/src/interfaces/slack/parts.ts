import type { Services } from '../../capabilities/capability.js';
import type { ContinueForm, CreateForm } from '../../capabilities/runs/schema.js';
import type { RunPlace } from '../../capabilities/runs/service.js';
import type { JsonObject } from '../../core/json.js';
import type { Log } from '../../core/log.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { SlackConfig } from './options.js';

/** What the side that receives from Slack and the side that writes to Slack share. */

/** One mounted interface in one process. */
export interface SlackSite {
  readonly config: SlackConfig;
  readonly services: Pick<Services, 'runs'>;
  readonly log: Log;
}

/** A workspace of Slack with the token of the app there. Its calls keep the rate limits of that workspace. */
export interface SlackApi {
  /** Calls a method such as `chat.postMessage`. Rejects with a `SlackCallError` (`web/call-error.ts`). */
  call(method: string, fields: JsonObject, signal?: AbortSignal): Promise<JsonObject>;
  /** Sends a file to a thread (`files.getUploadURLExternal` and `files.completeUploadExternal`). */
  upload(file: UploadedFile, thread: SlackThread, signal?: AbortSignal): Promise<void>;
  /** Reads a file of a message (`url_private_download`) with the token, up to so many bytes. */
  download(url: string, mostBytes: number, signal?: AbortSignal): Promise<Uint8Array>;
}

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly mimeType?: string | undefined;
}

/** How a `SlackApi` is opened: `openWebApi` in `web/web-api.ts`. */
export interface WebApiOptions {
  /** Left out for `oauth.v2.access`. An app token (`xapp-…`) for `apps.connections.open`. */
  readonly token?: string | undefined;
  /** Where the Web API is. Default: https://slack.com/api/ */
  readonly apiUrl?: string | undefined;
  readonly log: Log;
  /** The token is no longer valid. A job that is repeated may find another one. */
  readonly onTokenRefused?: (() => void) | undefined;
}

/** Where the answer of a run is written, and who asked. */
export interface SlackThread {
  readonly teamId: string;
  readonly channel: string;
  readonly threadTs: string;
  /** The Slack user (or bot) whose message began the run. */
  readonly askerId: string;
  /** The team of the asker: another one in a shared channel. */
  readonly askerTeamId: string;
  readonly isDirect: boolean;
}

/** Files of a message, as fields of a run's form, and the names of those that were left out, with the reason. */
export interface ReceivedFiles {
  readonly fields: Pick<CreateForm, 'images' | 'audio' | 'videos' | 'input_files' | 'files'>;
  readonly skipped: readonly string[];
}

/**
 * The work on one run in one thread. It is kept in the row of the delivery: when the process ends, another one gets the
 * same job with the progress that was last saved.
 */
export interface RunJob {
  readonly site: SlackSite;
  readonly api: SlackApi;
  readonly thread: SlackThread;
  readonly caller: Caller;
  readonly place: RunPlace;
  /** Aborts when this process stops or another one has the job: then nothing more is written. */
  readonly signal: AbortSignal;
  /** What is known of a run as long as it is kept: the cards of its pause, what was decided. One writer at a time. */
  readonly notes: { read(): Promise<JsonObject>; write(notes: JsonObject): Promise<void> };
}

export interface AnswerJob extends RunJob {
  /** The user's words, for the title of the thread; undefined for a run that continues. */
  readonly asked: string | undefined;
  /** The last event before those that are to be written: `services.runs.follow(caller, place, after)`. -1: none. */
  readonly after: number;
  /** What an earlier process had written; undefined at the beginning. */
  readonly progress: JsonObject | undefined;
  /** Keeps it in the row of the delivery. Rejects when another process has the job. */
  save(progress: JsonObject): Promise<void>;
}

/** A button of ours that a person pressed. */
export interface Press {
  readonly runId: string;
  /** `decide`: answers what the run waits for, so that only approvers may. `look`: asks how an approval stands. */
  readonly kind: 'decide' | 'look';
  readonly userId: string;
  readonly teamId: string;
  readonly channel: string;
  readonly messageTs: string;
  readonly actionTs: string;
  /** As Slack sent it. */
  readonly payload: JsonObject;
}

export interface PressJob extends RunJob {
  readonly press: Press;
}

export type PressOutcome =
  /** The message is up to date, and the run waits for more, or the person was notified of what is missing. */
  | { readonly kind: 'waits' }
  /** `shown` is handed to `showDecision` once the run continues, also in another process. */
  | { readonly kind: 'continue'; readonly form: ContinueForm; readonly shown: JsonObject };
