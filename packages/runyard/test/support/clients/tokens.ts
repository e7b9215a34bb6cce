import type { RunyardOptions } from '../../../src/index.js';
import { type Answer, type Form, startService, TestService } from '../service.js';
import { signedWithSecret } from './issuer.js';
import type { SseClient } from './sse-client.js';

const secret = 'a secret that these tests alone know of';

/** Settings of a service that takes the tokens that are made here. */
export const tokenSettings = { authorization: true, jwtKeys: [secret] };

export const adminScope = 'agent_os:admin';

/** All scopes that a caller who is no admin may hold. */
export const everydayScopes: readonly string[] = [
  ...['agents', 'teams', 'workflows'].flatMap((resource) => [`${resource}:read`, `${resource}:run`]),
  ...['sessions', 'memories', 'learnings', 'evals'].flatMap((resource) =>
    ['read', 'write', 'delete'].map((action) => `${resource}:${action}`),
  ),
  ...['traces:read', 'metrics:read', 'config:read', 'approvals:read'],
];

type Claims = Readonly<Record<string, unknown>>;

/** The token of a caller, for clients that send it themselves. */
export function tokenOf(claims: Claims): Promise<string> {
  return signedWithSecret(secret, claims);
}

/** A caller of a service with a token of their own. */
export class Holder {
  constructor(
    private readonly service: TestService,
    readonly headers: Record<string, string>,
  ) {}

  get(path: string): Promise<Answer> {
    return this.service.get(path, this.headers);
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.send('DELETE', path, body);
  }

  /** Sends JSON. */
  send(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = { ...this.headers, 'content-type': 'application/json' };
    return this.service.call(method, path, {
      headers: body === undefined ? this.headers : headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Without streaming, unless the form says otherwise. */
  submit(path: string, form: Form = {}): Promise<Answer> {
    return this.service.submit(path, { stream: false, ...form }, { headers: this.headers });
  }

  run(agentId: string, form: Form): Promise<Answer> {
    return this.submit(`/agents/${agentId}/runs`, form);
  }

  stream(path: string, form: Form = {}): Promise<SseClient> {
    return this.service.submitForStream(path, form, { headers: this.headers });
  }
}

/** A service that requires tokens, and their holders. */
export class Gatehouse {
  private constructor(readonly service: TestService) {}

  static async open(options: RunyardOptions): Promise<Gatehouse> {
    return new Gatehouse(await startService({ ...tokenSettings, ...options }));
  }

  /** One that all tests of a file use, and that the file stops. */
  static async shared(options: RunyardOptions): Promise<Gatehouse> {
    return new Gatehouse(await TestService.start({ ...tokenSettings, ...options }));
  }

  async holder(claims: Claims): Promise<Holder> {
    return new Holder(this.service, { authorization: `Bearer ${await tokenOf(claims)}` });
  }

  /** A caller with the scopes of an ordinary user, who sees only their own. */
  person(subject: string, scopes = everydayScopes): Promise<Holder> {
    return this.holder({ sub: subject, scopes });
  }

  /** A caller whose token has no subject. */
  nobody(scopes = everydayScopes): Promise<Holder> {
    return this.holder({ scopes });
  }

  admin(subject = 'root'): Promise<Holder> {
    return this.holder({ sub: subject, scopes: [adminScope] });
  }

  /** A service account with these scopes. */
  async account(name: string, ...scopes: string[]): Promise<Holder> {
    const admin = await this.admin();
    const { status, body } = await admin.send('POST', '/service-accounts', {
      name,
      scopes: scopes.map((scope) => ({ scope })),
      allow_privileged_scopes: true,
    });
    if (status !== 201) throw new Error(`No service account: ${status} ${body.detail}`);
    return new Holder(this.service, { authorization: `Bearer ${body.token}` });
  }
}
