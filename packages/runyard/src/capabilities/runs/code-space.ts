import type { ComponentSpace } from '../../core/components/component-space.js';
import { errors, isFenced } from '../../core/errors/errors.js';
import { RunReleased } from '../../core/runs/executable.js';
import type { RunHandle } from '../../core/runs/execution/run-handle.js';
import type { EndedRun } from '../../core/runs/run.js';
import type { RunSpace } from '../capability.js';
import { attachedTo } from './request/started-run.js';

/** Where the components of a service are run by code: in the database, and by the rules, of all other runs. */
export function codeSpace(space: RunSpace): ComponentSpace {
  return {
    get engine() {
      return space.engine;
    },
    get journal() {
      return space.runs;
    },
    get media() {
      return space.media.contents;
    },
    ended: (handle) => endOf(space, handle),
    resolutions: ({ runId }) => space.approvals.resolutionsOf({ kind: 'all' }, runId),
  };
}

/** A run that waited here may have begun in another process. */
async function endOf(space: RunSpace, handle: RunHandle): Promise<EndedRun> {
  try {
    return await handle.ended.catch((error: unknown) => {
      if (!isFenced(error)) throw error;
      return attachedTo(space, handle.run).ended;
    });
  } catch (error) {
    throw error instanceof RunReleased ? errors.runHandedOn(handle.run) : error;
  }
}
