import type { Log } from '../log.js';
import type { Tool } from './tool.js';

/** Where tools come from that are not known before it is asked, such as an MCP server. */
export interface ToolSource {
  /** Stands before the name of a tool whose own name is taken, and in error messages. */
  readonly name: string;
  /** Added to the agent's system message. */
  readonly instructions?: string;
  /** Whether what it has depends on the run that asks. */
  readonly readsRun?: boolean;
  /** The tools that it has now. Connects when it has to; rejects with an error that says what to fix. */
  tools(signal: AbortSignal, log?: Log): Promise<readonly Tool[]>;
  /** Releases connections and processes. It may be used again: it then reconnects. */
  close(): Promise<void>;
}
