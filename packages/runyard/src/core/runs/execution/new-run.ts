import { newId } from '../../ids.js';
import type { EngineOptions } from '../engine-options.js';
import type { Executable } from '../executable.js';
import { definitionOf } from '../journal/journal-format.js';
import type { Run } from '../run.js';
import { inputOf, type RunRequest } from '../run-request.js';

/** What is known of a run before it begins; this process has its lease. */
export function newRun(
  executable: Executable,
  request: RunRequest,
  sessionId: string,
  now: number,
  { owner }: Pick<EngineOptions, 'owner'>,
): Run {
  const input = inputOf(executable, request.input);
  return {
    runId: request.runId ?? request.newRunId ?? newId(),
    kind: executable.kind,
    componentId: executable.id,
    componentName: executable.name,
    sessionId,
    userId: request.userId,
    askers: request.askers ?? [],
    parentRunId: null,
    model: executable.model?.id ?? null,
    modelProvider: executable.model?.provider ?? null,
    input: executable.kind === 'workflow' ? { ...input, salt: newId() } : input,
    createdAt: now,
    status: 'pending',
    result: null,
    attempt: 1,
    leaseOwner: owner,
    leaseExpiresAt: null,
    nextEventIndex: 0,
    updatedAt: now,
    wakeAt: null,
    lineage: request.copy?.lineage ?? null,
    traceParent: request.traceParent ?? null,
    definition: definitionOf(executable.fingerprint),
  };
}
