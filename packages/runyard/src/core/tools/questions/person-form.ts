import type { JsonSchema } from '../../json.js';

export type InputFieldType = 'str' | 'int' | 'float' | 'bool' | 'list' | 'dict';

/** A value that a person fills in. Stored data. */
export type InputField = {
  readonly name: string;
  readonly type: InputFieldType;
  readonly description?: string | null;
  /** It may be left empty. */
  readonly optional?: boolean;
  /** What a value has to fit beside its type, such as `{ enum: ['S', 'M'] }`. */
  readonly schema?: JsonSchema;
};

/** A question that a person answers by choosing. Stored data. */
export type FeedbackQuestion = {
  readonly question: string;
  readonly header: string | null;
  readonly multiSelect: boolean;
  readonly options: readonly { readonly label: string; readonly description: string | null }[];
};

/** What a person is asked. Fields are filled in, questions are answered by choosing. */
export type PersonForm =
  | { readonly fields: readonly InputField[] }
  | { readonly questions: readonly FeedbackQuestion[] };
