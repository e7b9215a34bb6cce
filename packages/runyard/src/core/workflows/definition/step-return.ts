import type { z } from 'zod';
import type { GivenJson, Json } from '../../json.js';
import type { Media } from '../../media/media.js';
import { checkOptions } from '../../options/check-options.js';
import { anything, flag, json, listOf, objectOf, text } from '../../options/kinds.js';
import type { ValueSchema } from '../../schemas/value-schema.js';

/** What a function says about its step beside the content. */
export interface StepOutputSettings {
  readonly content?: GivenJson;
  /** Ends the workflow here, as completed. */
  readonly stop?: boolean;
  /** Default true. False: the step did its work and it did not go well; it is not tried again. */
  readonly success?: boolean;
  readonly error?: string;
  /** Handed on to the steps after this one. */
  readonly media?: readonly Media[];
}

const stepOutputOptions = objectOf<StepOutputSettings>({
  content: anything,
  stop: flag,
  success: flag,
  error: text,
  media: listOf(json),
});

/** Made with `stepOutput()`. */
export class StepOutputValue {
  constructor(readonly settings: StepOutputSettings) {
    checkOptions('stepOutput()', settings, stepOutputOptions);
  }
}

/** What a step function returns when it has more than content to return. */
export function stepOutput(settings: StepOutputSettings): StepOutputValue {
  return new StepOutputValue(settings);
}

/** The content of a step whose function returns this. */
export type ContentOfReturn<Returned> =
  | Exclude<Returned, StepOutputValue | undefined>
  | (StepOutputValue extends Returned ? Json : never)
  | (undefined extends Returned ? '' : never);

/** What the function of a step with this output schema returns. */
export type ReturnFor<Schema extends ValueSchema> =
  | StepOutputValue
  | (Schema extends z.ZodType ? Extract<z.input<Schema>, GivenJson> | (z.input<Schema> & Json) : GivenJson);

/** A value is the content of the step; nothing is a text without characters. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is a step as well
export type StepReturn = GivenJson | StepOutputValue | undefined | void;
