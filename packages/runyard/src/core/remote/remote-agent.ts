import { Agent } from '../agents/agent.js';
import type { AgentSettings } from '../agents/definition.js';
import { deliver, type Receiver } from '../async/receiver.js';
import type { Json } from '../json.js';
import { checkOptions } from '../options/check-options.js';
import type { ObjectKind } from '../options/kind.js';
import type { RunContext } from '../runs/context.js';
import type { RunEnd } from '../runs/executable.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import type { Run, RunResult, StepRecord } from '../runs/run.js';
import { leaveRemote } from './leaving.js';
import { type RemoteComponent, type RemoteSite, remoteStructure } from './remote-component.js';
import { remoteContinuation } from './remote-continuation.js';
import { RemoteModel } from './remote-model.js';
import type { RemoteOptions } from './remote-options.js';

/** An agent that another service executes. Made with `remoteAgent()` or `a2aAgent()`. */
export class RemoteAgent extends Agent<Json> implements RemoteComponent {
  readonly remote: RemoteSite;

  constructor(settings: AgentSettings, remote: RemoteSite) {
    super(settings);
    this.remote = remote;
  }

  /** Its settings are at the other service. */
  override with(): this {
    return this;
  }

  override lead(context: RunContext, receiver: Receiver<RunResult>): void {
    deliver(this.executeRemotely(context), receiver);
  }

  private async executeRemotely(context: RunContext): Promise<RunResult> {
    const { executeRemote } = await import('./execute-remote.js');
    return executeRemote(this, context);
  }

  override continuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation {
    return remoteContinuation(run, steps, from);
  }

  leave(context: RunContext, end: RunEnd): void {
    leaveRemote(this, context, end);
  }

  protected override structure(): Json {
    return remoteStructure(this.remote);
  }
}

/** What agents and teams of another service are defined by here. */
export function remoteSettings<Options extends Omit<RemoteOptions, 'url'>>(
  owner: string,
  options: Options,
  kind: ObjectKind,
): AgentSettings {
  checkOptions(owner, options, kind);
  const { id, localId = id, name, description, role, metadata, limits, database } = options;
  return {
    id: localId,
    model: new RemoteModel(id),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(role !== undefined && { role }),
    ...(metadata !== undefined && { metadata }),
    ...(limits !== undefined && { limits }),
    ...(database !== undefined && { database }),
  };
}
