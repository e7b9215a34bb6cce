import type { z } from 'zod';
import { identify } from '../component-id.js';
import type { ComponentSpace } from '../components/component-space.js';
import type { StartedRun } from '../components/started-run.js';
import { errors } from '../errors/errors.js';
import { thrownError } from '../errors/thrown-error.js';
import type { RunEvent } from '../events/run-event.js';
import { newId } from '../ids.js';
import type { JsonObject, JsonSchema } from '../json.js';
import { checkOptions, checkValue, ownerOf } from '../options/check-options.js';
import { callable, json, objectOf, required, text } from '../options/kinds.js';
import { schema } from '../options/schema-kind.js';
import { remoteContinuation } from '../remote/remote-continuation.js';
import type { RunContext } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import type { Run, RunOptions, RunResult, StepRecord } from '../runs/run.js';
import { ownSession } from '../runs/run-request.js';
import { faultText } from '../schemas/schema-faults.js';
import { fitToSchema, isZodSchema, jsonSchemaOf, type ValueSchema } from '../schemas/value-schema.js';
import { storable } from '../storable-json.js';
import { Agent, type AnyAgent } from './agent.js';
import { endEvents } from './agent-events.js';
import { continuationOf } from './continuation/continuation.js';
import type { AgentContinueOptions } from './continuation/continue-in-code.js';
import type { AgentRunOptions, StartOptions } from './run-options.js';
import type { AgentRunOutput } from './run-output.js';

/** What a factory learns about the run that it builds an agent for. */
export interface FactoryRequest<Input = JsonObject> {
  /** The caller's `factory_input`, checked against the schema of the factory. */
  readonly input: Input;
  /** Who the run belongs to: the identity that a token proved, or what an anonymous caller named. */
  readonly userId: string | null;
  /**
   * All that the caller's token says, and the token alone; null when there was none, and when an admin starts a run
   * for another user. It can be trusted.
   */
  readonly claims: JsonObject | null;
  readonly sessionId: string;
  /** The state of the session, with what the run brings along. */
  readonly state: JsonObject;
}

/** What callers give for it, before its defaults. */
export type GivenFactoryInput<Schema> = Schema extends z.ZodType ? z.input<Schema> : JsonObject;

export type FactoryInput<Schema> = Schema extends z.ZodType ? z.output<Schema> : JsonObject;

export interface AgentFactorySettings<Schema extends ValueSchema = JsonSchema> {
  /** The identifier in URLs; made from the name when left out. Runs belong to it, whatever the built agent is called. */
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  readonly metadata?: JsonObject;
  /** What `factory_input` has to be. Left out: any JSON object. */
  readonly inputSchema?: Schema;
  /** The id of the registered database that holds its sessions; the service's own when left out. */
  readonly database?: string;
  /**
   * Makes the agent of one run. A run that resumes after a crash asks for it again, with the same input and the same
   * claims. Throw `FactoryRefusal` for a caller who may not have one.
   */
  build(request: FactoryRequest<FactoryInput<Schema>>): AnyAgent | Promise<AnyAgent>;
}

/** The factory does not serve this caller: they read the message as it is, with status 403. */
export class FactoryRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FactoryRefusal';
  }
}

type AnyFactorySettings = Omit<AgentFactorySettings<ValueSchema>, 'build'> & {
  build(request: FactoryRequest<never>): AnyAgent | Promise<AnyAgent>;
};

const factoryOptions = objectOf<AnyFactorySettings>({
  id: text,
  name: text,
  description: text,
  metadata: json,
  inputSchema: schema,
  database: text,
  build: required(callable),
});

/** How code runs the agent that a factory builds. */
export interface FactoryRunOptions<Input = JsonObject> extends AgentRunOptions {
  /** What the factory gets as `input`, as `factory_input` over HTTP. */
  readonly factoryInput?: Input;
  /** Who the run is for: over HTTP, the claims of the caller's token. */
  readonly claims?: JsonObject;
}

/** An agent that is built for each run. Made with `agentFactory()`. */
export class AgentFactory<Input = JsonObject> {
  readonly id: string;
  readonly name: string;
  private openSpace: (() => Promise<ComponentSpace>) | null = null;

  constructor(readonly settings: AnyFactorySettings) {
    checkOptions(ownerOf('Agent factory', settings), settings, factoryOptions);
    const { id, name } = identify('An agent factory', settings);
    this.id = id;
    this.name = name;
  }

