export { createClient, type RunyardClient } from './client.js';
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ForbiddenError,
  InvalidRequestError,
  NetworkError,
  NotFoundError,
  type ProblemDetails,
  RateLimitError,
  RunyardError,
  UnavailableError,
} from './errors.js';
export type { EventStream, StreamOptions } from './event-stream.js';
export type * from './generated/api.js';
export type {
  AgentEvent,
  ErrorRequirement,
  JobEvent,
  RequirementBody,
  StepRequirement,
  TeamEvent,
  ToolCallBody,
  WorkflowEvent,
} from './generated/events.js';
export type {
  AnsweredQuestion,
  ErrorAnswer,
  FilledField,
  Kind,
  Kinds,
  RequirementAnswer,
  StepAnswer,
  ToolAnswer,
} from './kinds.js';
export type { RunStream } from './run-stream.js';
export type { RunOptions, Runs } from './runs.js';
export type { CallOptions, ClientOptions } from './transport.js';
export type { UploadProgress } from './upload.js';
