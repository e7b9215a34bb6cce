import { ChosenSources, makingSources } from '../agents/context/chosen-sources.js';
import type { StartOptions } from '../agents/run-options.js';
import { identify } from '../component-id.js';
import type { CodeRuns, CodeRunTypes, RunOrigin } from '../components/code-runs.js';
import type { ComponentSpace } from '../components/component-space.js';
import type { StartedRun } from '../components/started-run.js';
import { errors } from '../errors/errors.js';
import { thrownError } from '../errors/thrown-error.js';
import type { EventsOf } from '../events/run-event.js';
import { newId } from '../ids.js';
import type { JsonObject, JsonSchema } from '../json.js';
import { checkOptions, checkValue, ownerOf } from '../options/check-options.js';
import { json } from '../options/kinds.js';
import { type Executable, unlessRefused } from '../runs/executable.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import type { Run, RunOptions } from '../runs/run.js';
import { ownSession } from '../runs/run-request.js';
import { faultText } from '../schemas/schema-faults.js';
import { fitToSchema, isZodSchema, jsonSchemaOf } from '../schemas/value-schema.js';
import { storable } from '../storable-json.js';
import type { ToolSource } from '../tools/tool-source.js';
import { type Buildable, BuiltByFactory, RebuiltByFactory } from './built-by-factory.js';
import {
  type AnyFactorySettings,
  type FactoryCall,
  FactoryRefusal,
  type FactoryRequest,
  factoryOptions,
} from './factory-request.js';

/** A component that is built for each run: what factories of agents, teams and workflows have in common. */
export abstract class ComponentFactory<
  Types extends CodeRunTypes,
  Built extends Buildable<Types>,
  Input = JsonObject,
