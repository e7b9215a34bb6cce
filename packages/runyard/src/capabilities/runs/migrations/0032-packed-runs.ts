import type { Dialect, Migration } from '../../../platform/storage/database.js';

/**
 * The journal of a run that ended with its first write is in its row: a row and an index entry for each of its steps, and
 * for its events, took more than what they hold. Runs from before keep their rows.
 */
export const packedRuns: Migration = {
  version: 32,
  name: 'packed-runs',

  up: () =>
    ['runs', 'jobs'].flatMap((table) => [
      `ALTER TABLE ${table} ADD COLUMN packed_steps text`,
      `ALTER TABLE ${table} ADD COLUMN packed_events text`,
    ]),

  // An earlier version rebuilds the events from the steps, as those of runs whose events were removed.
  down: (dialect) =>
    [
      { runs: 'runs', steps: 'steps' },
      { runs: 'jobs', steps: 'job_steps' },
    ].flatMap(({ runs, steps }) => [
      unpacked(dialect, runs, steps),
      `ALTER TABLE ${runs} DROP COLUMN packed_steps`,
      `ALTER TABLE ${runs} DROP COLUMN packed_events`,
    ]),
};

/** The steps as rows again. The places are those of `packSteps`. */
function unpacked(dialect: Dialect, runs: string, steps: string): string {
  const isSqlite = dialect === 'sqlite';
  const text = (place: number) => `step.value ->> ${place}`;
  const number = (place: number, type: string) => `CAST(${text(place)} AS ${type})`;
  // of a member that is null there is no JSON
  const json = (place: number) =>
    isSqlite
      ? `CASE json_type(step.value, '$[${place}]') WHEN 'null' THEN NULL ELSE step.value -> ${place} END`
      : `CASE json_typeof(step.value -> ${place}) WHEN 'null' THEN NULL ELSE CAST(step.value -> ${place} AS text) END`;
  // the mark stands for the content of the result
  const content = isSqlite
    ? `${runs}.result -> 'content'`
    : `CAST(CAST(${runs}.result AS json) -> 'content' AS text)`;
  const mark = isSqlite ? 'char(4)' : 'chr(4)';
  const whole = `replace(${runs}.packed_steps, ${mark}, coalesce(${content}, ''))`;
  const each = isSqlite ? `json_each(${whole})` : `json_array_elements(CAST(${whole} AS json))`;
  return `INSERT INTO ${steps}
      (run_id, seq, key, kind, name, parent_key, status, attempt, input, output, error, started_at, ended_at)
    SELECT ${runs}.run_id, ${number(0, 'integer')}, ${text(1)}, ${text(2)}, ${text(3)}, ${text(4)}, ${text(5)},
      ${number(6, 'integer')}, ${json(7)}, ${json(8)}, ${json(9)}, ${number(10, 'bigint')}, ${number(11, 'bigint')}
    FROM ${runs} CROSS JOIN ${each} AS step${isSqlite ? '' : '(value)'} WHERE ${runs}.packed_steps IS NOT NULL`;
}
