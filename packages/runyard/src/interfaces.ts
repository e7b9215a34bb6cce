/** Further protocols for the components of a service: `new Runyard({ interfaces: [webSocket()] })`. */
export { type A2aOptions, a2a, type PushNotificationOptions } from './interfaces/a2a/interface.js';
export { type AguiOptions, agui } from './interfaces/agui/interface.js';
export { type AiSdkOptions, aiSdk } from './interfaces/ai-sdk/interface.js';
export type { DefinedInterface } from './interfaces/interface.js';
export { mcp } from './interfaces/mcp/interface.js';
export type { McpOAuthOptions } from './interfaces/mcp/oauth/options.js';
export type { McpOptions, McpToolTag } from './interfaces/mcp/options.js';
export { type OpenaiApiOptions, openaiApi } from './interfaces/openai/interface.js';
export {
  type IsApprover,
  type SlackOAuthOptions,
  type SlackOptions,
  type SlackPress,
  type SuggestedPrompt,
  slack,
} from './interfaces/slack/interface.js';
export { webSocket } from './interfaces/websocket/interface.js';
