import { onModel } from '../../../core/components/on-model.js';
import { errors } from '../../../core/errors/errors.js';
import { type AnyFactory, ComponentFactory, requestOf } from '../../../core/factories/component-factory.js';
import type { JsonObject } from '../../../core/json.js';
import type { Executable } from '../../../core/runs/executable.js';
import type { CallApplication } from '../../../core/runs/execution/code-owner.js';
import type { ResumeSite } from '../../../core/runs/resume/resume-run.js';
import type { Run } from '../../../core/runs/run.js';
import type { Caller } from '../../../platform/auth/caller.js';
import { personsBehind } from '../../../platform/auth/persons.js';
import type { FoundComponent, FoundRun } from '../run-lookup.js';
import type { ContinueRequest } from './continue-request.js';

/** How a factory is called before there is a run. */
type PrepareRun = (
  factory: AnyFactory,
  work: (call: CallApplication) => Promise<Executable>,
) => Promise<Executable>;

/** Where a request continues a run, with the rights of its caller. */
export function resumeSite(
  { component, space, run: { kind, componentId: id } }: FoundComponent & FoundRun,
  caller: Caller,
  { options, background }: ContinueRequest,
  prepare: PrepareRun,
): ResumeSite {
  const claims = (run: Run) =>
    component instanceof ComponentFactory || component.readsClaims ? claimsFor(caller, run) : null;
  /** What a copy is executed by; a factory builds it for the one whose run it was. */
  const executable = async (run: Run): Promise<Executable> => {
    const { model } = run.input.options;
    if (!(component instanceof ComponentFactory))
      return (model === undefined ? undefined : onModel(component, model)) ?? component;
    const { fixed = run.input.options.fixed } = options;
    const state = (await space.runs.session(run.sessionId))?.state ?? {};
    const request = requestOf(run, state, { claims: claims(run), ...(fixed !== undefined && { fixed }) });
    return prepare(component, (call) => component.build(request, call, model));
  };
  return {
    engine: space.engine,
    journal: space.runs,
    component: { kind, id },
    executable,
    resolutions: ({ runId }) => space.approvals.resolutionsOf(caller.scope, runId),
    askers: personsBehind(caller),
    background,
    claims: (run) => claims(run) ?? undefined,
    refusal: cannotContinue,
  };
}

/** A copy by the owner of a run is built for who they are by now; by another caller, for who its owner was then. */
function claimsFor(caller: Caller, { userId, input }: Run): JsonObject | null {
  const isOwner = caller.claims !== null && caller.userId === userId;
  return isOwner ? caller.claims : (input.options.claims ?? null);
}

function cannotContinue({ runId, kind, status }: Run): Error {
  if (kind !== 'workflow') return errors.cannotContinue(runId, status);
  return errors.cannotContinue(runId, status, status === 'error' ? 'has errored' : `is already ${status}`);
}
