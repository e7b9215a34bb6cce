import type { Json } from '../../json.js';
import type { FittedTo } from '../../schemas/schema-types.js';
import type { ValueSchema } from '../../schemas/value-schema.js';
import type { TypedStep } from './functions.js';
import type { Maker } from './step-calls.js';
import type { ContentOfReturn } from './step-return.js';

/** What the compiler asks for in the place of a step that cannot take what comes before it: it names both. */
export interface StepMisfit<Makes, Takes> {
  readonly 'the step before it makes': Makes;
  readonly 'its inputSchema takes': Takes;
}

/** A list in which each step takes what the step before it makes. Of one that is made at run time, nothing is known. */
export type Chained<Steps, Input extends ValueSchema> = Steps extends readonly unknown[]
  ? number extends Steps['length']
    ? unknown
    : Checked<Steps, FittedTo<Input>>
  : unknown;

/** Unknown, which any list is, unless it has a misfit. `Misfits` are those found so far, in their places. */
type Checked<Steps, Before, Misfits extends readonly unknown[] = []> = Steps extends readonly [
  infer First,
  ...infer Rest,
]
  ? Checked<Rest, ContentOf<First>, [...Misfits, Misfit<Before, TakenBy<First>>]>
  : [Misfits[number]] extends [never]
    ? unknown
    : { readonly [Place in keyof Misfits]: [Misfits[Place]] extends [never] ? unknown : Misfits[Place] };

/** Never, unless it is known that the two do not fit together. */
type Misfit<Makes, Takes> = [Takes] extends [never]
  ? never
  : unknown extends Makes
    ? never
    : Json extends Makes
      ? never
      : [Makes] extends [Takes]
        ? never
        : [Mutable<Makes>] extends [Takes]
          ? never
          : StepMisfit<Makes, Takes>;

/** What a step makes; unknown where its type does not say. */
type ContentOf<Step> = Step extends { readonly type: string }
  ? Step extends TypedStep<infer Content>
    ? Content
    : unknown
  : Step extends (...args: never[]) => infer Returned
    ? ContentOfReturn<Awaited<Returned>>
    : Step extends Maker<infer Content>
      ? Content | string
      : unknown;

type TakenBy<Step> = Step extends { readonly '~takes'?: (taken: infer Taken) => void } ? Taken : unknown;

/** JSON has no read-only lists. */
type Mutable<Value> = Value extends object ? { -readonly [Key in keyof Value]: Mutable<Value[Key]> } : Value;