> {
  readonly id: string;
  readonly name: string;
  private openSpace: (() => Promise<ComponentSpace>) | null = null;
  private readonly sources = new ChosenSources();

  constructor(
    readonly kind: Types['kind'],
    readonly settings: AnyFactorySettings<Built>,
  ) {
    const label = `${kind[0]?.toUpperCase()}${kind.slice(1)} factory`;
    checkOptions(ownerOf(label, settings), settings, factoryOptions);
    const { id, name } = identify(ownerOf(label, {}), settings);
    this.id = id;
    this.name = name;
  }

  /** What error messages call it where only what is built can be used: as a member, a step or a tool. */
  get [Symbol.toStringTag](): string {
    return this.constructor.name;
  }

  /** Whether `build` returned what it has to. */
  protected abstract isBuilt(value: unknown): value is Built;

  /** What was built, led by another model. */
  protected abstract onModel(built: Built, model: string): Built;

  /** What `factory_input` has to be, as data. */
  get inputSchema(): JsonSchema | undefined {
    return this.settings.inputSchema && jsonSchemaOf(this.settings.inputSchema);
  }

  /** Says where its runs are executed and kept. `open` is called before each run. */
  attach(open: () => Promise<ComponentSpace>): void {
    this.openSpace = open;
  }

  /** Builds the component of a run, runs it, and waits until the run ends or pauses. */
  async run(
    input: string | JsonObject,
    options?: Types['runOptions'] & FactoryCall<Input>,
  ): Promise<Types['output']> {
    const { built, runs, given } = await this.runsFor('run', options);
    return unlessRefused(built, () => runs.run(input, given));
  }

  /** The same for callers who only want the content of a completed run: rejects with `RunOutputError` for any other. */
  async runOrThrow(
    input: string | JsonObject,
    options?: Types['runOptions'] & FactoryCall<Input>,
  ): Promise<Types['completed']> {
    const { built, runs, given } = await this.runsFor('run', options);
    return unlessRefused(built, () => runs.runOrThrow(input, given));
  }

  /** Builds the component of a run, starts it, and resolves with the run once it has begun. */
  async start(
    input: string | JsonObject,
    options?: Types['runOptions'] & FactoryCall<Input> & StartOptions,
  ): Promise<StartedRun<Types['kind'], Types['output']>> {
    const { built, runs, given } = await this.runsFor('start', options);
    return unlessRefused(built, () => runs.start(input, given));
  }

  /** Builds the component of a run, runs it, and yields its events as they come. Leaving the loop cancels the run. */
  async *stream(
    input: string | JsonObject,
    options?: Types['runOptions'] & FactoryCall<Input>,
  ): AsyncGenerator<EventsOf[Types['kind']], void, void> {
    const { built, runs, given } = await this.runsFor('stream', options);
    try {
      yield* runs.stream(input, given);
    } finally {
      built.done();
    }
  }

  /** Continues a run with the component that is built again from what the run began with. */
  async continue(runId: string, options: Types['continueOptions'] = {}): Promise<Types['output']> {
    const { journal } = await this.open();
    const run = (await journal.load(runId))?.run;
    if (run === undefined || run.kind !== this.kind || run.componentId !== this.id)
      throw errors.runNotFound();
    const state = (await journal.session(run.sessionId))?.state ?? {};
    const request = requestOf(run, state, run.input.options);
    const { factoryInput, factoryState, claims } = run.input.options;
    const origin = { factoryInput, factoryState, ...(claims !== undefined && { claims }) };
    const built = await this.made(request, run.input.options.model);
    return unlessRefused(built, () => this.inCode(built, origin).continue(runId, options));
  }

  /** Lets go of what the tools of its runs hold (connections, processes). It can be used again. */
  close(): Promise<void> {
    return this.sources.close();
  }

  /** `call` is how the functions of the factory are called. `model` takes the place of the component's own. */
  build(request: FactoryRequest, call: CallApplication, model?: string): Promise<BuiltByFactory> {
    return call('build', () => this.made(request, model));
  }

  /** What executes a stored run: it is built again from what the run began with. `state`: that of the session by now. */
  rebuilt(run: Run, state: JsonObject): Executable {
    const request = requestOf(run, state, run.input.options);
    const { forgets, model } = run.input.options;
    return new RebuiltByFactory(this, forgets, (call) => this.build(request, call, model));
  }

  /** How a new run in code is executed, and the options that are left for it. */
  private async runsFor<Options extends Types['runOptions'] & FactoryCall<Input>>(
    how: 'run' | 'start' | 'stream',
    // an object without these options is one of the options
    { factoryInput, claims, ...options }: Options = {} as Options,
  ) {
    const method = `${this.kind}Factory.${how}()`;
    for (const [name, value] of Object.entries({ factoryInput, claims }))
      if (value !== undefined) checkValue(method, name, value, json);
    const { journal } = await this.open();
    const { sessionId = newId(), userId = null } = options;
    // only the state of a session of the user's own reaches the factory
    const session =
      options.sessionId === undefined ? undefined : await ownSession(journal, sessionId, userId);
    const state = { ...session?.state, ...options.sessionState };
    // both were just checked
    const input = storable(factoryInput ?? {}, 'factoryInput') as JsonObject;
    const built = await this.made({ input, userId, claims: claims ?? null, sessionId, state }, undefined);
    const origin = originOf(input, state, claims);
    return { built, runs: this.inCode(built, origin), given: { ...options, sessionId } };
  }

  private inCode(executable: BuiltByFactory<Built>, origin: RunOrigin): CodeRuns<Types> {
    return executable.built.inCode({ executable, origin, isBuilt: true, open: () => this.open() });
  }

  protected open(): Promise<ComponentSpace> {
    if (this.openSpace === null)
      throw errors.invalidConfig(
        `The ${this.kind} factory '${this.id}' has nothing to run it. Make it with ${this.kind}Factory().`,
      );
    return this.openSpace();
  }

  private async made(request: FactoryRequest, model: string | undefined): Promise<BuiltByFactory<Built>> {
    const input = await this.checked(request.input);
    const made = new Set<ToolSource>();
    let held: ReadonlySet<ToolSource> | undefined;
    const done = () => {
      // also what `build` made before it failed
      held ??= this.sources.addBuilt(made, []);
      void this.sources.done(held);
    };
    try {
      const built: unknown = await makingSources(made, () =>
        // the schema that `build` has its type from is the one that the input was just checked against
        this.settings.build({ ...request, input: input as never }),
      );
      held = this.sources.addBuilt(made, this.isBuilt(built) ? (built.toolSources ?? []) : []);
      if (!this.isBuilt(built))
        throw new Error(
          `Factory '${this.id}' did not return ${this.kind === 'agent' ? 'an' : 'a'} ${this.kind}`,
        );
      const { database } = built.settings;
      if (database !== undefined && database !== this.settings.database)
        throw new Error(`Factory '${this.id}' must name the database '${database}' itself`);
      return new BuiltByFactory(this, model === undefined ? built : this.onModel(built, model), done);
    } catch (thrown) {
      done();
      const error = thrownError(thrown);
      if (error instanceof FactoryRefusal) throw errors.factoryRefused(error.message);
      throw errors.factoryFailed(this.kind, error);
    }
  }

  private async checked(input: JsonObject): Promise<unknown> {
    const { inputSchema } = this.settings;
    if (inputSchema === undefined) return input;
    const fitted = await fitToSchema(inputSchema, input);
    if (!fitted.ok)
      throw errors.invalidFactoryInput(
        `factory_input does not fit: ${fitted.faults.map(faultText).join('; ')}`,
      );
    // the factory gets what its schema promises, dates and the like included
    return isZodSchema(inputSchema) ? inputSchema.parseAsync(input) : fitted.value;
  }
}

/** Any factory: the types in which they differ matter to those who run them in code. */
export type AnyFactory = ComponentFactory<CodeRunTypes, Buildable, never>;

/** What a run has to keep so that its component can be built again. */
export function originOf(
  factoryInput: JsonObject,
  factoryState: JsonObject,
  claims: JsonObject | null | undefined,
): RunOrigin {
  return { factoryInput, factoryState, ...(claims != null && { claims }) };
}

/**
 * What a factory is asked for a run that exists: the same as when the run began. `state` is that of the session, for runs
 * from before theirs was kept; what a token fixes has the values of the token.
 */
export function requestOf(
  { userId, sessionId, input }: Run,
  state: JsonObject,
  { fixed, claims = null }: Pick<RunOptions, 'fixed'> & { readonly claims?: JsonObject | null },
): FactoryRequest {
  const { factoryInput = {}, factoryState = state } = input.options;
  return { input: factoryInput, userId, claims, sessionId, state: { ...factoryState, ...fixed?.state } };
}
