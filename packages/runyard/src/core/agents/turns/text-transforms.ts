import { reasonOf } from '../../errors/reason.js';
import { thrownError } from '../../errors/thrown-error.js';
import { pieceOf, responseOf } from '../../models/called-model.js';
import type { Model, ModelCallOptions, ModelChunk, ModelRequest, ModelResponse } from '../../models/model.js';
import { WrappedModel } from '../../models/wrapped-model.js';
import { RunFailed } from '../../runs/executable.js';
import { kindOf } from '../../storable-json.js';
import { withoutPlaces } from '../answer/ending.js';
import type { TextTransform, TextTransformRun } from '../answer/text-transform.js';
import type { AgentExecution } from '../execution.js';
import { TransformedText } from './transformed-text.js';

/**
 * The model to call: one whose texts pass through the transforms of the agent before anything else sees them. A text that
 * has to fit a schema does not.
 */
export function withTransforms({ agent, context }: AgentExecution, model: Model, hasShape: boolean): Model {
  const { textTransforms = [] } = agent.settings;
  if (textTransforms.length === 0 || hasShape) return model;
  const { runId, sessionId, userId } = context.run;
  return new TransformedModel(model, textTransforms, { agentId: agent.id, runId, sessionId, userId });
}

type About = Omit<TextTransformRun, 'signal'>;

class TransformedModel extends WrappedModel {
  constructor(
    model: Model,
    private readonly transforms: readonly TextTransform[],
    private readonly about: About,
  ) {
    super(model);
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    const response = responseOf(this.model, await this.model.generate(request, options));
    return withText(response, await this.whole(response.content, options.signal));
  }

  async *stream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelChunk> {
    const { signal } = options;
    let text: TransformedText | undefined;
    let heard = '';
    let said = '';
    try {
      for await (const chunk of this.model.stream(request, options)) {
        if (chunk.type === 'reasoning') yield chunk;
        else if (chunk.type === 'text') {
          const given = pieceOf(this.model, chunk.text);
          text ??= this.text(signal);
          heard += given;
          for await (const piece of text.take(given)) {
            said += piece;
            yield { type: 'text', text: piece };
          }
        } else {
          const response = responseOf(this.model, chunk.response);
          for await (const piece of text?.end() ?? []) {
            said += piece;
            yield { type: 'text', text: piece };
          }
          // a model may stream nothing, or something else than it has to say in the end
          const content = heard === response.content ? said : await this.whole(response.content, signal);
          yield { type: 'response', response: withText(response, content) };
          return;
        }
      }
    } finally {
      text?.close();
    }
  }

  /** A text that came at once. Nothing is made of nothing: a call that only asks for tools says nothing. */
  private async whole(content: string, signal: AbortSignal): Promise<string> {
    if (content === '') return '';
    const text = this.text(signal);
    let said = '';
    try {
      for await (const piece of text.take(content)) said += piece;
      for await (const piece of text.end()) said += piece;
    } finally {
      text.close();
    }
    return said;
  }

  private text(signal: AbortSignal): TransformedText {
    const run = { ...this.about, signal };
    return new TransformedText((pieces) => {
      let through = pieces;
      for (const transform of this.transforms) through = checked(transform, through, run);
      return through;
    }, signal);
  }
}

/** What a transform yields, with an error that names it when it fails. */
async function* checked(
  transform: TextTransform,
  pieces: AsyncIterable<string>,
  run: TextTransformRun,
): AsyncGenerator<string> {
  try {
    for await (const piece of transform(pieces, run)) {
      if (typeof piece !== 'string') throw new TypeError(`it yielded ${kindOf(piece)}, not a text.`);
      yield piece;
    }
  } catch (thrown) {
    const error = thrownError(thrown);
    if (error instanceof RunFailed) throw error;
    throw transformFailed(transform.name, error);
  }
}

function transformFailed(name: string, error: Error): RunFailed {
  const called = name === '' ? 'A text transform' : `The text transform '${name}'`;
  const message = `${called} failed: ${reasonOf(error)}`;
  return new RunFailed({ type: 'text_transform_error', message }, { cause: error });
}

/** The places of citations are those in the text of the model. */
function withText(response: ModelResponse, content: string): ModelResponse {
  if (content === response.content) return response;
  const { citations } = withoutPlaces({ citations: response.citations });
  return { ...response, content, ...(citations !== undefined && { citations }) };
}
