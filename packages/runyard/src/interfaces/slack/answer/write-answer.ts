import type { RunsService } from '../../../capabilities/runs/service.js';
import type { JsonObject } from '../../../core/json.js';
import type { LoggedEvent } from '../../../core/runs/events/logged-event.js';
import type { RunStatus } from '../../../core/runs/run.js';
import { escaped } from '../escaped.js';
import type { AnswerJob } from '../parts.js';
import { postPause } from '../pauses/post-pause.js';
import { SlackCallError } from '../web/call-error.js';
import { pause } from '../web/waiting.js';
import { type CardStatus, Cards } from './cards.js';
import { Messages, StoppedByUser } from './messages.js';
import { linksIn, producedFiles } from './produced-files.js';
import { RunText } from './run-text.js';
import { messagesOf } from './split-text.js';

const longestTitle = 50;
/** How long until a run is looked for again that no process executes at the moment. */
const handedOnMs = 500;

type RunView = Awaited<ReturnType<RunsService['get']>>;

/** Writes the answer of a run to its thread while it comes, until the run rests. */
export async function writeAnswer(job: AnswerJob): Promise<void> {
  const answer = new Answer(job);
  await answer.announce();
  await answer.follow();
  await answer.finish();
}

const settled: Partial<Record<RunStatus, CardStatus>> = { completed: 'complete', paused: 'pending' };

class Answer {
  private readonly text: RunText;
  private readonly cards: Cards;
  private readonly messages: Messages;
  private progress: JsonObject;
  private shown = 0;
  private stopped = false;

  constructor(private readonly job: AnswerJob) {
    const { api, thread, place, signal, site, progress, after } = job;
    const { streaming, taskDisplayMode } = site.config;
    this.progress = { ...progress };
    this.text = new RunText(place.runId);
    this.cards = new Cards(place.runId, place.kind === 'workflow');
    this.messages = new Messages({
      ...{ api, thread, signal, streaming, taskDisplayMode, progress, after },
      runId: place.runId,
      save: (changed) => this.save(changed),
    });
  }

  /** Says that the run is under way, and names the thread. An answer does not fail for that. */
  async announce(): Promise<void> {
    const { thread, asked, site } = this.job;
    const { loadingText: status, loadingMessages } = site.config;
    const place = { channel_id: thread.channel, thread_ts: thread.threadTs };
    await this.tryCall('assistant.threads.setStatus', {
      ...place,
      status,
      ...(loadingMessages && loadingMessages.length > 0 && { loading_messages: [...loadingMessages] }),
    });
    if (asked === undefined || !thread.isDirect || this.progress.titled === true) return;
    const title = asked.replace(/\s+/g, ' ').trim().slice(0, longestTitle);
    if (title !== '') await this.tryCall('assistant.threads.setTitle', { ...place, title });
    await this.save({ titled: true });
  }

  /** Shows what happens until the run rests. */
  async follow(): Promise<void> {
    const { site, caller, place, signal } = this.job;
    let after = this.job.after;
    for (;;) {
      signal.throwIfAborted();
      const followed = await site.services.runs.follow(caller, place, after);
      if (followed === undefined || (followed.resting && followed.missedEvents === 0)) return;
      const events = followed.events();
      const close = () => events.close();
      const before = after;
      signal.addEventListener('abort', close, { once: true });
      try {
        for (let some = await events.next(); some !== null; some = await events.next()) {
          after = some.at(-1)?.index ?? after;
          await this.take(some);
        }
      } finally {
        signal.removeEventListener('abort', close);
        events.close();
      }
      if (after > before) continue;
      // its events are no longer kept: the answer is in the run
      if (followed.resting) return;
      // this process has given the run up, and another one will have it
      await pause(handedOnMs, signal);
    }
  }

  async finish(): Promise<void> {
    const { site, caller, place, signal } = this.job;
    signal.throwIfAborted();
    const view = await site.services.runs.get(caller, place);
    const body = await site.services.runs.body(view, 'runyard');
    this.conclude(view, body);
    this.cards.settle(settled[view.run.status] ?? 'error');
    await this.show(true);
    if (!site.config.streaming || this.messages.isEmpty) await this.clearStatus();
    await this.sendFiles(body);
    if (view.run.status === 'paused') await postPause(this.job, view.run.kind, body);
  }

