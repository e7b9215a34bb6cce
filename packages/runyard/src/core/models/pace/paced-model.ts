import { isNative, native } from '../../native-code.js';
import type { JobContext } from '../../runs/jobs/job.js';
import { componentKey } from '../../runs/resume/ending-executable.js';
import { jobKind, type Run } from '../../runs/run.js';
import type { RunPorts } from '../../runs/run-ports.js';
import type { Usage } from '../message.js';
import type { Model, ModelCallOptions, ModelChunk, ModelRequest, ModelResponse } from '../model.js';
import { WrappedModel } from '../wrapped-model.js';
import type { Calling, ModelPace } from './model-pace.js';

interface PacedContext {
  readonly ports: Pick<RunPorts, 'pace'>;
}

/** The model that a run is to call: one whose calls wait for their turn, where the service paces it. */
export function withPace(
  { run, ports: { pace } }: PacedContext & { readonly run: Run },
  model: Model,
): Model {
  if (pace === undefined || !pace.paces(model)) return model;
  const { userId, kind, componentId, input } = run;
  const { priority } = input.options;
  return pacedModel(model, pace, { userId, component: componentKey(kind, componentId), priority });
}

/** The same for a job, which calls a model by code that knows nothing of the pace. */
export function withPaceOfJob(
  { userId, ports: { pace } }: PacedContext & Pick<JobContext, 'userId'>,
  kind: string,
  model: Model,
): Model {
  if (pace === undefined || !pace.paces(model)) return model;
  return pacedModel(model, pace, { userId, component: componentKey(jobKind, kind) });
}

function pacedModel(model: Model, pace: ModelPace, calling: Calling): Model {
  const paced = new PacedModel(model, pace, calling);
  return isNative(model) ? native(paced) : paced;
}

class PacedModel extends WrappedModel {
  constructor(
    model: Model,
    private readonly pace: ModelPace,
    private readonly calling: Calling,
  ) {
    super(model);
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    const turn = await this.pace.enter(this.calling, this.model, options.signal);
    let usage: Usage | undefined;
    try {
      const response = await this.model.generate(request, this.#heard(options));
      usage = usageOf(response);
      return response;
    } catch (error) {
      this.pace.failed(this.model, error);
      throw error;
    } finally {
      turn.ended(usage);
    }
  }

  async *stream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelChunk> {
    const turn = await this.pace.enter(this.calling, this.model, options.signal);
    let usage: Usage | undefined;
    try {
      for await (const chunk of this.model.stream(request, this.#heard(options))) {
        if (chunk.type === 'response') usage = usageOf(chunk.response);
        yield chunk;
      }
    } catch (error) {
      this.pace.failed(this.model, error);
      throw error;
    } finally {
      turn.ended(usage);
    }
  }

  /** A refusal slows the others down also when the adapter tries again by itself, whichever code makes the call. */
  #heard(options: ModelCallOptions): ModelCallOptions {
    return { signal: options.signal, failedTry: (error) => this.pace.failed(this.model, error) };
  }
}

/** A model of the application may give anything: it is checked later. */
function usageOf(response: ModelResponse): Usage | undefined {
  const usage: Partial<Usage> | undefined = response?.usage;
  return Number.isFinite(usage?.totalTokens) ? response.usage : undefined;
}
