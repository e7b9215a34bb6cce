/** The public face of Runyard. */
export type { Approval, Approvals } from './app/approvals.js';
export type { InCode } from './app/in-code.js';
export type { Listing } from './app/listing.js';
export type { Memories, Memory } from './app/memories.js';
export type { Metrics, MetricsList } from './app/metrics.js';
export type { Operations } from './app/operations.js';
export type {
  ComponentNames,
  ContinueFields,
  EventFields,
  RunBodies,
  RunFields,
  Runs,
  SentEventBody,
  ServiceRun,
} from './app/runs.js';
export type { ListedSession, SessionDetail, SessionRun, Sessions } from './app/sessions.js';
export type { TraceDetail, TraceSpan, TraceSummary, Traces } from './app/traces.js';
export { Agent, type AnyAgent } from './core/agents/agent.js';
export type { TextTransform, TextTransformRun } from './core/agents/answer/text-transform.js';
export type {
  DependencyValue,
  InstructionsFunction,
  OfRun,
  RunValues,
} from './core/agents/context/run-values.js';
export type { AgentContinueOptions } from './core/agents/continuation/continue-in-code.js';
export type { AgentSettings } from './core/agents/definition.js';
export {
  type Guardrail,
  GuardrailRefusal,
  type GuardrailTrigger,
  type HookContext,
  type HookInput,
  type HookModelCall,
  type HookOutput,
  type PostHook,
  type PostHookFunction,
  type PreHook,
  type PreHookFunction,
  type RefusalDetails,
} from './core/agents/hooks/hook.js';
export type {
  AfterModel,
  BeforeModel,
  ModelAnswer,
  ModelCall,
  ModelCallChanges,
  ModelHook,
} from './core/agents/hooks/model-hook.js';
export type { KnowledgeUse } from './core/agents/knowledge/knowledge-use.js';
export type { Reference, References } from './core/agents/knowledge/references.js';
export type { KnowledgeRetriever, Retrieval, RetrievedDocument } from './core/agents/knowledge/retriever.js';
export type { LearningSettings } from './core/agents/learning/learning-settings.js';
export type { CompletedAgentRun } from './core/agents/model-component.js';
export type { SemanticRecallSettings } from './core/agents/recall/recall-settings.js';
export type { GivenAnswer } from './core/agents/requirements/read-answer.js';
export type { ToolRequirementState } from './core/agents/requirements/tool-requirements.js';
export type { AgentRunOptions, StartOptions } from './core/agents/run-options.js';
export type { AgentRunFacts, AgentRunOutput } from './core/agents/run-output.js';
export { type ToolCallOf, toolCallsOf } from './core/agents/tool-calls.js';
export type { ToolExecution } from './core/agents/tool-executions.js';
export type { Fallback, FallbackListener, FallbackNotice } from './core/agents/turns/fallback.js';
export type { WorkingMemorySettings } from './core/agents/working-memory/working-memory-settings.js';
export type { RetryBackoff } from './core/async/back-off.js';
export type { AsToolOptions } from './core/components/component-tool.js';
export type { DeepPartial } from './core/components/partial-objects.js';
export {
  type CancelledRun,
  type CompletedRun,
  type FailedRun,
  type PausedRun,
  type RunError,
  type RunOutput,
  RunOutputError,
} from './core/components/run-output.js';
export type { StartedRun } from './core/components/started-run.js';
export type { ComponentConfig } from './core/configs/component-config.js';
export type { Embedder, EmbeddingPurpose, Embeddings, EmbedOptions } from './core/embedders/embedder.js';
export { RunyardError } from './core/errors/errors.js';
export type { EvalCase, ExpectedToolCall } from './core/evals/eval-case.js';
export type { EvaluatedRun, EvaluatedToolCall, RunUsageTotals } from './core/evals/evaluated-run.js';
export { LiveEval, type LiveEvalOptions, liveEval } from './core/evals/live-eval.js';
export type { Evidence, Score, Scorer, ScoringContext } from './core/evals/scorer.js';
export type { ScorerFunction } from './core/evals/scorers/own-scorer.js';
export type { AgentEvent, TeamEvent, WorkflowEvent } from './core/events/run-event.js';
export type { StepOutput } from './core/events/workflow-event.js';
export {
  AgentFactory,
  type AgentFactorySettings,
  type FactoryRunOptions,
} from './core/factories/agent-factory.js';
export { type FactoryCall, FactoryRefusal, type FactoryRequest } from './core/factories/factory-request.js';
export { TeamFactory, type TeamFactorySettings } from './core/factories/team-factory.js';
export { WorkflowFactory, type WorkflowFactorySettings } from './core/factories/workflow-factory.js';
export type { GivenJson, Json, JsonObject, JsonSchema } from './core/json.js';
export type { Chunker, ChunkerOptions, ChunkerTools } from './core/knowledge/chunkers/chunker.js';
export type { Chunk, Document } from './core/knowledge/document.js';
export type { ComparisonOp, KnowledgeFilter } from './core/knowledge/filter.js';
export { Knowledge } from './core/knowledge/knowledge.js';
export type { KnowledgeSettings } from './core/knowledge/knowledge-settings.js';
export type {
  ContentStatus,
  FoundDocument,
  GivenContent,
  GivenFrom,
  KnowledgeContent,
  KnowledgeSearch,
  KnowledgeSpace,
} from './core/knowledge/knowledge-space.js';
export {
  ContentUnreadable,
  type ReadableContent,
  type Reader,
  type ReadOptions,
} from './core/knowledge/readers/reader.js';
export type {
  ContentSource,
  ListedFile,
  ListRequest,
  SourceFile,
  SourceListing,
  SourceParameters,
} from './core/knowledge/sources/source.js';
export type {
  ContentVersion,
  EmbeddedChunk,
  FoundChunk,
  SearchRequest,
  SearchType,
  StoredChunk,
  VectorStore,
} from './core/knowledge/vector-store.js';
export type { Log } from './core/log.js';
export type { GivenMedia, RunMediaOptions } from './core/media/given-media.js';
export type { MadeMedia } from './core/media/made-media.js';
export type { Media } from './core/media/media.js';
export type { ResponseCaching } from './core/models/cache/response-cache.js';
export type { Citation, Citations } from './core/models/citations.js';
export type { FailureReason } from './core/models/failure-reason.js';
export type { Message, ToolCall, Usage } from './core/models/message.js';
export type {
  FinishReason,
  Model,
  ModelCallOptions,
  ModelCapabilities,
  ModelChunk,
  ModelRequest,
  ModelResponse,
  OutputFormat,
  ToolChoice,
  ToolDefinition,
} from './core/models/model.js';
export { ModelError } from './core/models/model-error.js';
export { costOf, type ModelPrice, type ModelPrices } from './core/models/prices.js';
export type { ModelLike } from './core/models/resolve.js';
export type { RegisteredFunction, RegistrySettings } from './core/registry/registry-options.js';
export type { RemoteAgent } from './core/remote/remote-agent.js';
export type { A2aOptions, RemoteOptions, RemoteToken } from './core/remote/remote-options.js';
export type { RemoteTeam } from './core/remote/remote-team.js';
export type { RemoteWorkflow } from './core/remote/remote-workflow.js';
export type { RankedDocument, Ranking, Reranker, RerankOptions } from './core/rerankers/reranker.js';
export type { CallerMessage, CallerToolCall } from './core/runs/caller-input.js';
export type { AnyLimits, RunLimits, WorkflowLimits } from './core/runs/limits/run-limits.js';
export { DefinedSchedule, type ScheduleSettings, schedule } from './core/schedules/schedule.js';
export type {
  Method,
  MissedTicks,
  Overlap,
  ScheduleDefinition,
} from './core/schedules/schedule-definition.js';
export type { FittedTo, InputFor } from './core/schemas/schema-types.js';
export type { ValueSchema } from './core/schemas/value-schema.js';
export type { TeamMember, TeamMode, TeamSettings } from './core/teams/settings.js';
export { type AnyTeam, Team } from './core/teams/team.js';
export { type HookedToolCall, type ToolHook, ToolRefused } from './core/tools/call/tool-hooks.js';
export type { FeedbackQuestion, InputField, PersonForm } from './core/tools/questions/person-form.js';
export type { ToolAnswer, ToolRequirement } from './core/tools/questions/requirement.js';
export type { QuestionAnswer, ToolQuestion } from './core/tools/questions/tool-question.js';
export { type Tool, tool } from './core/tools/tool.js';
export type { ToolComponent } from './core/tools/tool-component.js';
export type { ToolContext } from './core/tools/tool-context.js';
export type { CacheOptions, ToolOptions } from './core/tools/tool-options.js';
export { type NewMedia, type ToolResult, toolResult } from './core/tools/tool-result.js';
export type { ToolSchema } from './core/tools/tool-schema.js';
export type { ToolSource } from './core/tools/tool-source.js';
export {
  type PlainToolEntry,
  type ToolEntry,
  Toolkit,
  type ToolkitOptions,
  toolkit,
} from './core/tools/toolkit.js';
export type { GivenStepAnswer, WorkflowContinueOptions } from './core/workflows/continue-in-code.js';
export {
  condition,
  foreach,
  loop,
  parallel,
  router,
  step,
  steps,
} from './core/workflows/definition/builders.js';
export type { StepMisfit } from './core/workflows/definition/chained-steps.js';
export type {
  LoopCondition,
  LoopState,
  PastRun,
  ReviewCondition,
  RouteFunction,
  StepContext,
  StepFunction,
  StepInput,
  StepMedia,
  TypedStep,
  WhenFunction,
  WorkflowContext,
  WorkflowFunction,
} from './core/workflows/definition/functions.js';
export type {
  ConditionNode,
  ForeachNode,
  LoopNode,
  ParallelNode,
  ReviewSettings,
  RouterNode,
  StepEntry,
  StepNode,
  StepsNode,
  UserInputField,
  WorkflowNode,
} from './core/workflows/definition/node.js';
export type {
  ConditionSettings,
  ForeachOptions,
  LoopSettings,
  ParallelSettings,
  RouterSettings,
  StepSettings,
  StepsSettings,
} from './core/workflows/definition/node-options.js';
export type { Confirmation, StepCalls, WaitOptions } from './core/workflows/definition/step-calls.js';
export {
  type ContentOfReturn,
  type StepOutputSettings,
  type StepOutputValue,
  stepOutput,
} from './core/workflows/definition/step-return.js';
export { AnswerRejected } from './core/workflows/functions/step-fault.js';
export type { OpenRequirement, WorkflowRunOptions, WorkflowRunOutput } from './core/workflows/run-in-code.js';
export type { EventReceipt, SendEventOptions } from './core/workflows/send-event.js';
export { type AnyWorkflow, Workflow } from './core/workflows/workflow.js';
export type { WorkflowSettings } from './core/workflows/workflow-options.js';
export {
  a2aAgent,
  agent,
  agentFactory,
  knowledge,
  type LibraryOptions,
  remoteAgent,
  remoteTeam,
  remoteWorkflow,
  team,
  teamFactory,
  workflow,
  workflowFactory,
} from './library.js';
export type { OperatorRequest } from './operator-requests.js';
export type { FetchHandler, FetchHandlerOptions } from './platform/http/fetch-handler.js';
export type { NodeHandler } from './platform/http/handler.js';
export type { Settings } from './platform/settings/config.js';
export { Runyard } from './runyard.js';
export type { Listening, RunyardOptions } from './runyard-options.js';
