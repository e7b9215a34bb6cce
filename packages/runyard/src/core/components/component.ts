import { storableSchema } from '../agents/answer/output-format.js';
import { checkInput } from '../agents/hooks/input-schema.js';
import { checkedFilters } from '../agents/knowledge/knowledge-use.js';
import { type RunStartOptions, runInput, type StartOptions } from '../agents/run-options.js';
import { identify } from '../component-id.js';
import { errors } from '../errors/errors.js';
import type { EventsOf, RunEvent } from '../events/run-event.js';
import { fingerprintOf } from '../fingerprint.js';
import type { Json, JsonObject } from '../json.js';
import { readRunMedia, storeRunMedia } from '../media/given-media.js';
import type { MediaContents } from '../media/media.js';
import type { ModelPrices } from '../models/prices.js';
import { checkOptions, checkValue, ownerOf } from '../options/check-options.js';
import type { Kind } from '../options/kind.js';
import type { RunContext } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import type { RunHandle } from '../runs/execution/executor.js';
import type { AnyLimits } from '../runs/limits/run-limits.js';
import { type ResumeRequest, resumeRun } from '../runs/resume/resume-run.js';
import type { ConfigVersion, EndedRun, Run, RunKind, RunOptions, RunResult } from '../runs/run.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import type { Tool } from '../tools/tool.js';
import type { ComponentSpace } from './component-space.js';
import { type AsToolOptions, componentTool } from './component-tool.js';
import { withMessages } from './given-messages.js';
import { type CompletedRun, type RunOutput, RunOutputError } from './run-output.js';
import { decodedEvents, StartedRun } from './started-run.js';

/** What the settings of every kind hold. */
interface ComponentSettings {
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  readonly inputSchema?: ValueSchema;
  readonly sessionState?: JsonObject;
  readonly metadata?: JsonObject;
  readonly limits?: AnyLimits | ((...args: never[]) => unknown);
}

/** The types in which the kinds differ. */
interface ComponentTypes {
  readonly kind: RunKind;
  readonly settings: ComponentSettings;
  readonly input: unknown;
  readonly runOptions: RunStartOptions;
  readonly continueOptions: { readonly signal?: AbortSignal };
  readonly output: RunOutput;
  /** Of a run with the content that was asked for. */
  readonly completed: CompletedRun;
}

/** What a component was built from that is stored as data. */
export interface ComponentOrigin extends ConfigVersion {
  readonly stage: 'draft' | 'published';
  /** The states of all stored components that it consists of, as `RunOptions.configs`. */
  readonly configs: NonNullable<RunOptions['configs']>;
}

const labels = { agent: 'Agent', team: 'Team', workflow: 'Workflow' } as const;

/** What the options of a kind may be. */
interface OptionKinds {
  readonly settings: Kind;
  readonly run: Kind;
  readonly start: Kind;
  readonly continue: Kind;
}

/** What agents, teams and workflows have in common: how they are defined, and how code runs them. */
export abstract class Component<Types extends ComponentTypes> implements Executable {
  abstract readonly kind: Types['kind'];
  abstract readonly model: Executable['model'];
  readonly id: string;
  readonly name: string;
  /** What messages call it: `Agent 'bank'`. */
  protected readonly owner: string;
  /** Undefined for a component that code defines. */
  origin: ComponentOrigin | undefined;
  private openSpace: (() => Promise<ComponentSpace>) | null = null;
  private structureMark: string | undefined;
  private plainTool: Tool | undefined;

  constructor(
    kind: Types['kind'],
    readonly settings: Types['settings'],
    private readonly options: OptionKinds,
  ) {
    const label = labels[kind];
    checkOptions(ownerOf(label, settings), settings, options.settings);
    const { id, name } = identify(ownerOf(label, {}), settings);
    this.id = id;
    this.name = name;
    this.owner = `${label} '${id}'`;
  }

  /** Undefined also where a function chooses them for each run. */
  get limits(): AnyLimits | undefined {
    const { limits } = this.settings;
    return typeof limits === 'function' ? undefined : limits;
  }

  /** Made when it is first asked for: it takes the schemas of all tools. */
  get fingerprint(): string {
    this.structureMark ??= fingerprintOf(this.structure());
    return this.structureMark;
  }

  get eventFields(): JsonObject {
    return { [`${this.kind}_id`]: this.id, [`${this.kind}_name`]: this.name };
  }

  get initialState(): JsonObject {
    return this.settings.sessionState ?? {};
  }

  get configs(): RunOptions['configs'] {
    return this.origin?.configs;
  }

  /** The sessions of drafts are marked: no run of a published version is mixed with them by mistake. */
  get sessionMetadata(): JsonObject | undefined {
    const { origin } = this;
    const { metadata } = this.settings;
    return origin?.stage === 'draft' ? { ...metadata, preview: { version: origin.version } } : metadata;
  }

  acceptInput(message: string, call?: CallApplication): Promise<string> {
    return checkInput(this.settings.inputSchema, message, call);
  }

  /** Throws when it lacks something that a run of it needs. */
  assertRuns(): void {}

  abstract execute(context: RunContext): Promise<RunResult>;
  abstract metrics(context: RunContext): JsonObject;
  abstract endEvents(end: RunEnd, context: RunContext): readonly RunEvent[];
  /** Lets go of what its tools hold (connections, processes). It can be used again. */
  abstract close(): Promise<void>;

  /** What has to be stored with a run so that its component can be built again. */
  protected get runOrigin(): Pick<RunOptions, 'factoryInput' | 'claims'> {
    return {};
  }

  /** What a journal has to fit. */
  protected abstract structure(): Json;
  protected abstract outputOf(ended: EndedRun, contents: MediaContents): Types['output'];
  protected abstract resumeRequest(options: Types['continueOptions']): ResumeRequest;

