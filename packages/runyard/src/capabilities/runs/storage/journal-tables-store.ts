/**
 * Where a journal is: runs and jobs have the same tables, apart. No query that lists runs can show a job, and the
 * many steps of jobs do not slow the lists of runs down.
 */
export interface JournalTables {
  /** What the names of prepared statements begin with. */
  readonly prefix: string;
  readonly runs: string;
  readonly steps: string;
  readonly events: string;
  readonly texts: string;
  readonly cancellations: string;
}

export const runTables: JournalTables = {
  prefix: '',
  runs: 'runs',
  steps: 'steps',
  events: 'event_blocks',
  texts: 'run_texts',
  cancellations: 'run_cancellations',
};

export const jobTables: JournalTables = {
  prefix: 'jobs_',
  runs: 'jobs',
  steps: 'job_steps',
  events: 'job_event_blocks',
  texts: 'job_texts',
  cancellations: 'job_cancellations',
};

/** What is made once for each set of tables, such as the statements of a store. */
export function ofTables<T>(make: (tables: JournalTables) => T): (tables: JournalTables) => T {
  const made = new Map<JournalTables, T>();
  return (tables) => {
    const known = made.get(tables) ?? make(tables);
    made.set(tables, known);
    return known;
  };
}
