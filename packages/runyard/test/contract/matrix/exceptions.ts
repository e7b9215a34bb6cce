/** An answer about another user's thing that differs from the one about a thing that does not exist. */
export interface Exception {
  readonly operation: RegExp;
  /** The thing of another user that it names. */
  readonly field: string;
  readonly status: number;
  readonly detail: RegExp;
  readonly reason: string;
}

/** What the contract decides otherwise. Everything else answers as if what others have did not exist. */
export const exceptions: readonly Exception[] = [
  {
    operation: /^POST \/sessions$/,
    field: 'session_id',
    status: 409,
    detail: /^The id '.*' cannot be used for a session\./,
    reason: 'an id is used once; whose the session is, or whether there is one, is not disclosed',
  },
  {
    operation: /^POST \/\w+\/\{\w+\}\/runs$/,
    field: 'session_id',
    status: 404,
    detail: /^Session not found$/,
    reason:
      'a session that does not exist is made, and one of another user is refused before anything runs (FIX-4)',
  },
  {
    operation: /^POST \/\w+\/\{\w+\}\/runs$/,
    field: 'run_id',
    status: 409,
    detail: /^Run .* already exists\./,
    reason: 'an id is used once',
  },
];

/** Answers that show who another user is, and why they may. */
export const shownToAll: ReadonlyMap<string, string> = new Map([
  ['GET /components', 'components are shared, with who made and changed them'],
  ['GET /service-accounts', 'accounts are shared among those who may manage them, with who made them'],
]);

/** What even the owner is refused, and why. */
export const refusedToOwners: ReadonlyMap<string, string> = new Map([
  [
    'GET /schedules/{schedule_id}/runs/{run_id}',
    'it names an attempt by an id of its own, and none was made',
  ],
  ['POST /approvals/{approval_id}/resolve', 'nobody decides on what they asked for themselves'],
  ['DELETE /approvals/{approval_id}', 'nobody decides on what they asked for themselves'],
]);

/** Refusals of requests that are in order, and why. */
export const emptyAnswers: ReadonlyMap<string, string> = new Map([
  ['Source session has no runs to fork.', 'there is nothing that it could be about'],
  ['User ID is required', 'nothing is remembered about a caller without an identity'],
]);
