import type { EventsOf } from '../events/run-event.js';
import { newId } from '../ids.js';
import type { Json, JsonObject } from '../json.js';
import { InProcessLearnings } from '../learnings/in-process-learnings.js';
import { silentLog } from '../log.js';
import { storeRunMedia } from '../media/given-media.js';
import { InProcessMedia } from '../media/in-process-media.js';
import { type MadeMedia, madeMedia } from '../media/made-media.js';
import type { MediaContents } from '../media/media.js';
import { InProcessMemories } from '../memory/in-process-memories.js';
import type { Message } from '../models/message.js';
import type { AnswerEnding } from '../models/model.js';
import { checkOptions, checkValue } from '../options/check-options.js';
import { RunEngine } from '../runs/engine.js';
import type { Executable } from '../runs/executable.js';
import { childrenOf } from '../runs/execution/child-run.js';
import type { RunHandle } from '../runs/execution/executor.js';
import { MemoryJournal } from '../runs/journal/memory-journal.js';
import type { RunJournal } from '../runs/journal/ports.js';
import { unlimitedSlots } from '../runs/leases/run-slots.js';
import { InProcessNotifications } from '../runs/notifications/in-process-notifications.js';
import { type ResumeRequest, resumeRun } from '../runs/resume/resume-run.js';
import type { EndedRun, RunFailure, RunKind, RunStatus } from '../runs/run.js';
import type { Timers } from '../timers.js';
import type { ToolRequirement } from '../tools/questions/requirement.js';
import { endingOf } from './answer/ending.js';
import { storableSchema } from './answer/output-format.js';
import { type AgentContinueOptions, callRequest, openRequirements } from './continuation/continue-in-code.js';
import {
  type AgentRunOptions,
  agentContinueOptions,
  agentRunOptions,
  type RunStartOptions,
  runInput,
  workflowRunOptions,
} from './run-options.js';
import { type ToolExecution, toolExecutionsOf } from './tool-executions.js';
import { messagesOf, withHistory } from './transcript.js';

export interface AgentRunOutput<Content = Json> extends Partial<AnswerEnding> {
  readonly runId: string;
  readonly sessionId: string;
  readonly status: RunStatus;
  /** A text when no schema was asked for, and also when the answer would not fit it: `contentType` is then `str`. */
  readonly content: Content | string;
  readonly contentType: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolExecution[];
  /** What the model and the tools made beside their texts. */
  readonly media: readonly MadeMedia[];
  readonly sessionState: JsonObject;
  readonly metrics: JsonObject;
  /** What was thought before and while answering. */
  readonly reasoningContent?: string;
  /** What the user could ask next. */
  readonly followups?: readonly string[];
  /** What the calls of a paused run wait for: `agent.continue()` takes the answers. */
  readonly requirements: readonly ToolRequirement[];
  readonly error?: RunFailure;
  /** What the members of a team came to, in the order in which they were asked. */
  readonly memberResponses?: readonly AgentRunOutput[];
}

/** Where an agent's runs are executed and kept. */
export interface RunnerSpace {
  readonly engine: RunEngine;
  readonly journal: RunJournal;
  readonly media: MediaContents;
}

/** Runs agents in this process without HTTP. */
export class AgentRunner {
  /** `open` is asked before each run: a service opens its database when it is first needed. */
  constructor(private readonly open: () => Promise<RunnerSpace>) {}

  async run(
    agent: Executable,
    message: string | JsonObject,
    options: AgentRunOptions,
  ): Promise<AgentRunOutput> {
    const handle = await this.start(agent, message, options, false);
    return outputOf(await handle.ended, await this.media());
  }

  async continue(agent: Executable, runId: string, options: AgentContinueOptions): Promise<AgentRunOutput> {
    checkOptions(`${agent.kind}.continue()`, options, agentContinueOptions);
    const ended = await this.resume(agent, runId, callRequest(options), options.signal);
    return outputOf(ended, await this.media());
  }

  /** Where the bytes of what the runs made are. */
  async media(): Promise<MediaContents> {
    return (await this.open()).media;
  }

  /** Continues a run of any kind of component and waits for its end. */
  async resume(
    component: Executable,
    runId: string,
    request: ResumeRequest,
    signal: AbortSignal | undefined,
  ): Promise<EndedRun> {
    signal?.throwIfAborted();
    const site = { ...(await this.open()), component, executable: () => component };
    const { handle } = await resumeRun(site, runId, request);
    cancelWith(signal, handle);
    return handle.ended;
  }

