import type * as ClientLibrary from '@modelcontextprotocol/client';
import type * as StdioLibrary from '@modelcontextprotocol/client/stdio';
import { errorCode } from '../../../core/errors/error-code.js';
import { errors } from '../../../core/errors/errors.js';

export type McpClient = ClientLibrary.Client;
export type McpToolDefinition = ClientLibrary.Tool;
export type McpCallResult = ClientLibrary.CallToolResult;

export interface McpLibrary {
  readonly client: typeof ClientLibrary;
  readonly stdio: typeof StdioLibrary;
}

let library: Promise<McpLibrary> | undefined;

/** The client is an optional package, loaded when the first server is used. */
export function loadMcpLibrary(): Promise<McpLibrary> {
  library ??= load().catch((error: unknown) => {
    library = undefined;
    throw error;
  });
  return library;
}

async function load(): Promise<McpLibrary> {
  try {
    const [client, stdio] = await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ]);
    return { client, stdio };
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw errors.invalidConfig(
      'mcpTools() needs a package that is not installed. Run: npm install @modelcontextprotocol/client@2.4.0',
    );
  }
}
