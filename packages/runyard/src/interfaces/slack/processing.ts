import type { DeliveryOutcome, HeldDelivery } from '../../capabilities/slack/service.js';
import { errorCode } from '../../core/errors/error-code.js';
import { RunyardError } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import { isJsonObject, type JsonObject, parseJson } from '../../core/json.js';
import { anonymousCaller } from '../../platform/auth/caller.js';
import { cancelThread } from './cancel-thread.js';
import {
  isCancelWord,
  isOfOrganisation,
  type MessageEvent,
  messageOf,
  ownerOf,
  threadKeyOf,
} from './deliveries.js';
import { formOfMessage, textOf } from './message-form.js';
import type { SlackThread } from './parts.js';
import { processPress } from './presses.js';
import { placeIn, type RunJobs, type RunJobsOptions, type RunPlaceInSlack } from './run-jobs.js';
import { isOfToken, isUnreachable, SlackCallError } from './web/call-error.js';
import { type EventOwner, objectIn, textIn, type Workspace } from './workspaces.js';

const done: DeliveryOutcome = { kind: 'done' };

/** Does what a delivery asks for. Each part may be repeated: what was done is in the row, and in the run. */
export class Processing {
  readonly options: RunJobsOptions;

  constructor(private readonly jobs: RunJobs) {
    this.options = jobs.options;
  }

  async process(delivery: HeldDelivery): Promise<DeliveryOutcome> {
    const payload = parseJson(delivery.payload);
    if (!isJsonObject(payload)) return done;
    try {
      if (payload.type === 'interaction')
        return await processPress(this.jobs, delivery, objectIn(payload, 'payload'));
      const owner = ownerOf(payload);
      const event = objectIn(payload, 'event');
      if (event.type === 'app_uninstalled' || event.type === 'tokens_revoked')
        return await this.#uninstalled(owner, payload, delivery.signal);
      const workspace = await this.options.workspaces.of(owner);
      if (workspace === undefined) return { kind: 'done', note: 'The workspace has no app.' };
      if (event.type === 'assistant_thread_started') return await this.#greet(workspace, event);
      const message = messageOf(this.options.config, payload);
      if (message === undefined || this.#isIgnored(workspace, message)) return done;
      return await this.#answer(delivery, workspace, message);
    } catch (error) {
      return this.failed(error);
    }
  }

  /** How an attempt ends that failed. Errors that are not Slack's or the service's own are for the log. */
  failed(error: unknown): DeliveryOutcome {
    if (error instanceof SlackCallError)
      return error.retryable
        ? { kind: 'retry', reason: error.message, unreachable: isUnreachable(error) }
        : { kind: 'done', note: error.message };
    if (error instanceof RunyardError && (error.status === 429 || error.status >= 500))
      return { kind: 'retry', reason: error.message };
    throw error;
  }

  /** Its own messages never: an answer would be answered for ever. */
  #isIgnored({ botUserId, botId: ownBotId }: Workspace, message: MessageEvent): boolean {
    const { userId, botId, event } = message;
    if (userId === botUserId || (botId !== undefined && botId === ownBotId)) return true;
    const isBot = botId !== undefined || event.subtype === 'bot_message';
    return isBot && !this.options.config.respondToOtherApps;
  }

