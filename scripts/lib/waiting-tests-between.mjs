import { BaseSequencer } from 'vitest/node';

/** Tests that start processes, kill them, and wait for what the next ones do. They are the longest, too. */
const waiting = /\/test\/(chaos|cli|docs)\/|-kill\.test\./;

/** Short files that take long, whose size says nothing about that. */
const long = /\/test\/(docs|contract\/matrix|contract\/service\/docs)\b/;

/** Runs files that mostly wait beside files that mostly compute, and the largest first, so that no core is idle at the end. */
export class WaitingTestsBetween extends BaseSequencer {
  async sort(specifications) {
    const bySize = await super.sort(specifications);
    const isLong = ({ moduleId }) => long.test(moduleId);
    const sorted = [...bySize.filter(isLong), ...bySize.filter((file) => !isLong(file))];
    const apart = sorted.filter(({ project }) => project.config.isolate);
    const together = sorted.filter(({ project }) => !project.config.isolate);
    const waits = together.filter(({ moduleId }) => waiting.test(moduleId));
    const computes = together.filter(({ moduleId }) => !waiting.test(moduleId));
    const turns = computes.flatMap((file, at) => [...waits.slice(at, at + 1), file]);
    return [...apart, ...turns, ...waits.slice(computes.length)];
  }
}
