import { type Credential, type Lent, readCredential } from './credentials.js';
import { encoded } from './paths.js';
import { oauthToken, requestToken } from './service-client.js';

/** An application that is registered with Microsoft Entra. */
export interface MicrosoftApplication {
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: Credential;
  /** Default `https://login.microsoftonline.com`. */
  readonly authority?: string | undefined;
}

export const defaultAuthority = 'https://login.microsoftonline.com';

/** A token that the application gets for itself. */
export async function microsoftToken(
  { tenantId, clientId, clientSecret, authority = defaultAuthority }: MicrosoftApplication,
  scope: string,
): Promise<Lent<string>> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: await readCredential(clientSecret),
    scope,
  }).toString();
  const url = `${authority}/${encoded(tenantId)}/oauth2/v2.0/token`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return requestToken('Microsoft', { url, headers, body }, oauthToken);
}
