import type { RunValues } from '../agents/context/run-values.js';
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
  /** Whether a run does without its tools when it cannot be asked for them. Left out: the run fails. */
  readonly optional?: boolean;
  /**
   * The tools that it has now, for a run if there is one. Connects when it has to; rejects with an error that says what
   * to fix.
   */
  tools(signal: AbortSignal, log?: Log, run?: RunValues): Promise<readonly Tool[]>;
  /** Releases connections and processes. It may be used again: it then reconnects. */
  close(): Promise<void>;
}
