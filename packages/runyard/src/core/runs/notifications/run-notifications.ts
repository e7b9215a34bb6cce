/** What a hint says has happened to the run. */
type HintKind =
  /** It waits for a process with a free slot. */
  | 'queued'
  /** The same of a job: what executes runs need not look. */
  | 'job_queued'
  /** A process took it from the queue, or from one that died. */
  | 'claimed'
  /** A reader in another process than the executing one follows it. */
  | 'followed'
  /** A followed run has new events or another status. */
  | 'progressed'
  | 'cancel_requested'
  /** The schema of the database was migrated. It concerns no run. */
  | 'schema_changed'
  /** A process cannot be reached the quicker way, and listens only here. It concerns no run: `runId` names the process. */
  | 'hears_only_here'
  /** A request of an interface was answered, or has a message. It concerns no run: `runId` is the key of the request. */
  | 'request_changed';

export interface RunHint {
  readonly kind: HintKind;
  readonly runId: string;
}

export const schemaChanged: RunHint = { kind: 'schema_changed', runId: '' };

/**
 * Hints between the processes that share a database. A hint causes an immediate look at the store, which would happen
 * anyway a little later: a poll is the guarantee, and a hint carries no facts. Therefore a hint may be lost, late, sent
 * twice or wrong without harm, and an implementation needs no delivery guarantees.
 */
export interface RunNotifications {
  /** Sends a hint to all subscribers in all processes, the own one included. Returns at once and never throws. */
  publish(hint: RunHint): void;

  /**
   * Calls the listener with each hint that arrives. One that throws keeps no other from its hint. The returned function
   * ends the subscription.
   */
  subscribe(listener: (hint: RunHint) => void): () => void;
}
