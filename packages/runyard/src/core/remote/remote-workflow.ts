import type { RunEvent } from '../events/run-event.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { MediaContents } from '../media/media.js';
import { checkOptions } from '../options/check-options.js';
import type { RunContext } from '../runs/context.js';
import type { RunEnd } from '../runs/executable.js';
import { readIf } from '../runs/journal/codec.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import { isUnfit } from '../runs/resume/replay.js';
import type { EndedRun, Run, RunResult, StepRecord } from '../runs/run.js';
import type { WorkflowRunOutput } from '../workflows/run-in-code.js';
import { Workflow } from '../workflows/workflow.js';
import type { WorkflowSettings } from '../workflows/workflow-options.js';
import { remoteRest } from './journal-records.js';
import { leaveRemote } from './leaving.js';
import { type RemoteComponent, type RemoteSite, remoteStructure } from './remote-component.js';
import { unreachable } from './remote-failures.js';
import { type RemoteOptions, remoteOptions } from './remote-options.js';

/** A workflow that another service executes. Made with `remoteWorkflow()`. */
export class RemoteWorkflow extends Workflow<Json> implements RemoteComponent {
  readonly remote: RemoteSite;

  constructor(settings: WorkflowSettings, remote: RemoteSite) {
    super(settings);
    this.remote = remote;
  }

  override async execute(context: RunContext): Promise<RunResult> {
    const { executeRemoteWorkflow } = await import('./execute-workflow.js');
    return executeRemoteWorkflow(this, context);
  }

  /** One that lost its service follows the run that it began there; any other continues only where it paused. */
  override continuation(
    run: Run,
    steps: readonly StepRecord[],
    from: ContinueFrom,
  ): Continuation | undefined {
    const isLost = run.status === 'error' && (run.result?.error?.type === unreachable || isUnfit(run));
    return isLost && from === 'end' ? { steps, messageIndex: 0, turn: 0 } : undefined;
  }

  override metrics(context: RunContext): JsonObject {
    const last = readIf(context.steps('remote').at(-1), remoteRest);
    const metrics = last?.steps?.metrics;
    const duration = (context.timers.now() - context.run.createdAt) / 1000;
    return { ...(isJsonObject(metrics) && metrics), duration };
  }

  /** Its steps are at the other service: events and outputs show them as that shows them. */
  override endEvents(end: RunEnd, context: RunContext): readonly RunEvent[] {
    const shown = end.result.extra ?? {};
    return super.endEvents(end, context).map((event) =>
      event.event === 'WorkflowCompleted' || event.event === 'WorkflowPaused'
        ? // the fields of these two events that the wire of the other service has, too
          ({ ...event, ...shown } as RunEvent)
        : event,
    );
  }

  leave(context: RunContext, end: RunEnd): void {
    leaveRemote(this, context, end);
  }

  protected override structure(): Json {
    return remoteStructure(this.remote);
  }

  protected override outputOf(ended: EndedRun, contents: MediaContents): WorkflowRunOutput<Json> {
    const results = ended.run.result?.extra?.step_results;
    const stepResults = Array.isArray(results) ? results : [];
    // StepOutput of the wire, as the other service wrote it
    return { ...super.outputOf(ended, contents), stepResults } as unknown as WorkflowRunOutput<Json>;
  }
}

export function remoteWorkflowSettings(options: RemoteOptions): WorkflowSettings {
  checkOptions('remoteWorkflow()', options, remoteOptions);
  const { id, localId = id, name, description, metadata, limits, database } = options;
  return {
    id: localId,
    steps: () => Promise.reject(new Error('The steps of a remote workflow are at its service.')),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(metadata !== undefined && { metadata }),
    ...(limits !== undefined && { limits }),
    ...(database !== undefined && { database }),
  };
}
