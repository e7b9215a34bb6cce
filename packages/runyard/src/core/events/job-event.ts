import type { Json, JsonObject } from '../json.js';

/** How far a job is. */
export type JobProgress = {
  /** How many parts are done, in the unit that `message` names. */
  done: number;
  /** Null while the job does not know it. */
  total: number | null;
  /** 0 to 100; null without a total. */
  percent: number | null;
  message: string;
  /** What else this kind of work reports. */
  data?: JsonObject;
};

/** The events of jobs: long work of the service, such as ingesting content. */
export interface JobEvents {
  /** Sent for each execution: after a crash, the job continues with a further one. */
  JobStarted: { attempt: number };
  JobProgress: JobProgress;
  JobCompleted: { result: Json };
  JobFailed: { error: { type: string; message: string } };
  JobCancelled: { reason: string };
}
