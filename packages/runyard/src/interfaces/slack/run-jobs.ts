import type { Services } from '../../capabilities/capability.js';
import type { DeliveryOutcome, HeldDelivery, SlackService } from '../../capabilities/slack/service.js';
import { RunyardError } from '../../core/errors/errors.js';
import { isJsonObject, type JsonObject, parseJson } from '../../core/json.js';
import type { Log } from '../../core/log.js';
import type { Caller } from '../../platform/auth/caller.js';
import { Rights } from '../../platform/auth/rights.js';
import { writeAnswer } from './answer/write-answer.js';
import type { SlackConfig } from './options.js';
import type { RunJob, SlackSite, SlackThread } from './parts.js';
import { isUnreachable, SlackCallError } from './web/call-error.js';
import type { Workspace, Workspaces } from './workspaces.js';

const sorry = 'Sorry, there was an error processing your message.';

/** Where a run is answered, as it is stored. */
export interface RunPlaceInSlack {
  readonly thread: SlackThread;
  readonly enterpriseId?: string | undefined;
  readonly userId: string;
  readonly sessionId: string;
}

export interface RunJobsOptions {
  readonly config: SlackConfig;
  readonly services: Services;
  readonly slack: SlackService;
  readonly workspaces: Workspaces;
  readonly log: Log;
  /** The largest file that a run is given. */
  readonly mostBytes: number;
}

/** The work on runs that came from Slack: who acts, where it is answered, and what was written. */
export class RunJobs {
  readonly site: SlackSite;

  constructor(readonly options: RunJobsOptions) {
    const { config, services, log } = options;
    this.site = { config, services, log };
  }

  /** Acts for the person whom the session belongs to, with no other rights than those of this component's runs. */
  callerFor(userId: string): Caller {
    const { kind, componentId } = this.options.config.component;
    return {
      userId,
      scope: { kind: 'user', userId },
      rights: new Rights([`${kind}s:${componentId}:run`], { adminScope: '', enforced: true }),
      proven: true,
      claims: null,
      bound: {},
    };
  }

  job(workspace: Workspace, runId: string, place: RunPlaceInSlack, signal: AbortSignal): RunJob {
    const { config, slack } = this.options;
    const { prefix, component } = config;
    return {
      site: this.site,
      api: workspace.api,
      thread: place.thread,
      caller: this.callerFor(place.userId),
      place: { ...component, runId },
      signal,
      notes: {
        read: async () => {
          const notes = parseJson((await slack.run(prefix, runId))?.notes ?? '{}');
          return isJsonObject(notes) ? notes : {};
        },
        write: (notes) => slack.writeNotes(prefix, runId, JSON.stringify(notes)),
      },
    };
  }

  /** The job of a run that is known; undefined when it is not one of this interface, or its workspace is gone. */
  async jobOf(runId: string, signal: AbortSignal): Promise<RunJob | undefined> {
    const { config, slack, workspaces } = this.options;
    const stored = await slack.run(config.prefix, runId);
    const place = stored && placeIn(stored.place);
    if (place === undefined) return undefined;
    const workspace = await workspaces.of({
      teamId: place.thread.teamId,
      enterpriseId: place.enterpriseId,
    });
    return workspace && this.job(workspace, runId, place, signal);
  }

  /** Writes the answer of a run, from where the last attempt left off. */
  async write(
    delivery: HeldDelivery,
    job: RunJob,
    { asked, after, kept = {} }: { asked?: string; after: number; kept?: JsonObject },
  ): Promise<DeliveryOutcome> {
    const stored = delivery.progress === null ? undefined : parseJson(delivery.progress);
    const progress = isJsonObject(stored) && isJsonObject(stored.answer) ? stored.answer : undefined;
    try {
      await writeAnswer({
        ...job,
        asked,
        after,
        progress,
        save: (answer) => delivery.save(JSON.stringify({ ...kept, answer })),
      });
    } catch (error) {
      return this.refused(error, delivery, job);
    }
    return { kind: 'done' };
  }

  /** A run that could not begin or be answered. What may pass is tried again before the person is notified. */
  async refused(error: unknown, delivery: HeldDelivery, { api, thread }: RunJob): Promise<DeliveryOutcome> {
    const isPassing =
      error instanceof SlackCallError
        ? error.retryable
        : !(error instanceof RunyardError) || error.status === 429 || error.status >= 500;
    if (delivery.signal.aborted || isUnreachable(error) || (isPassing && !delivery.isLast)) throw error;
    this.options.log.warn({ err: error, delivery: delivery.deliveryId }, 'a message of Slack has no answer');
    await api.call('chat.postMessage', { channel: thread.channel, thread_ts: thread.threadTs, text: sorry });
    const isKnown = error instanceof SlackCallError || error instanceof RunyardError;
    return { kind: 'done', note: isKnown ? error.message : 'An error of the service: see its log.' };
  }
}

export function placeIn(text: string): RunPlaceInSlack | undefined {
  const place = parseJson(text);
  // only this file writes it
  return isJsonObject(place) ? (place as unknown as RunPlaceInSlack) : undefined;
}
