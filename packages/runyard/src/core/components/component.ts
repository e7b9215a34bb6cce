import { checkInput } from '../agents/hooks/input-schema.js';
import type { RunStartOptions, StartOptions } from '../agents/run-options.js';
import { identify } from '../component-id.js';
import { errors } from '../errors/errors.js';
import type { EventsOf, RunEvent } from '../events/run-event.js';
import { fingerprintOf } from '../fingerprint.js';
import type { Json, JsonObject } from '../json.js';
import type { MediaContents } from '../media/media.js';
import type { ModelPrices } from '../models/prices.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import type { Kind } from '../options/kind.js';
import type { RunContext } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import type { Priority } from '../runs/leases/priority.js';
import type { AnyLimits } from '../runs/limits/run-limits.js';
import type { ResumeRequest } from '../runs/resume/resume-run.js';
import type { ConfigVersion, EndedRun, RunOptions, RunResult } from '../runs/run.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import type { Tool } from '../tools/tool.js';
import { CodeRuns, type CodeRunTypes, type RunOptionKinds, type RunSite } from './code-runs.js';
import type { ComponentSpace } from './component-space.js';
import { type AsToolOptions, componentTool } from './component-tool.js';
import { RunOutputError } from './run-output.js';
import type { StartedRun } from './started-run.js';

/** What the settings of every kind hold. */
interface ComponentSettings {
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  readonly inputSchema?: ValueSchema;
  readonly sessionState?: JsonObject;
  readonly metadata?: JsonObject;
  readonly limits?: AnyLimits | ((...args: never[]) => unknown);
  readonly priority?: Priority;
}

/** The types in which the kinds differ. */
interface ComponentTypes extends CodeRunTypes {
  readonly settings: ComponentSettings;
  readonly input: unknown;
}

/** What a component was built from that is stored as data. */
export interface ComponentOrigin extends ConfigVersion {
  readonly stage: 'draft' | 'published';
  /** The states of all stored components that it consists of, as `RunOptions.configs`. */
  readonly configs: NonNullable<RunOptions['configs']>;
}

const labels = { agent: 'Agent', team: 'Team', workflow: 'Workflow' } as const;

/** What the options of a kind may be. */
interface OptionKinds extends RunOptionKinds {
  readonly settings: Kind;
}

/** What agents, teams and workflows have in common: how they are defined, and how code runs them. */
export abstract class Component<Types extends ComponentTypes> implements Executable {
  abstract readonly kind: Types['kind'];
  abstract readonly model: Executable['model'];
  readonly id: string;
  readonly name: string;
  /** What messages call it: `Agent 'bank'`. */
  readonly owner: string;
  /** Undefined for a component that code defines. */
  origin: ComponentOrigin | undefined;
  private openSpace: (() => Promise<ComponentSpace>) | null = null;
  private structureMark: string | undefined;
  private fieldsOfEvents: JsonObject | undefined;
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

  get priority(): Priority | undefined {
    return this.settings.priority;
  }

  /** Made when it is first asked for: it takes the schemas of all tools. */
  get fingerprint(): string {
    this.structureMark ??= fingerprintOf(this.structure());
    return this.structureMark;
  }

  get eventFields(): JsonObject {
    this.fieldsOfEvents ??= { [`${this.kind}_id`]: this.id, [`${this.kind}_name`]: this.name };
    return this.fieldsOfEvents;
  }

  get initialState(): JsonObject {
    return this.settings.sessionState ?? {};
  }

  get forgets(): RunOptions['forgets'] {
    return undefined;
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

  acceptInput(message: string, call?: CallApplication): string | Promise<string> {
    return checkInput(this.settings.inputSchema, message, call);
  }

  /** Throws when it lacks something that a run of it needs. */
  assertRuns(): void {}

  abstract execute(context: RunContext): Promise<RunResult>;
  abstract metrics(context: RunContext): JsonObject;
  abstract endEvents(end: RunEnd, context: RunContext): readonly RunEvent[];
  /** Lets go of what its tools hold (connections, processes). It can be used again. */
  abstract close(): Promise<void>;

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
  run(input: Types['input'], options?: Types['runOptions']): Promise<Types['output']> {
    return this.inCode().run(input, options);
  }

  /**
   * Starts it and resolves with the run, once it has begun: `run.events()`, `await run.result()`, `run.cancel()`. With
   * `background`, the run is stored first, and a service completes it whatever happens to this process.
   */
  start(
    input: Types['input'],
    options?: Types['runOptions'] & StartOptions,
  ): Promise<StartedRun<Types['kind'], Types['output']>> {
    return this.inCode().start(input, options);
  }

  /** The same for callers who only want the content of a completed run: rejects with `RunOutputError` for any other. */
  runOrThrow(input: Types['input'], options?: Types['runOptions']): Promise<Types['completed']> {
    return this.inCode().runOrThrow(input, options);
  }

  /** Runs it for an eval, which chooses the id of the run and reads its journal. */
  async runAs(
    runId: string,
    input: string,
    options: Pick<RunStartOptions, 'sessionId' | 'sessionState' | 'dependencies' | 'signal'>,
  ): Promise<EndedRun & { readonly prices: ModelPrices }> {
    const { handle, space } = await this.inCode().begin('run', input, { ...options, runId });
    return { ...(await handle.ended), prices: space.engine.prices };
  }

  /** Continues a run and waits until it ends or pauses: one that paused with answers, another from where it is. */
  continue(runId: string, options: Types['continueOptions']): Promise<Types['output']> {
    return this.inCode().continue(runId, options);
  }

  /** Runs it and yields its events as they come. Leaving the loop cancels the run. */
  stream(
    input: Types['input'],
    options?: Types['runOptions'],
  ): AsyncGenerator<EventsOf[Types['kind']], void, void> {
    return this.inCode().stream(input, options);
  }

  /** How code runs it: as itself, or at the site of the factory that has built it. */
  inCode(site?: RunSite): CodeRuns<Pick<Types, keyof CodeRunTypes>> {
    const { options } = this;
    const outputOf = (ended: EndedRun, contents: MediaContents) => this.outputOf(ended, contents);
    const resumeRequest = (asked: Types['continueOptions']) => this.resumeRequest(asked);
    const completed = (output: Types['output'], asked?: Types['runOptions']) => this.completed(output, asked);
    return new CodeRuns(
      { component: this, options, outputOf, completed, resumeRequest },
      site ?? { executable: this, origin: {}, open: () => this.open() },
    );
  }

  /** The output of a run with the content that was asked for. Throws for any other. */
  protected completed(output: Types['output'], _options?: Types['runOptions']): Types['completed'] {
    if (output.status !== 'completed') throw new RunOutputError(output);
    // `completed` is the part of `output` with this status
    return output as Types['completed'];
  }

  protected open(): Promise<ComponentSpace> {
    if (this.openSpace === null)
      throw errors.invalidConfig(`${this.owner} has nothing to run it. Make it with ${this.kind}().`);
    return this.openSpace();
  }
}
