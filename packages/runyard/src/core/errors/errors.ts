import { callerErrors } from './caller-errors.js';
import { componentErrors } from './component-errors.js';
import { configErrors } from './config-errors.js';
import { datasetErrors } from './dataset-errors.js';
import { evalErrors } from './eval-errors.js';
import { knowledgeErrors } from './knowledge-errors.js';
import { a2aErrors } from './protocols/a2a-errors.js';
import { aguiErrors } from './protocols/agui-errors.js';
import { openaiErrors } from './protocols/openai-errors.js';
import { pushErrors } from './protocols/push-errors.js';
import { recordErrors } from './record-errors.js';
import { requestErrors } from './request-errors.js';
import { runErrors } from './run-errors.js';
import { scheduleErrors } from './schedule-errors.js';
import { setupErrors } from './setup-errors.js';
import { sourceErrors } from './source-errors.js';

export type { OauthCode } from './caller-errors.js';
export { isFenced, isReported, isUnstorable, RunyardError, type ValidationItem } from './runyard-error.js';

/**
 * Every error that Runyard answers with, in one catalogue: a stable code, an HTTP status, and a text that says
 * what was wrong and what to do. Texts in the wire contract are matched by clients: do not reword those.
 */
export const errors = {
  ...requestErrors,
  ...callerErrors,
  ...configErrors,
  ...runErrors,
  ...recordErrors,
  ...knowledgeErrors,
  ...componentErrors,
  ...datasetErrors,
  ...evalErrors,
  ...scheduleErrors,
  ...setupErrors,
  ...sourceErrors,
  ...a2aErrors,
  ...aguiErrors,
  ...openaiErrors,
  ...pushErrors,
} as const;
