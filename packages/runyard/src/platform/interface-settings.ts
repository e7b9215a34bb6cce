import { z } from 'zod';

/** Options of an interface are given with its value: the setting only turns it on. */
function enables(define: string): { readonly allowed: string } {
  return { allowed: `true or false; with options, interfaces: [${define}({ … })] from runyard/interfaces` };
}

/** The settings of further protocols. */
export const interfaceSettingsShape = {
  websocket: z.boolean().default(false).describe('Whether clients can start and follow runs over WebSocket.'),
  a2a: z
    .boolean()
    .default(false)
    .meta(enables('a2a'))
    .describe('Whether clients of the Agent2Agent protocol (A2A) can use the components, at /a2a.'),
  agui: z
    .boolean()
    .default(false)
    .meta(enables('agui'))
    .describe('Whether front ends that speak AG-UI can use the components, at /agui.'),
  openai: z
    .boolean()
    .default(false)
    .meta(enables('openaiApi'))
    .describe('Whether clients of the OpenAI API can use the components as models, at /v1.'),
  aiSdk: z
    .boolean()
    .default(false)
    .meta(enables('aiSdk'))
    .describe('Whether pages with the AI SDK can chat with the components, at /api/chat.'),
  mcp: z
    .boolean()
    .default(false)
    .meta(enables('mcp'))
    .describe('Whether clients of the Model Context Protocol can use the components at /mcp.'),
  mcpSessionHours: z
    .int()
    .min(1)
    .max(87_600)
    .default(168)
    .describe('How many hours the service keeps a session of an MCP client after its last use.'),
  mcpOauth: z
    .boolean()
    .default(false)
    .describe('Whether the interface that mcp enables has its own authorization server.'),
  mcpPublicUrl: z
    .url({ protocol: /^https?$/ })
    .max(200)
    .optional()
    .meta({ allowed: 'an address such as https://agents.example.com, without query and fragment' })
    .describe(
      'Where MCP clients reach this service; derived from the request on the loopback address when left out.',
    ),
  mcpOauthSecret: z
    .string()
    .min(16)
    .max(1000)
    .optional()
    .meta({ allowed: 'a text of 16 characters or more' })
    .describe('What a person enters to connect an MCP client.'),
  mcpOauthSigningKey: z
    .string()
    .min(32)
    .max(1000)
    .optional()
    .meta({ allowed: 'a text of 32 characters or more, such as the output of: openssl rand -hex 32' })
    .describe('The key that signs the access tokens of MCP clients; another key ends all connections.'),
};
