import type { RunsService } from '../../../src/capabilities/runs/service.js';
import type { JsonObject } from '../../../src/core/json.js';
import { silentLog } from '../../../src/core/log.js';
import { LoggedEvent } from '../../../src/core/runs/events/logged-event.js';
import type { AnswerJob, Press, PressJob } from '../../../src/interfaces/slack/parts.js';
import { openWebApi } from '../../../src/interfaces/slack/web/web-api.js';
import { anonymousCaller } from '../../../src/platform/auth/caller.js';
import type { SlackDouble } from './slack-double.js';

export const runId = 'run-1';
export const channel = 'C1';
export const threadTs = '1700000000.000001';

/** A run whose events and end are in the hands of the test. */
export class GivenRun {
  readonly events: LoggedEvent[] = [];
  status = 'completed';
  content: unknown = '';
  error: string | undefined;
  body: JsonObject = {};
  kind = 'agent';
  cancelled = 0;
  keepsEvents = true;
  /** What happens before some events are read. */
  before: (index: number) => void | Promise<void> = () => {};
  /** Approvals by their status. */
  approvals: string[] = [];

  emit(event: string, fields: object = {}, ofRun = runId): this {
    const index = this.events.length;
    const data = JSON.stringify({ event, run_id: ofRun, created_at: 1, event_index: index, ...fields });
    this.events.push(new LoggedEvent(index, event as LoggedEvent['name'], null, data));
    return this;
  }

  /** A call of the model that says a text in pieces. */
  say(...pieces: string[]): this {
    this.emit('ModelRequestStarted').emit('RunContent', { content: '' });
    for (const content of pieces) this.emit('RunContent', { content });
    return this.emit('ModelRequestCompleted');
  }

  get runs(): RunsService {
    const run = () => ({
      runId,
      kind: this.kind,
      status: this.status,
      result: this.error === undefined ? null : { error: { message: this.error } },
    });
    const service = {
      follow: async (_caller: unknown, _place: unknown, after: number) => ({
        run: run(),
        resting: true,
        missedEvents: this.events.length - after - 1,
        events: () => this.reader(after + 1),
      }),
      get: async () => ({ run: run(), steps: [] }),
      body: async () => ({ content: this.content, ...this.body }),
      cancel: async () => void this.cancelled++,
      find: async () => ({
        run: run(),
        space: {
          approvals: {
            resolutionsOf: async () => new Map(this.approvals.map((status, at) => [at, { status }])),
          },
        },
      }),
    };
    return service as unknown as RunsService;
  }

  private reader(from: number) {
    let at = from;
    return {
      next: async () => {
        await this.before(at);
        const event = this.keepsEvents ? this.events[at++] : undefined;
        return event === undefined ? null : [event];
      },
      close: () => {},
    };
  }
}

export interface Kept {
  progress?: JsonObject;
  notes: JsonObject;
}

/** A job of a run, as the inbound side makes it; `kept` is what is in the database. */
export async function answerJob(
  slack: SlackDouble,
  run: GivenRun,
  kept: Kept,
  config: object = {},
): Promise<AnswerJob> {
  return {
    site: {
      config: {
        ...{ streaming: true, loadingText: 'Thinking...', loadingMessages: [], bufferSize: 1 },
        ...{ taskDisplayMode: 'plan', ...config },
      } as unknown as AnswerJob['site']['config'],
      services: { runs: run.runs },
      log: silentLog,
    },
    api: await openWebApi({ token: slack.token, apiUrl: slack.url, log: silentLog }),
    thread: { teamId: 'T1', channel, threadTs, askerId: 'U1', askerTeamId: 'T1', isDirect: true },
    caller: anonymousCaller,
    place: { kind: run.kind as 'agent', componentId: 'a', runId },
    signal: new AbortController().signal,
    notes: { read: async () => kept.notes, write: async (notes) => void Object.assign(kept, { notes }) },
    asked: 'What is it?',
    after: -1,
    progress: kept.progress,
    save: async (progress) => void Object.assign(kept, { progress }),
  };
}

export async function pressJob(
  slack: SlackDouble,
  run: GivenRun,
  kept: Kept,
  press: Press,
): Promise<PressJob> {
  return { ...(await answerJob(slack, run, kept)), press };
}
