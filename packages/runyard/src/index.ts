/** The public face of Runyard. */
export { Agent } from './core/agents/agent.js';
export {
  AgentFactory,
  type AgentFactorySettings,
  agentFactory,
  FactoryRefusal,
  type FactoryRequest,
} from './core/agents/agent-factory.js';
export type { AgentSettings } from './core/agents/definition.js';
export type { DependencyValue, InstructionsFunction, RunValues } from './core/agents/context/run-values.js';
export type { AgentRunOptions, AgentRunOutput, StreamedEvent } from './core/agents/runner.js';
export type { ToolExecution } from './core/agents/transcript.js';
export { RunyardError } from './core/errors.js';
export type { Json, JsonObject, JsonSchema } from './core/json.js';
export type { Log } from './core/log.js';
export type { Media } from './core/media.js';
export type { Message, ToolCall, Usage } from './core/models/message.js';
export type {
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
export { offlineModel } from './core/models/offline.js';
export { openAICompatible } from './core/models/openai-compatible.js';
export { type Tool, tool } from './core/tools/tool.js';
export type { ToolContext } from './core/tools/tool-context.js';
export { toolResult } from './core/tools/tool-result.js';
export { agent } from './library.js';
export type { Settings } from './platform/config.js';
export { Runyard, type RunyardOptions } from './runyard.js';
