import { storableSchema } from '../agents/answer/output-format.js';
import { checkInput } from '../agents/hooks/input-schema.js';
import { checkedFilters } from '../agents/knowledge/knowledge-use.js';
import { type RunStartOptions, runInput, type StartOptions } from '../agents/run-options.js';
import type { EventsOf } from '../events/run-event.js';
import { newId } from '../ids.js';
import { readRunMedia, storeRunMedia } from '../media/given-media.js';
import type { MediaContents } from '../media/media.js';
import { ownedBy } from '../media/owned-media.js';
import { checkOptions, checkValue } from '../options/check-options.js';
import type { Kind } from '../options/kind.js';
import type { Executable } from '../runs/executable.js';
import type { RunHandle } from '../runs/execution/run-handle.js';
import { type ResumeRequest, resumeRun } from '../runs/resume/resume-run.js';
import type { EndedRun, Run, RunKind, RunOptions } from '../runs/run.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import type { ComponentSpace } from './component-space.js';
import { withMessages } from './given-messages.js';
import type { CompletedRun, RunOutput } from './run-output.js';
import { decodedEvents, StartedRun } from './started-run.js';

/** The types in which runs of the kinds differ. */
export interface CodeRunTypes {
  readonly kind: RunKind;
  readonly runOptions: RunStartOptions;
  readonly continueOptions: { readonly signal?: AbortSignal };
  readonly output: RunOutput;
  /** Of a run with the content that was asked for. */
  readonly completed: CompletedRun;
}

/** What the options of a kind may be. */
export interface RunOptionKinds {
  readonly run: Kind;
  readonly start: Kind;
  readonly continue: Kind;
}

/** The component whose runs these are. */
interface RunComponent<Types extends CodeRunTypes> {
  readonly component: Executable & { readonly settings: { readonly inputSchema?: ValueSchema } };
  readonly options: RunOptionKinds;
  outputOf(ended: EndedRun, contents: MediaContents): Types['output'];
  completed(output: Types['output'], options?: Types['runOptions']): Types['completed'];
  resumeRequest(options: Types['continueOptions']): ResumeRequest;
}

/** What has to be stored with a run so that a factory can build its component again. */
export type RunOrigin = Pick<RunOptions, 'factoryInput' | 'factoryState' | 'claims'>;

/** As what a component runs: as itself, or as what a factory has built it for. */
export interface RunSite {
  /** What the run belongs to, and what executes it. */
  readonly executable: Executable;
  readonly origin: RunOrigin;
  /** Whether a factory has built it for this very run. */
  readonly isBuilt?: boolean;
  open(): Promise<ComponentSpace>;
}

/** How code runs a component: what agents, teams and workflows have in common, and what factories build. */
export class CodeRuns<Types extends CodeRunTypes> {
  constructor(
    private readonly of: RunComponent<Types>,
    private readonly site: RunSite,
  ) {}

  async run(input: unknown, options?: Types['runOptions']): Promise<Types['output']> {
    return this.ended(await this.begin('run', input, options));
  }

  async runOrThrow(input: unknown, options?: Types['runOptions']): Promise<Types['completed']> {
    return this.of.completed(await this.run(input, options), options);
  }

  async start(
    input: unknown,
    options?: Types['runOptions'] & StartOptions,
  ): Promise<StartedRun<Types['kind'], Types['output']>> {
    const begun = await this.begin('start', input, options);
    return new StartedRun(begun.space, begun.handle, () => this.ended(begun));
  }

  async *stream(
    input: unknown,
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

  async continue(runId: string, options: Types['continueOptions']): Promise<Types['output']> {
    const { executable, isBuilt } = this.site;
    checkOptions(`${executable.kind}.continue()`, options, this.of.options.continue);
    const { signal } = options;
    signal?.throwIfAborted();
    const space = await this.site.open();
    const { engine, journal } = space;
    const resolutions = (run: Run) => space.resolutions?.(run) ?? Promise.resolve(new Map());
    const claims = () => this.site.origin.claims;
    const site = {
      engine,
      journal,
      resolutions,
      claims,
      component: executable,
      executable: () => executable,
      ...(isBuilt === true && { built: executable }),
    };
    const { handle } = await resumeRun(site, runId, this.of.resumeRequest(options));
    cancelWith(signal, handle);
    return this.ended({ space, handle });
  }

  async begin(
    how: 'run' | 'stream' | 'start',
    input: unknown,
    options: RunStartOptions & StartOptions = {},
  ): Promise<BegunRun> {
    const { component, options: kinds } = this.of;
    const method = `${component.kind}.${how}()`;
    checkValue(method, 'the input', input, runInput);
    checkOptions(method, options, how === 'start' ? kinds.start : kinds.run);
    component.assertRuns?.();
    const { sessionId, userId, runId, signal, background = false, messages, ...others } = options;
    const { outputSchema, additionalData, knowledgeFilters, ...rest } = others;
    const { images: _images, audio: _audio, videos: _videos, files: _files, ...given } = rest;
    const conversation = withMessages(method, component, messages);
    const filters = checkedFilters(method, knowledgeFilters);
    signal?.throwIfAborted();
    const message = typeof input === 'string' ? input : JSON.stringify(input, null, 2);
    const [content, read] = await Promise.all([
      checkInput(component.settings.inputSchema, message, undefined, ['message']),
      readRunMedia(method, rest),
    ]);
    const shape = outputSchema !== undefined && { outputSchema: storableSchema(outputSchema) };
    const filtered = filters !== undefined && { knowledgeFilters: filters };
    const extra = additionalData !== undefined && { extra: { additional_data: additionalData } };
    const space = await this.site.open();
    const newRunId = runId === undefined ? newId() : undefined;
    const owner = runId ?? newRunId;
    const isKept = component.forgets?.media !== true || owner === undefined;
    const media = await storeRunMedia(read, isKept ? space.media : ownedBy(owner, space.media));
    const handle = await space.engine.start(this.site.executable, {
      input: {
        content,
        media,
        options: {
          ...{ ...given, ...shape, ...filtered, ...extra, ...conversation, ...this.site.origin },
          stream: how !== 'run',
        },
      },
      userId: userId ?? null,
      sessionId,
      runId,
      newRunId,
      background,
    });
    cancelWith(signal, handle);
    return { space, handle };
  }

  private async ended({ space, handle }: BegunRun): Promise<Types['output']> {
    return this.of.outputOf(await (space.ended?.(handle) ?? handle.ended), space.media);
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