  /** What `factory_input` has to be, as data. */
  get inputSchema(): JsonSchema | undefined {
    return this.settings.inputSchema && jsonSchemaOf(this.settings.inputSchema);
  }

  /** Says where its runs are executed and kept. `open` is called before each run. */
  attach(open: () => Promise<ComponentSpace>): void {
    this.openSpace = open;
  }

  /** Builds the agent of a run, runs it, and waits until the run ends or pauses. */
  async run(input: string | JsonObject, options?: FactoryRunOptions<Input>): Promise<AgentRunOutput> {
    const { agent, given } = await this.agentFor('run', options);
    return agent.run(input, given);
  }

  /** Builds the agent of a run, starts it, and resolves with the run once it has begun. */
  async start(
    input: string | JsonObject,
    options?: FactoryRunOptions<Input> & StartOptions,
  ): Promise<StartedRun<'agent', AgentRunOutput>> {
    const { agent, given } = await this.agentFor('start', options);
    return agent.start(input, given);
  }

  /** Builds the agent of a run, runs it, and yields its events as they come. Leaving the loop cancels the run. */
  async *stream(input: string | JsonObject, options?: FactoryRunOptions<Input>): ReturnType<Agent['stream']> {
    const { agent, given } = await this.agentFor('stream', options);
    yield* agent.stream(input, given);
  }

  /** Continues a run with the agent that is built again from what the run began with. */
  async continue(runId: string, options: AgentContinueOptions = {}): Promise<AgentRunOutput> {
    const { journal } = await this.open();
    const run = (await journal.load(runId))?.run;
    if (run === undefined || run.kind !== 'agent' || run.componentId !== this.id) throw errors.runNotFound();
    const { factoryInput = {}, claims } = run.input.options;
    const { sessionId, userId } = run;
    const state = (await journal.session(sessionId))?.state ?? {};
    const request = { input: factoryInput, userId, claims: claims ?? null, sessionId, state };
    const agent = await this.made(request, run.input.options.model);
    return this.inCode(agent, { factoryInput, ...(claims !== undefined && { claims }) }).continue(
      runId,
      options,
    );
  }

  /** The agent of a new run in code, and the options that are left for it. */
  private async agentFor<Options extends FactoryRunOptions<Input>>(
    how: 'run' | 'start' | 'stream',
    // an object without these options is one of the options
    { factoryInput, claims, ...options }: Options = {} as Options,
  ) {
    const method = `agentFactory.${how}()`;
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
    const agent = await this.made({ input, userId, claims: claims ?? null, sessionId, state }, undefined);
    const origin = { factoryInput: input, ...(claims !== undefined && { claims }) };
    return { agent: this.inCode(agent, origin), given: { ...options, sessionId } };
  }

  private inCode(agent: AnyAgent, origin: RunOrigin): Agent {
    return new AgentInCode(this, agent, origin, () => this.open());
  }

  private open(): Promise<ComponentSpace> {
    if (this.openSpace === null)
      throw errors.invalidConfig(
        `Agent factory '${this.id}' has nothing to run it. Make it with agentFactory().`,
      );
    return this.openSpace();
  }

  /** `call` is how the functions of the factory are called. `model` takes the place of the agent's own. */
  build(request: FactoryRequest, call: CallApplication, model?: string): Promise<BuiltAgent> {
    return call('build', async () => new BuiltAgent(this, await this.made(request, model)));
  }

  private async made(request: FactoryRequest, model: string | undefined): Promise<AnyAgent> {
    const input = await this.checked(request.input);
    try {
      // the schema that `build` has its type from is the one that the input was just checked against
      const agent: unknown = await this.settings.build({ ...request, input: input as never });
      if (!(agent instanceof Agent)) throw new Error(`Factory '${this.id}' did not return an agent`);
      const { database } = agent.settings;
      if (database !== undefined && database !== this.settings.database)
        throw new Error(`Factory '${this.id}' must name the database '${database}' itself`);
      return model === undefined ? agent : agent.with({ model });
    } catch (thrown) {
      const error = thrownError(thrown);
      if (error instanceof FactoryRefusal) throw errors.factoryRefused(error.message);
      throw errors.factoryFailed(error);
    }
  }

