import type { ModelRequest } from '../../../src/index.js';
import {
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
  scriptedModel,
} from '../../../src/testing.js';

/**
 * One model for many tests that share a service: what it answers is looked up by what the user said, so no test
 * can take another's lines.
 */
export class ScriptBook {
  readonly model: ScriptedModel;
  private readonly scripts = new Map<string, ScriptedTurn[]>();

  constructor(options?: ScriptedModelOptions) {
    this.model = scriptedModel((request, call) => this.next(request, call), options);
  }

  /** The answers to a message, one for each call of the model. */
  write(message: string, ...turns: ScriptedTurn[]): string {
    this.scripts.set(message, turns);
    return message;
  }

  /** The requests to the model for this message. */
  requests(message: string): ModelRequest[] {
    return this.model.requests.filter((request) => asked(request) === message);
  }

  private next(request: ModelRequest, call: number) {
    const message = asked(request);
    const turn = this.scripts.get(message)?.shift() ?? `Answer to: ${message}`;
    return typeof turn === 'function' ? turn(request, call) : turn;
  }
}

function asked(request: ModelRequest): string {
  const said = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return said.split('\n\n<additional_context>', 1)[0] ?? '';
}