  async *stream<Kind extends RunKind>(
    agent: Executable & { readonly kind: Kind },
    message: string | JsonObject,
    options: RunStartOptions,
  ): AsyncGenerator<EventsOf[Kind], void, void> {
    const handle = await this.start(agent, message, options, true);
    const reader = handle.events();
    try {
      for (let events = await reader.next(); events !== null; events = await reader.next()) {
        for (const event of events) yield event.decoded<Kind>();
      }
    } finally {
      reader.close();
      handle.cancel('The reader of the stream left');
    }
    await handle.ended;
  }

  /** Begins a run of any kind of component. */
  async start(
    agent: Executable,
    message: string | JsonObject,
    options: RunStartOptions,
    stream: boolean,
  ): Promise<RunHandle> {
    const method = `${agent.kind}.${stream ? 'stream' : 'run'}()`;
    checkValue(method, 'the input', message, runInput);
    checkOptions(method, options, agent.kind === 'workflow' ? workflowRunOptions : agentRunOptions);
    const { sessionId, userId, signal, outputSchema, additionalData, ...rest } = options;
    const { images: _images, audio: _audio, videos: _videos, files: _files, ...given } = rest;
    signal?.throwIfAborted();
    const text = typeof message === 'string' ? message : JSON.stringify(message, null, 2);
    const content = agent.acceptInput === undefined ? text : await agent.acceptInput(text);
    const shape = outputSchema !== undefined && { outputSchema: storableSchema(outputSchema) };
    const extra = additionalData !== undefined && { extra: { additional_data: additionalData } };
    const { engine, media: contents } = await this.open();
    const media = await storeRunMedia(method, rest, contents);
    const input = { content, media, options: { ...given, ...shape, ...extra, stream } };
    const handle = await engine.start(agent, { input, userId: userId ?? null, sessionId, background: false });
    cancelWith(signal, handle);
    return handle;
  }
}

function cancelWith(signal: AbortSignal | undefined, handle: RunHandle): void {
  const cancel = (): void => handle.cancel('The caller aborted the run');
  // the caller may have aborted while the run was being started
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  void handle.ended.catch(() => {}).finally(() => signal?.removeEventListener('abort', cancel));
}

function outputOf({ run, steps, history }: EndedRun, contents: MediaContents): AgentRunOutput {
  const { result } = run;
  const members = childrenOf(run, steps).map((child) => outputOf({ ...child, history: [] }, contents));
  return {
    runId: run.runId,
    sessionId: run.sessionId,
    status: run.status,
    content: result?.content ?? '',
    contentType: result?.contentType ?? 'str',
    ...endingOf(result ?? {}),
    messages: withHistory(messagesOf(run, steps), history),
    tools: toolExecutionsOf(steps),
    media: madeMedia(result?.media, contents),
    sessionState: result?.sessionState ?? {},
    metrics: result?.metrics ?? {},
    requirements:
      run.status === 'paused' ? openRequirements(run, steps).map(({ requirement }) => requirement) : [],
    ...(result?.reasoningContent !== undefined && { reasoningContent: result.reasoningContent }),
    ...(Array.isArray(result?.extra?.followups) && { followups: result.extra.followups as string[] }),
    ...(result?.error !== undefined && { error: result.error }),
    ...(members.length > 0 && { memberResponses: members }),
  };
}

/**
 * The runner of one component that no service registers. Its sessions, memories and learnings are its own, because
 * other components may have the same id, and live as long as it does: `new Runyard({ agents })` makes them durable.
 */
export function ephemeralRunner(component: Executable, timers: Timers): AgentRunner {
  const journal = new MemoryJournal();
  const media = new InProcessMedia();
  const engine = new RunEngine({
    journal,
    leases: journal,
    queue: journal,
    notifications: new InProcessNotifications(),
    timers,
    slots: unlimitedSlots(),
    ports: {
      media,
      pastSessions: journal,
      memories: new InProcessMemories(),
      learnings: new InProcessLearnings(),
    },
    log: silentLog,
    owner: newId(),
    leaseMs: 3_600_000,
    resolve: () => component,
    isTransient: () => false,
  });
  return new AgentRunner(async () => ({ engine, journal, media }));
}
