import { z } from 'zod';

/** The settings of further protocols. */
export const interfaceSettingsShape = {
  websocket: z.boolean().default(false).describe('Whether clients can start and follow runs over WebSocket.'),
  a2a: z
    .boolean()
    .default(false)
    .describe('Whether clients of the Agent2Agent protocol (A2A) can use the components, at /a2a.'),
  mcp: z
    .boolean()
    .default(false)
    .describe('Whether clients of the Model Context Protocol can use the components at /mcp.'),
  mcpSessionHours: z
    .int()
    .min(1)
    .max(87_600)
    .default(168)
    .describe('How many hours the service keeps a session of an MCP client after its last use.'),
};
