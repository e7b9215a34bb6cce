import type { JsonObject } from '../../json.js';
import type { ApprovalType } from '../call/gate.js';
import type { FeedbackQuestion, InputField } from './person-form.js';

/** What a call waits for. `unknown_outcome`: its process died while it was executed. */
export type RequirementKind =
  | 'confirmation'
  | 'user_input'
  | 'user_feedback'
  | 'external_execution'
  | 'unknown_outcome';

/**
 * A tool call that waits for an external answer: what the `wait` step of the call holds as its input. What is executed
 * later comes from here, never from what a request says. Stored data.
 */
export type ToolRequirement = {
  readonly id: string;
  readonly kind: RequirementKind;
  readonly callId: string;
  readonly toolName: string;
  /** The arguments as the model gave them. */
  readonly args: JsonObject;
  /** Milliseconds. */
  readonly createdAt: number;
  /** The fields that a person fills in (`user_input`). */
  readonly inputFields?: readonly InputField[];
  /** The questions that a person answers (`user_feedback`). */
  readonly questions?: readonly FeedbackQuestion[];
  /** What the person fills in is the result of the call (`user_input`); otherwise it completes the arguments. */
  readonly answerIsResult?: boolean;
  /** The pause shows no sentence to the user. */
  readonly silent?: boolean;
  /** A person with the right to approve decides (`required`), or the answer is written down (`audit`). */
  readonly approval?: { readonly type: ApprovalType; readonly id?: string; readonly expiresAt?: number };
  /** Further information about the call (`unknown_outcome`), or what its tool asks. */
  readonly message?: string;
  /** Set for what the tool asks while it is executed: the attempt of the run in which it did. The tool gets the answer. */
  readonly askedIn?: number;
};

/** The answer: the output of the `wait` step of a call. Stored data. */
export type ToolAnswer =
  | {
      readonly answer: 'confirmed';
      readonly confirmed: boolean;
      readonly note?: string;
      /** A question of the tool that the person dismissed. */
      readonly cancelled?: true;
      readonly approval?: JsonObject;
    }
  | { readonly answer: 'input'; readonly values: JsonObject; readonly approval?: JsonObject }
  /** The chosen labels of each question, in the order of the questions. */
  | { readonly answer: 'feedback'; readonly selected: readonly (readonly string[])[] }
  | { readonly answer: 'result'; readonly result: string; readonly approval?: JsonObject };
