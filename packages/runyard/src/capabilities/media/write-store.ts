import type { RunWrite } from '../../core/runs/journal/ports.js';
import {
  noRows,
  type PlanBuilder,
  type Rows,
  type RowUpdate,
  rowsOf,
} from '../../platform/storage/write-plan.js';

const releaseMedia: RowUpdate = {
  does: 'update',
  name: 'released_media',
  table: 'media_contents',
  columns: ['owner'],
  set: { released_at: ({ now }) => now },
  where: 'stored.owner = given.owner AND stored.released_at IS NULL',
};

/** The bytes of runs that end and do not keep them. */
export function addMediaEffects(plan: PlanBuilder, writes: readonly RunWrite[]): void {
  plan.effect(releaseMedia, rowsOf(writes, ended));
}

function ended({ runId, forgotten }: RunWrite): Rows {
  return forgotten?.media ? [[runId]] : noRows;
}
