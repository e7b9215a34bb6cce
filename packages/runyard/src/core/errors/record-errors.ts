import { define, RunyardError } from './runyard-error.js';

/** What is kept beside runs. */
export const recordErrors = {
  traceNotFound: define('trace_not_found', 404, () => 'Trace not found'),
  spanNotFound: define('span_not_found', 404, () => 'Span not found'),
  spanOfOtherTrace: define(
    'span_of_other_trace',
    404,
    (spanId: string, traceId: string) => `Span ${spanId} does not belong to trace ${traceId}`,
  ),
  invalidTraceFilter: define(
    'invalid_trace_filter',
    400,
    (text: string) => `Invalid filter expression: ${text}`,
  ),
  invalidTime: define(
    'invalid_time',
    400,
    (field: string) =>
      `Invalid ${field} format. Use ISO 8601, such as 2026-01-31T10:00:00Z or 2026-01-31T10:00:00+02:00.`,
  ),

  approvalNotFound: define('approval_not_found', 404, () => 'Approval not found'),
  approvalResolved: define(
    'approval_resolved',
    409,
    (status: string) => `Approval is already '${status}' and cannot be resolved`,
  ),
  approvalWithoutRun: define(
    'approval_without_run',
    409,
    (runId: string, status: string) =>
      `Run ${runId} is ${status} and no longer waits for this approval; it cannot be resolved.`,
  ),
  /** For a caller who continues a run but may not decide on its calls. */
  approvalPending: define(
    'approval_pending',
    403,
    () => 'This run requires admin approval before it can be continued',
  ),
  ownApproval: define(
    'own_approval',
    403,
    () => 'You cannot decide on a call that you requested. Another user must resolve the approval.',
  ),
  resolverUnknown: define(
    'resolver_unknown',
    403,
    () =>
      'Users cannot decide on their own calls, so the decision needs an identity. Send resolved_by, or a token with a subject if the service requires tokens.',
  ),

  memoryNotFound: define('memory_not_found', 404, (memoryId?: string) =>
    memoryId === undefined ? 'Memory not found' : `Memory with ID ${memoryId} not found`,
  ),
  userRequired: define('user_required', 400, () => 'User ID is required'),
  noMemories: define('no_memories', 404, (userId: string) => `No memories found for user ${userId}`),
  invalidModelName: define(
    'invalid_model_name',
    400,
    (name: string) =>
      `Invalid model string format: '${name}'. Write provider:model_id, for example openai:gpt-5-mini.`,
  ),
  modelProviderUnsupported: define(
    'model_provider_unsupported',
    400,
    (provider: string) => `Model provider '${provider}' is not supported.`,
  ),
  noDefaultModel: define(
    'no_default_model',
    400,
    () =>
      'No model is available: the service has no agent and no setting defaultModel. Send model as provider:model_id.',
  ),
  memoriesChanged: define(
    'memories_changed',
    409,
    (userId: string) =>
      `The memories of user ${userId} changed in the meantime, so nothing was replaced. Try again.`,
  ),
  optimizeFailed: (reason: string, cause?: unknown) =>
    new RunyardError('optimize_failed', 500, `Failed to optimize memories: ${reason}`, { cause }),

  learningNotFound: define('learning_not_found', 404, () => 'Learning not found'),
  learningExists: define(
    'learning_exists',
    409,
    (type: string, id: string) =>
      `A '${type}' learning already exists for this identity (id '${id}'). Use PATCH /learnings/${id} to update it.`,
  ),
  learningsOfAnother: define(
    'learnings_of_another_user',
    403,
    (what: 'list learnings' | 'create learnings' | 'delete learnings' | 'list learning users') =>
      `Cannot ${what} for another user`,
  ),
  sharedEntity: define(
    'shared_entity',
    403,
    (own: string) =>
      `Learnings about an entity in a shared namespace have no user. Omit user_id, or send namespace '${own}'.`,
  ),
  ownerlessLearning: define(
    'ownerless_learning',
    403,
    () => 'Only admins can modify learnings that have no owner (user_id is null)',
  ),
} as const;
