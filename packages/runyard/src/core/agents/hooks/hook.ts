import type { Json, JsonObject } from '../../json.js';
import type { Log } from '../../log.js';
import type { Media } from '../../media/media.js';
import type { Role } from '../../models/message.js';
import type { OutputFormat } from '../../models/model.js';
import type { ModelLike } from '../../models/resolve.js';

/** What a person said, as a hook sees it. */
export interface HookInput {
  /** The message, as earlier hooks left it; with an input schema the object as JSON text. */
  readonly content: string;
  readonly media: readonly Media[];
  /** The text is an earlier message, or the instructions, of a conversation that the client sends with its message. */
  readonly isEarlier?: true;
}

/** What a run has to say, as a hook sees it. */
export interface HookOutput {
  /** A text, or an object when a schema was asked for. */
  readonly content: Json;
  readonly contentType: string;
}

/** A question to a model on behalf of a hook. */
export interface HookModelCall {
  readonly model: ModelLike;
  readonly messages: readonly { readonly role: Role; readonly content: string }[];
  readonly output?: OutputFormat;
}

/** What a hook learns about the run that it serves. */
export interface HookContext {
  /** Whether the hook sees the input of the run, its output, a model call before it is made, or the answer to one. */
  readonly stage: 'input' | 'output' | 'before_model' | 'after_model';
  readonly agentId: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly userId: string | null;
  readonly input: HookInput;
  /** The state of the session. Changes are stored with the run. */
  readonly state: {
    get(key: string): Json | undefined;
    set(key: string, value: Json): void;
    delete(key: string): void;
    all(): JsonObject;
  };
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  /** Fields of the request that Runyard does not know. */
  readonly fields: JsonObject;
  /** Aborted when the run is cancelled. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Asks a model and answers with its text. The call is recorded and counted with the run. */
  askModel(call: HookModelCall): Promise<string>;
}

/** A hook with its options. */
export interface NamedHook<Run> {
  /** Events name the hook by it. */
  readonly name: string;
  /** A hook that crashes is logged and the run continues; with `required` the run fails instead. */
  readonly required?: boolean;
  readonly run: Run;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a hook that only looks returns nothing.
type Changed<Content> = Content | undefined | void;

/** Looks at the input; changes it by returning another text, or refuses it by throwing a `GuardrailRefusal`. */
export type PreHookFunction = (
  input: HookInput,
  run: HookContext,
) => Changed<string> | Promise<Changed<string>>;

/** Looks at the output; changes it by returning other content, or refuses it by throwing a `GuardrailRefusal`. */
export type PostHookFunction = (
  output: HookOutput,
  run: HookContext,
) => Changed<Json> | Promise<Changed<Json>>;

export type PreHook = PreHookFunction | NamedHook<PreHookFunction>;
export type PostHook = PostHookFunction | NamedHook<PostHookFunction>;

/** A check that fits before and after: among `preHooks` and among `postHooks`. */
export interface Guardrail {
  readonly name: string;
  readonly required: true;
  run<Content extends Json>(
    subject: { readonly content: Content },
    run: HookContext,
  ): Promise<Content | undefined>;
}

/** Why something was refused: clients find it as `error_id`. */
export type GuardrailTrigger =
  | 'input_not_allowed'
  | 'output_not_allowed'
  | 'prompt_injection'
  | 'off_topic'
  | 'validation_failed'
  | 'pii_detected';

export interface RefusalDetails {
  /** Left out: `input_not_allowed` before the run, `output_not_allowed` after it. */
  readonly trigger?: GuardrailTrigger | (string & Record<never, never>);
  /** Facts for the caller; they are shown. */
  readonly additionalData?: Json;
}

/** Thrown by a hook that refuses what goes in or comes out: the run ends with this message as its error. */
export class GuardrailRefusal extends Error {
  constructor(
    message: string,
    readonly details: RefusalDetails = {},
  ) {
    super(message);
    this.name = 'GuardrailRefusal';
  }
}
