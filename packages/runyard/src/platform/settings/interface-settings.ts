import { z } from 'zod';
import { setting } from './setting.js';

/** Options of an interface are given with its value: the setting only turns it on. */
function enables(define: string): { readonly allowed: string } {
  return { allowed: `true or false; with options, interfaces: [${define}({ … })] from runyard/interfaces` };
}

/** The settings of further protocols. */
export const interfaceSettings = {
  websocket: setting({
    about: 'Whether clients can start and follow runs over WebSocket.',
    default: false,
    schema: () => z.boolean(),
  }),
  a2a: setting({
    about: 'Whether clients of the Agent2Agent protocol (A2A) can use the components, at /a2a.',
    default: false,
    ...enables('a2a'),
    schema: () => z.boolean(),
  }),
  agui: setting({
    about: 'Whether front ends that speak AG-UI can use the components, at /agui.',
    default: false,
    ...enables('agui'),
    schema: () => z.boolean(),
  }),
  openai: setting({
    about: 'Whether clients of the OpenAI API can use the components as models, at /v1.',
    default: false,
    ...enables('openaiApi'),
    schema: () => z.boolean(),
  }),
  aiSdk: setting({
    about: 'Whether pages with the AI SDK can chat with the components, at /api/chat.',
    default: false,
    ...enables('aiSdk'),
    schema: () => z.boolean(),
  }),
  mcp: setting({
    about: 'Whether clients of the Model Context Protocol can use the components at /mcp.',
    default: false,
    ...enables('mcp'),
    schema: () => z.boolean(),
  }),
  mcpSessionHours: setting({
    about: 'How many hours the service keeps a session of an MCP client after its last use.',
    default: 168,
    schema: () => z.int().min(1).max(87_600),
  }),
  mcpOauth: setting({
    about: 'Whether the interface that mcp enables has its own authorization server.',
    default: false,
    schema: () => z.boolean(),
  }),
  mcpPublicUrl: setting({
    about:
      'Where MCP clients reach this service; derived from the request on the loopback address when left out.',
    allowed: 'an address such as https://agents.example.com, without query and fragment',
    schema: () => z.url({ protocol: /^https?$/ }).max(200),
  }),
  mcpOauthSecret: setting({
    about: 'What a person enters to connect an MCP client.',
    allowed: 'a text of 16 characters or more',
    schema: () => z.string().min(16).max(1000),
  }),
  mcpOauthSigningKey: setting({
    about: 'The key that signs the access tokens of MCP clients; another key ends all connections.',
    allowed: 'a text of 32 characters or more, such as the output of: openssl rand -hex 32',
    schema: () => z.string().min(32).max(1000),
  }),
};
