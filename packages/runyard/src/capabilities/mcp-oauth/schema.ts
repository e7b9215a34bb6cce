import type { RunyardError } from '../../core/errors/errors.js';
import type { FetchedContent } from '../../platform/net/fetch-content.js';

/** Fetches a document of a client. Only tests give another one. */
export type FetchDocument = (url: string) => Promise<FetchedContent>;

/** What the interface opens the authorization server with. */
export interface AuthorizationServerOptions {
  /** What a person enters to connect a client. */
  readonly secret: string;
  readonly signingKey: string;
  /** What clients may be granted. */
  readonly scopes: readonly string[];
  /** For how long a process trusts a grant after it has looked it up. */
  readonly cacheMs: number;
  /** Hosts of metadata documents that may be reached although their addresses are not public. */
  readonly fetchAllowedHosts: readonly string[];
  /** Left out: through the guard. */
  readonly fetchDocument?: FetchDocument;
}

/** Signatures alone: a secret is shared with no client. */
export const assertionAlgorithms = ['ES256', 'ES384', 'EdDSA', 'PS256', 'RS256'] as const;

/** A program that wants to use `/mcp` in the name of a person. */
export interface OauthClient {
  readonly clientId: string;
  /** As the client calls itself: nothing proves it. */
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  /** What it may ask for; null: what the server offers. */
  readonly scopes: readonly string[] | null;
  readonly refreshes: boolean;
  /** `private_key_jwt` only with a metadata document, where its public keys are. */
  readonly authentication: 'none' | 'private_key_jwt';
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] } | undefined;
  readonly jwksUri?: string | undefined;
}

/** Where the authorization server is, and what its tokens are for. */
export interface OauthPlace {
  readonly issuer: string;
  readonly resource: string;
}

/** The parameters of `/authorize`, as they come. */
export interface AuthorizationParameters {
  readonly response_type?: string | undefined;
  readonly client_id?: string | undefined;
  readonly redirect_uri?: string | undefined;
  readonly scope?: string | undefined;
  readonly state?: string | undefined;
  readonly code_challenge?: string | undefined;
  readonly code_challenge_method?: string | undefined;
  readonly resource?: string | undefined;
}

/** What a person is asked to approve. */
export interface AuthorizationRequest {
  /** Its own id. */
  readonly jti: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state?: string | undefined;
  readonly challenge: string;
  readonly scopes: readonly string[];
}

/** Where the browser of a person goes next. */
export type AuthorizationStep =
  | { readonly to: 'consent'; readonly transaction: string }
  | { readonly to: 'client'; readonly location: string }
  /** What is wrong is shown here: nobody vouches for the place that the client names. */
  | { readonly to: 'notice'; readonly error: RunyardError; readonly location: string };

/** What a person is asked. */
export interface ConsentQuestion {
  readonly client: OauthClient;
  readonly request: AuthorizationRequest;
}

export interface ConsentAnswer {
  readonly transaction: string;
  readonly approves: boolean;
  readonly secret: string;
  readonly clientAddress: string;
}

export type ConsentResult =
  /** The request is unknown, too old, or was approved before. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'wrong'; readonly question: ConsentQuestion; readonly retryAfterSeconds?: number }
  | { readonly kind: 'decided'; readonly location: string };

/** The fields of `/token` and `/revoke`, as they come. */
export interface TokenForm {
  readonly grant_type?: string | undefined;
  readonly code?: string | undefined;
  readonly redirect_uri?: string | undefined;
  readonly code_verifier?: string | undefined;
  readonly refresh_token?: string | undefined;
  readonly scope?: string | undefined;
  readonly resource?: string | undefined;
  readonly client_id?: string | undefined;
  readonly client_assertion?: string | undefined;
  readonly client_assertion_type?: string | undefined;
  readonly token?: string | undefined;
}

/** Where a request for tokens came in. */
export interface TokenSite extends OauthPlace {
  readonly tokenEndpoint: string;
  readonly clientAddress: string;
}

export interface IssuedTokens {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly scope: string;
  readonly refresh_token?: string;
}

/** What an access token proves. */
export interface VerifiedAccess {
  readonly userId: string;
  readonly scopes: readonly string[];
}
