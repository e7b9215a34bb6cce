import { isJsonObject } from '../../json.js';
import { fieldsOf } from '../../objects.js';
import { amount, anyOf, count, flag, listOf, longestTimeMs, name, text, word } from '../../options/kinds.js';
import type { ReviewSettings, UserInputField } from '../../workflows/definition/node.js';
import {
  type ConfigForm,
  type ConfigKey,
  type ConfigValue,
  key,
  needed,
  object,
  objects,
  plain,
  seconds,
} from '../config-keys.js';
import { functionName } from '../values/named-values.js';

/** How many values a person fills in before a step. */
const mostFields = 100;

const field: ConfigForm<UserInputField> = {
  what: 'a field',
  keys: {
    name: needed(plain('name', name), 'a text that is not empty'),
    type: plain('field_type', word('str', 'int', 'float', 'bool', 'list', 'dict')),
    description: plain('description', text),
    required: plain('required', flag),
    allowedValues: plain(
      'allowed_values',
      listOf(
        anyOf(
          text,
          flag,
          amount('a number', () => true),
        ),
        1,
      ),
    ),
  },
  without: { value: [] },
};

const wait = amount(
  `seconds above 0 and up to ${longestTimeMs / 1_000}`,
  (value) => value > 0 && value <= longestTimeMs / 1_000,
);

/** A function by its name, or the answer to all that it could be asked. */
const flagOrFunction: ConfigValue = {
  read: (value, at) => (typeof value === 'string' ? functionName.read(value, at) : at.checked(flag, value)),
  write: (setting, at) => (typeof setting === 'boolean' ? setting : functionName.write(setting, at)),
};

const reviewForm: ConfigForm<ReviewSettings> = {
  what: 'a review',
  keys: {
    requiresConfirmation: plain('requires_confirmation', flag),
    confirmationMessage: plain('confirmation_message', text),
    requiresUserInput: plain('requires_user_input', flag),
    userInputMessage: plain('user_input_message', text),
    userInputSchema: objects('user_input_schema', field, mostFields),
    requiresOutputReview: key('requires_output_review', flagOrFunction),
    outputReviewMessage: plain('output_review_message', text),
    requiresIterationReview: plain('requires_iteration_review', flag),
    requiresRouteReview: plain('requires_route_review', flag),
    onReject: plain('on_reject', word('skip', 'cancel', 'else', 'retry')),
    maxRetries: plain('max_retries', count(0)),
    timeoutMs: seconds('timeout', wait),
    onTimeout: plain('on_timeout', word('cancel', 'skip', 'approve')),
  },
  without: { iteration_review_message: [], on_error: ['fail'] },
};

const ofSteps: ConfigForm<ReviewSettings> = {
  ...reviewForm,
  // a setting of the step itself
  without: { iteration_review_message: [] },
  others: ['on_error'],
};

/** What a person decides about a group. */
export const groupReview = object('human_review', reviewForm);

/** What a person decides about a step. */
export const stepReview = object('human_review', ofSteps);

/** The wire has the message of a router that asks a person beside its other keys. */
export const routerReview: ConfigKey = {
  keys: ['human_review', 'user_input_message'],
  read: (config, at) => {
    const review = groupReview.read(config, at);
    const message = plain('user_input_message', text).read(config, at);
    if (message === undefined) return review;
    const inReview = fieldsOf(review).userInputMessage;
    if (inReview !== undefined && inReview !== message)
      return at.within('user_input_message').fault('is not that of human_review. Give one of them.');
    return { ...fieldsOf(review), userInputMessage: message };
  },
  write: groupReview.write,
};

const errorPolicy = word('fail', 'skip', 'pause');

/** What happens when a step fails: the wire has it in the review, too. */
export const stepErrors: ConfigKey = {
  keys: ['on_error'],
  read: (config, at) => {
    const own = plain('on_error', errorPolicy).read(config, at);
    const { human_review: review } = config;
    const inReview = plain('on_error', errorPolicy).read(
      isJsonObject(review) ? review : {},
      at.within('human_review'),
    );
    if (own !== undefined && inReview !== undefined && own !== inReview)
      return at.within('on_error').fault('is not that of human_review. Give one of them.');
    return own ?? inReview;
  },
  write: (setting) => ({ on_error: String(setting) }),
};
