/** The call of a tool in a run. */
export interface RunCall {
  readonly runId: string;
  readonly callId: string;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const shown = /^call_([0-9a-f-]{36}|x(?:[0-9a-f]{2})+)_(.+)$/s;

/**
 * The id of a call as the client sees it. It leads to the run that waits for the result, in every process. Other services
 * accept only letters, digits, `_` and `-` in such ids: the id of a run that a client named is written in hex.
 */
export function shownCallId({ runId, callId }: RunCall): string {
  const run = uuid.test(runId) ? runId : `x${Buffer.from(runId, 'utf8').toString('hex')}`;
  return `call_${run}_${callId}`;
}

/** The call that an id leads to; undefined for an id that another service made. */
export function callOf(id: string): RunCall | undefined {
  const [, run, callId] = shown.exec(id) ?? [];
  if (run === undefined || callId === undefined) return undefined;
  if (uuid.test(run)) return { runId: run, callId };
  return run.startsWith('x')
    ? { runId: Buffer.from(run.slice(1), 'hex').toString('utf8'), callId }
    : undefined;
}
