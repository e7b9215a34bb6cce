import { createHmac } from 'node:crypto';

export interface SignedRequest {
  readonly method: 'POST';
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A request as Slack signs it. `at`: when, in seconds. */
export function signedRequest(
  secret: string,
  body: string,
  { at = Math.floor(Date.now() / 1000), type = 'application/json', headers = {} } = {},
): SignedRequest {
  const signature = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex');
  return {
    method: 'POST',
    headers: {
      'content-type': type,
      'x-slack-request-timestamp': String(at),
      'x-slack-signature': `v0=${signature}`,
      ...headers,
    },
    body,
  };
}

/** What a press of a button sends. */
export function signedInteraction(secret: string, payload: object): SignedRequest {
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  return signedRequest(secret, body, { type: 'application/x-www-form-urlencoded' });
}