  async #answer(
    delivery: HeldDelivery,
    workspace: Workspace,
    message: MessageEvent,
  ): Promise<DeliveryOutcome> {
    const { config, services, workspaces, mostBytes } = this.options;
    const { signal } = delivery;
    // with a run of its own, an earlier attempt took the word for a message
    if (isCancelWord(config, message.text) && delivery.runId === null) {
      const outcome = await cancelThread(this.jobs, delivery, workspace, message);
      if (outcome !== undefined) return outcome;
    }
    const place = await this.#placeOf(delivery, workspace, message);
    const runId = delivery.runId ?? newId();
    if (delivery.runId === null) await delivery.assign(runId, threadKeyOf(message), JSON.stringify(place));
    const job = this.jobs.job(workspace, runId, place, signal);
    const { caller } = job;
    let asked: string | undefined;
    if ((await services.runs.follow(caller, job.place, -1)) === undefined) {
      try {
        const made = await formOfMessage(workspaces, workspace, message, mostBytes, signal);
        asked = made.asked;
        const isChat = config.component.kind !== 'workflow';
        await services.runs.create(
          caller,
          config.component,
          // chosen before: a word of the thread may have cancelled it already
          { ...made.form, session_id: place.sessionId, run_id: runId },
          isChat ? { callerInput: { isChat: true, origin: made.origin } } : {},
        );
      } catch (error) {
        if (errorCode(error) !== 'run_exists') return this.jobs.refused(error, delivery, job);
      }
    }
    asked ??= textOf(message, workspace.botUserId, 'app');
    return this.jobs.write(delivery, job, { asked, after: -1 });
  }

  async #placeOf(
    { mount }: HeldDelivery,
    workspace: Workspace,
    message: MessageEvent,
  ): Promise<RunPlaceInSlack> {
    const { slack } = this.options;
    const askerId = message.userId ?? message.botId ?? '';
    const thread: SlackThread = {
      teamId: message.owner.teamId,
      channel: message.channel,
      threadTs: message.threadTs,
      askerId,
      askerTeamId: message.userTeamId ?? message.owner.teamId,
      isDirect: message.isDirect,
    };
    const { enterpriseId } = message.owner;
    const common = { thread, ...(enterpriseId !== undefined && { enterpriseId }) };
    // a thread is one session, which belongs to the person who began it
    const [earlier] = await slack.runsOfThread(mount, threadKeyOf(message), 1);
    const known = earlier && placeIn(earlier.place);
    if (known !== undefined) return { ...common, userId: known.userId, sessionId: known.sessionId };
    return { ...common, ...(await this.#sessionOf(workspace, message, askerId)) };
  }

  async #sessionOf(
    workspace: Workspace,
    message: MessageEvent,
    askerId: string,
  ): Promise<{ userId: string; sessionId: string }> {
    const { config, services, workspaces } = this.options;
    const { kind, componentId } = config.component;
    const { channel, threadTs } = message;
    const within = workspaces.areMany ? [workspace.ownerId] : [];
    const sessionId = [componentId, ...within, channel, threadTs].join(':');
    // the second form is that of older services
    for (const known of [sessionId, ...(workspaces.areMany ? [] : [`${componentId}:${threadTs}`])]) {
      const place = { kind, componentId, sessionId: known };
      const { runs } = await services.runs.page(anonymousCaller, place, { limit: 1 });
      for await (const { run } of runs)
        if (run.userId !== null) return { userId: run.userId, sessionId: known };
    }
    const person = await this.#identityOf(workspace, message, askerId);
    return { userId: [...within, person].join(':'), sessionId };
  }

  /** The address of a person of another workspace is what that workspace says: it proves nothing here. */
  async #identityOf(workspace: Workspace, message: MessageEvent, askerId: string): Promise<string> {
    const { config, workspaces } = this.options;
    if (!config.resolveUserIdentity || message.userId === undefined) return askerId;
    const user = await workspaces.user(workspace, message.userId);
    const email = textIn(objectIn(user, 'profile'), 'email');
    const isOwn = user.is_stranger !== true && textIn(user, 'team_id') === message.owner.teamId;
    return isOwn && user.is_email_confirmed !== false && email !== undefined ? email : askerId;
  }

  async #greet({ api }: Workspace, event: JsonObject): Promise<DeliveryOutcome> {
    const thread = objectIn(event, 'assistant_thread');
    const channel = textIn(thread, 'channel_id');
    const threadTs = textIn(thread, 'thread_ts');
    const { suggestedPrompts, streaming } = this.options.config;
    if (channel === undefined || threadTs === undefined || !streaming || suggestedPrompts.length === 0)
      return done;
    const prompts = suggestedPrompts.map(({ title, message }) => ({ title, message }));
    await api.call('assistant.threads.setSuggestedPrompts', {
      channel_id: channel,
      thread_ts: threadTs,
      prompts,
    });
    return done;
  }

  async #uninstalled(
    { teamId, enterpriseId }: EventOwner,
    envelope: JsonObject,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome> {
    const { config, slack, workspaces } = this.options;
    const event = objectIn(envelope, 'event');
    // tokens of single users are not ours
    const bots = objectIn(event, 'tokens').bot;
    if (event.type === 'tokens_revoked' && !(Array.isArray(bots) && bots.length > 0)) return done;
    // one workspace of an organisation may remove the app while the others keep it
    const ownerId = isOfOrganisation(envelope) || teamId === '' ? enterpriseId : teamId;
    if (ownerId === undefined) return done;
    // the event may come late, and the app may be installed again since
    const isValid = async (token: string) => {
      const api = await workspaces.openApi(token);
      return api.call('auth.test', {}, signal).then(
        () => true,
        (error) => {
          if (error instanceof SlackCallError && isOfToken(error.code)) return false;
          throw error;
        },
      );
    };
    await slack.uninstall(config.prefix, ownerId, workspaces.encryptionSecret, isValid);
    workspaces.forget(ownerId);
    return done;
  }
}
