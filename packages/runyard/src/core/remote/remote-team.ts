import type { AgentSettings } from '../agents/definition.js';
import { deliver, type Receiver } from '../async/receiver.js';
import type { Json } from '../json.js';
import { listOf, none, objectOf, required } from '../options/kinds.js';
import type { RunContext } from '../runs/context.js';
import type { RunEnd } from '../runs/executable.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import type { Run, RunResult, StepRecord } from '../runs/run.js';
import type { TeamSettings } from '../teams/settings.js';
import { Team } from '../teams/team.js';
import { teamShape } from '../teams/team-options.js';
import { collectFixedTools } from '../tools/collect-tools.js';
import { leaveRemote } from './leaving.js';
import { type RemoteComponent, type RemoteSite, remoteStructure } from './remote-component.js';
import { remoteContinuation } from './remote-continuation.js';

/** Its members are at the other service. */
const withoutMembers = objectOf<TeamSettings>({ ...teamShape, members: required(listOf(none)) });

/** A team that another service executes. Made with `remoteTeam()`. */
export class RemoteTeam extends Team<Json> implements RemoteComponent {
  readonly remote: RemoteSite;
  override readonly toolEntries = [];
  protected override readonly fixedTools = collectFixedTools(this.owner, []);

  constructor(settings: AgentSettings, remote: RemoteSite) {
    super({ ...settings, members: [] }, withoutMembers);
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
