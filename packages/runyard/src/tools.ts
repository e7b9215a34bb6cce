/** `runyard/tools`: tools that are ready to use, and tools of MCP servers. */
export { reasoningTools } from './core/agents/reasoning/reasoning-tools.js';
export { askUser, getUserInput } from './core/tools/ready/ask-person.js';
export { calculator } from './core/tools/ready/calculator.js';
export { clock } from './core/tools/ready/clock.js';
export { type FileFolderOptions, fileFolder } from './platform/tools/file-folder.js';
export { type McpAddressOfRun, type McpToolsOptions, mcpTools } from './platform/tools/mcp/mcp-tools.js';
export { type SqlQueryOptions, sqlQuery } from './platform/tools/sql/sql-query.js';
export { type WebFetchOptions, webFetch } from './platform/tools/web-fetch.js';