  /** Says where its runs are executed and kept. `open` is called before each run. */
  attach(open: () => Promise<ComponentSpace>): void {
    this.openSpace = open;
  }

  /**
   * A tool that runs it: for an agent or a team that calls it. Its run is a part of the caller's run. Among `tools`,
   * the component itself means the same.
   */
  asTool(options?: AsToolOptions): Tool {
    if (options !== undefined) return componentTool(this, options);
    this.plainTool ??= componentTool(this);
    return this.plainTool;
  }

  /** Runs it and waits until the run ends or pauses. Without a service, sessions are kept in memory. */
  async run(input: Types['input'], options?: Types['runOptions']): Promise<Types['output']> {
    return this.ended(await this.begin('run', input, options));
  }

  /**
   * Starts it and resolves with the run, once it has begun: `run.events()`, `await run.result()`, `run.cancel()`. With
   * `background`, the run is stored first, and a service completes it whatever happens to this process.
   */
  async start(
    input: Types['input'],
    options?: Types['runOptions'] & StartOptions,
  ): Promise<StartedRun<Types['kind'], Types['output']>> {
    const begun = await this.begin('start', input, options);
    return new StartedRun(begun.space, begun.handle, () => this.ended(begun));
  }

  /** The same for callers who only want the content of a completed run: rejects with `RunOutputError` for any other. */
  async runOrThrow(input: Types['input'], options?: Types['runOptions']): Promise<Types['completed']> {
    const output = await this.run(input, options);
    if (output.status !== 'completed') throw new RunOutputError(output);
    // `completed` is the part of `output` with this status
    return output as Types['completed'];
  }

  /** Runs it for an eval, which chooses the id of the run and reads its journal. */
  async runAs(
    runId: string,
    input: string,
    options: Pick<RunStartOptions, 'sessionId' | 'sessionState' | 'dependencies' | 'signal'>,
  ): Promise<EndedRun & { readonly prices: ModelPrices }> {
    const { handle, space } = await this.begin('run', input, { ...options, runId });
    return { ...(await handle.ended), prices: space.engine.prices };
  }

  /** Continues a run and waits until it ends or pauses: one that paused with answers, another from where it is. */
  async continue(runId: string, options: Types['continueOptions']): Promise<Types['output']> {
    checkOptions(`${this.kind}.continue()`, options, this.options.continue);
    const { signal } = options;
    signal?.throwIfAborted();
    const space = await this.open();
    const { engine, journal } = space;
    const resolutions = (run: Run) => space.resolutions?.(run) ?? Promise.resolve(new Map());
    const site = { engine, journal, resolutions, component: this, executable: () => this };
    const { handle } = await resumeRun(site, runId, this.resumeRequest(options));
    cancelWith(signal, handle);
    return this.ended({ space, handle });
  }

  /** Runs it and yields its events as they come. Leaving the loop cancels the run. */
  async *stream(
    input: Types['input'],
    options?: Types['runOptions'],
  ): AsyncGenerator<EventsOf[Types['kind']], void, void> {
    const { handle } = await this.begin('stream', input, options);
    try {
      yield* decodedEvents<Types['kind']>(handle.events());
    } finally {
      handle.cancel('The reader of the stream left');
    }
    await handle.ended;
  }

  private async begin(
    how: 'run' | 'stream' | 'start',
    input: unknown,
    options: RunStartOptions & StartOptions = {},
  ): Promise<BegunRun> {
    const method = `${this.kind}.${how}()`;
    checkValue(method, 'the input', input, runInput);
    checkOptions(method, options, how === 'start' ? this.options.start : this.options.run);
    this.assertRuns();
    const { sessionId, userId, runId, signal, background = false, messages, ...others } = options;
    const { outputSchema, additionalData, knowledgeFilters, ...rest } = others;
    const { images: _images, audio: _audio, videos: _videos, files: _files, ...given } = rest;
    const conversation = withMessages(method, this, messages);
    const filters = checkedFilters(method, knowledgeFilters);
    signal?.throwIfAborted();
    const message = typeof input === 'string' ? input : JSON.stringify(input, null, 2);
    const [content, read] = await Promise.all([
      checkInput(this.settings.inputSchema, message, undefined, ['message']),
      readRunMedia(method, rest),
    ]);
    const shape = outputSchema !== undefined && { outputSchema: storableSchema(outputSchema) };
    const filtered = filters !== undefined && { knowledgeFilters: filters };
    const extra = additionalData !== undefined && { extra: { additional_data: additionalData } };
    const space = await this.open();
    const media = await storeRunMedia(read, space.media);
    const handle = await space.engine.start(this, {
      input: {
        content,
        media,
        options: {
          ...{ ...given, ...shape, ...filtered, ...extra, ...conversation, ...this.runOrigin },
          stream: how !== 'run',
        },
      },
      userId: userId ?? null,
      sessionId,
      runId,
      background,
    });
    cancelWith(signal, handle);
    return { space, handle };
  }

  private async ended({ space, handle }: BegunRun): Promise<Types['output']> {
    return this.outputOf(await (space.ended?.(handle) ?? handle.ended), space.media);
  }

  protected open(): Promise<ComponentSpace> {
    if (this.openSpace === null)
      throw errors.invalidConfig(`${this.owner} has nothing to run it. Make it with ${this.kind}().`);
    return this.openSpace();
  }
}

interface BegunRun {
  readonly space: ComponentSpace;
  readonly handle: RunHandle;
}

function cancelWith(signal: AbortSignal | undefined, handle: RunHandle): void {
  const cancel = (): void => handle.cancel('The caller aborted the run');
  // the caller may have aborted while the run was being started
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  void handle.ended.catch(() => {}).finally(() => signal?.removeEventListener('abort', cancel));
}
