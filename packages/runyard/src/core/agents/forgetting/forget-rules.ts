import type { ForgetRules } from '../../runs/forgetting/forgetting.js';
import { forgottenEvent } from './forgotten-event.js';
import { forgottenInput, forgottenResult, forgottenStep } from './forgotten-steps.js';

/** What runs of agents and teams do not keep, whatever they are within. */
export const forgetRules: ForgetRules = {
  step: forgottenStep,
  result: forgottenResult,
  input: forgottenInput,
  event: forgottenEvent,
};