  private async take(events: readonly LoggedEvent[]): Promise<void> {
    let isDue = false;
    for (const logged of events) {
      isDue = this.text.take(logged) || isDue;
      // to wait for each piece would take longer than all of them
      if (logged.piece === undefined) isDue = this.cards.take(await logged.decoded()) || isDue;
    }
    const { streaming, bufferSize } = this.job.site.config;
    if (!streaming) return;
    const grown = this.text.length - this.shown;
    if (isDue || this.messages.isWorth(grown, bufferSize)) await this.show(false);
  }

  private async show(done: boolean): Promise<void> {
    if (this.stopped) return;
    const { text } = this.text;
    const { streaming } = this.job.site.config;
    try {
      await this.messages.show(marked(messagesOf(text), streaming), streaming ? this.cards.news() : [], done);
      this.shown = this.text.length;
    } catch (error) {
      if (!(error instanceof StoppedByUser)) throw error;
      await this.stop();
    }
  }

  /** Who stops the answer means the run. */
  private async stop(): Promise<void> {
    this.stopped = true;
    const { site, caller, place } = this.job;
    await site.services.runs.cancel(caller, place).catch((error) => {
      // it may have ended by itself
      site.log.debug({ runId: place.runId, err: error }, 'A run that was stopped in Slack was not cancelled');
    });
  }

  /** What the end of the run adds to what was said. */
  private conclude({ run }: RunView, body: Readonly<Record<string, unknown>>): void {
    const { status, result } = run;
    if (status === 'completed') {
      this.text.conclude(answerText(body.content));
      const links = linksIn(body);
      if (links.length > 0) this.text.remark(links.join('\n'));
    } else if (status === 'error') this.text.remark(`_Error: ${failureOf(result?.error?.message)}_`);
    else if (status === 'cancelled') this.text.remark('_Cancelled._');
  }

  /** Files that the run made. Those that were sent before, by another process or before a pause, are counted. */
  private async sendFiles(body: Readonly<Record<string, unknown>>): Promise<void> {
    const { api, thread, signal, site, notes } = this.job;
    const files = producedFiles(body);
    if (files.length === 0) return;
    for (let at = Number((await notes.read()).files ?? 0); at < files.length; at++) {
      const file = files[at];
      if (file === undefined) continue;
      try {
        await api.upload(file, thread, signal);
      } catch (error) {
        if (!(error instanceof SlackCallError) || error.retryable) throw error;
        site.log.warn({ code: error.code, method: error.method }, 'A file was not sent to Slack');
        await api.call(
          'chat.postMessage',
          {
            channel: thread.channel,
            thread_ts: thread.threadTs,
            text: `_The file ${escaped(file.name.slice(0, 200))} could not be uploaded: ${error.code}_`,
          },
          signal,
        );
      }
      await notes.write({ ...(await notes.read()), files: at + 1 });
    }
  }

  private clearStatus(): Promise<void> {
    const { channel, threadTs } = this.job.thread;
    return this.tryCall('assistant.threads.setStatus', {
      channel_id: channel,
      thread_ts: threadTs,
      status: '',
    });
  }

  private async tryCall(method: string, fields: JsonObject): Promise<void> {
    const { api, signal, site } = this.job;
    try {
      await api.call(method, fields, signal);
    } catch (error) {
      if (!(error instanceof SlackCallError)) throw error;
      site.log.debug({ method, code: error.code }, 'Slack refused a call that an answer can do without');
    }
  }

  private async save(changed: JsonObject): Promise<void> {
    this.progress = { ...this.progress, ...changed };
    await this.job.save(this.progress);
  }
}

/** Says of the messages of one answer that they belong together. How many there will be is known only at the end. */
function marked(texts: readonly string[], streaming: boolean): string[] {
  if (streaming) return texts.map((text, at) => (at === 0 ? text : `_(continued)_\n\n${text}`));
  return texts.map((text, at) => (texts.length === 1 ? text : `[${at + 1}/${texts.length}]\n${text}`));
}

/** A value that is no text is shown as JSON. */
function answerText(content: unknown): string {
  if (content === undefined || content === null) return '';
  return typeof content === 'string' ? content : `\`\`\`json\n${JSON.stringify(content, null, 2)}\n\`\`\``;
}

function failureOf(message: string | undefined): string {
  return message?.replace(/\s+/g, ' ').trim() || 'The run failed.';
}
