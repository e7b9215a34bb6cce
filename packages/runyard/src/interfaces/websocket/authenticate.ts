import type { RunyardError } from '../../core/errors/errors.js';
import { accountTokenPrefix, type Identity } from '../../platform/auth/identity.js';
import type { AuthMode } from '../../platform/auth/tokens/settings.js';

/** The first frame of a connection. */
export function connectedFrame(requiresToken: boolean): object {
  const message = `Connected to Runyard.${requiresToken ? ' Please authenticate to continue.' : ''}`;
  return { event: 'connected', message, requires_auth: requiresToken };
}

/** How far a run had come that is no longer followed. */
export interface StoppedRun {
  readonly run_id: string;
  readonly last_event_index: number;
}

/** The frame for a client that has to authenticate first; with the reason, when it had done so before. */
export function authRequiredFrame(
  mode: AuthMode,
  fault: RunyardError | null,
  runs: readonly StoppedRun[],
): object {
  const credential = mode === 'jwt' ? 'JWT' : 'bearer token';
  return {
    event: 'auth_required',
    error: `Authentication required. Send authenticate action with valid ${credential}.`,
    ...(fault !== null && { error_type: isExpiry(fault) ? 'expired' : 'invalid_token' }),
    ...(runs.length > 0 && { runs }),
  };
}

/** A token that identifies a user gets a second frame, which names the user. */
export function authenticatedFrames(identity: Identity | null): object[] {
  const event = 'authenticated';
  const first = { event, message: 'Authentication successful. You can now send commands.' };
  const kind = identity === null ? undefined : kindsOfTokens[identity.by];
  if (identity === null || kind === undefined) return [first];
  const message = `${kind} authentication successful.`;
  return [first, { event, message, user_id: identity.caller.userId }];
}

const kindsOfTokens: Partial<Record<Identity['by'], string>> = {
  jwt: 'JWT',
  service_account: 'Service account',
};

export const tokenRequiredFrame = { event: 'auth_error', error: 'Token is required' };

/** Why a token was refused, in the words that clients of this interface know. */
export function authErrorFrame(error: RunyardError, mode: AuthMode, token: string): object {
  const isJwt = mode === 'jwt' && !token.startsWith(accountTokenPrefix);
  return {
    event: 'auth_error',
    error: reasonOf(error),
    ...(isJwt && { error_type: errorTypeOf(error) }),
    error_code: error.code,
  };
}

function errorTypeOf(error: RunyardError): string {
  if (error.status >= 500) return 'server_error';
  return isExpiry(error) ? 'expired' : 'invalid_token';
}

function isExpiry({ code }: RunyardError): boolean {
  return code === 'token_expired';
}

function reasonOf(error: RunyardError): string {
  if (isExpiry(error)) return 'Signature has expired';
  if (error.code === 'security_key_wrong') return 'Invalid token';
  // both audiences, which HTTP does not reveal
  if (error.code === 'token_audience' && error.cause instanceof Error) return error.cause.message;
  return error.message.replace(/^Invalid token: /, '');
}
