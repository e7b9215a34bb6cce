import { errorCode } from '../../core/errors/error-code.js';
import { errors } from '../../core/errors/errors.js';
import { DefinedInterface, type Interface } from '../interface.js';
import { type McpConfig, type McpOptions, mcpConfigOf } from './options.js';

/**
 * The components of the service as tools of the Model Context Protocol, at `/mcp`. The setting `mcp` enables the same
 * with its defaults.
 */
export function mcp(options: McpOptions = {}): DefinedInterface {
  const config = mcpConfigOf(options);
  return new DefinedInterface('mcp', '/mcp', () => load(config));
}

let enabled: DefinedInterface | undefined;

/** The one that the setting enables. */
export function enabledMcp(): DefinedInterface {
  enabled ??= mcp();
  return enabled;
}

/** The library is an optional package: a service without MCP neither needs nor loads it. */
async function load(config: McpConfig): Promise<Interface> {
  try {
    const { mcpInterface } = await import('./endpoint.js');
    return mcpInterface(config);
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw errors.invalidConfig(
      'mcp() needs a package that is not installed. Run: npm install @modelcontextprotocol/server@2.4.0',
    );
  }
}