  /**
   * The agent of a stored run, built again when the run is executed: what goes wrong then is the end of that run, and
   * a factory that never answers blocks only that run, which can be cancelled.
   */
  rebuilt(run: Run, state: JsonObject): Executable {
    const { sessionId, userId } = run;
    const { factoryInput: input = {}, claims = null, fixed, model } = run.input.options;
    const request = { input, sessionId, userId, claims, state: { ...state, ...fixed?.state } };
    return new RebuiltAgent(this, (call) => this.build(request, call, model));
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

/** What an agent is called when it comes out of a factory: by the factory's name. */
abstract class FactoryMade implements Executable {
  readonly kind = 'agent';
  readonly id: string;
  readonly name: string;
  readonly eventFields: JsonObject;
  abstract readonly model: Executable['model'];
  abstract readonly initialState: JsonObject;

  constructor({ id, name }: AgentFactory<never>) {
    this.id = id;
    this.name = name;
    this.eventFields = { agent_id: id, agent_name: name };
  }

  abstract execute(context: RunContext): Promise<RunResult>;

  continuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
    return continuationOfBuilt(run, steps, from);
  }

  endEvents(end: RunEnd, context: RunContext): readonly RunEvent[] {
    return endEvents(end, context.steps());
  }
}

function continuationOfBuilt(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
  // it may have built a remote agent
  const isRemote = steps.some(({ kind }) => kind === 'remote');
  return isRemote ? remoteContinuation(run, steps, from) : continuationOf(run, steps, from);
}

type RunOrigin = Pick<RunOptions, 'factoryInput' | 'claims'>;

/** The agent of one run as code runs it: under the name of the factory, to which the run belongs. */
class AgentInCode extends Agent {
  constructor(
    { id, name }: AgentFactory<never>,
    private readonly built: AnyAgent,
    private readonly factoryOrigin: RunOrigin,
    open: () => Promise<ComponentSpace>,
  ) {
    super({ ...built.settings, id, name });
    this.attach(open);
  }

  override get fingerprint(): string {
    return this.built.fingerprint;
  }

  override execute(context: RunContext): Promise<RunResult> {
    return this.built.execute(context);
  }

  override continuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
    return continuationOfBuilt(run, steps, from);
  }

  override metrics(context: RunContext): JsonObject {
    return this.built.metrics(context);
  }

  leave(context: RunContext, end: RunEnd): void {
    const executable: Executable = this.built;
    executable.leave?.(context, end);
  }

  protected override get runOrigin(): RunOrigin {
    return this.factoryOrigin;
  }
}

export class BuiltAgent extends FactoryMade {
  readonly model: Agent['model'];

  constructor(
    factory: AgentFactory<never>,
    private readonly agent: AnyAgent,
  ) {
    super(factory);
    this.model = agent.model;
  }

  get fingerprint(): string {
    return this.agent.fingerprint;
  }

  get initialState(): JsonObject {
    return this.agent.initialState;
  }

  get sessionMetadata(): JsonObject | undefined {
    return this.agent.sessionMetadata;
  }

  get introduction(): string | undefined {
    return this.agent.introduction;
  }

  get limits(): Agent['limits'] {
    return this.agent.limits;
  }

  acceptInput(message: string, call?: CallApplication): Promise<string> {
    return this.agent.acceptInput(message, call);
  }

  execute(context: RunContext): Promise<RunResult> {
    return this.agent.execute(context);
  }

  metrics(context: RunContext): JsonObject {
    return this.agent.metrics(context);
  }

  leave(context: RunContext, end: RunEnd): void {
    const executable: Executable = this.agent;
    executable.leave?.(context, end);
  }
}

/** A placeholder for the agent of a stored run until the run is executed. */
class RebuiltAgent extends FactoryMade {
  readonly model = null;
  readonly initialState = {};
  private built: BuiltAgent | undefined;

  constructor(
    factory: AgentFactory<never>,
    private readonly build: (call: CallApplication) => Promise<BuiltAgent>,
  ) {
    super(factory);
  }

  async execute(context: RunContext): Promise<RunResult> {
    this.built ??= await this.build(context.callApplication);
    return this.built.execute(context);
  }

  metrics(context: RunContext): JsonObject {
    return this.built?.metrics(context) ?? {};
  }

  leave(context: RunContext, end: RunEnd): void {
    this.built?.leave(context, end);
  }
}
