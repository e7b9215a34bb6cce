import { z } from 'zod';
import { lazyObject } from '../../core/schemas/lazy-schema.js';
import { formBoolean } from '../../platform/http/request/fields.js';
import { pageBody, pageQuery } from '../../platform/http/request/pagination.js';
import { defaultScopes } from './scopes.js';

const namePattern = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const nameLength = 63;
const defaultDays = 90;

const givenScope = lazyObject(
  () => ({
    scope: z
      .string()
      .max(255)
      .meta({
        description:
          'What the account may do: resource:action, or resource:id:action for one agent, team or workflow.',
        examples: ['agents:run'],
      }),
    effect: z
      .literal(['allow', 'deny'])
      .default('allow')
      .refine((effect) => effect === 'allow', 'a service account has no deny scopes; omit the scope')
      .meta({ description: 'allow; deny is rejected.' }),
  }),
  { id: 'ScopeItem', description: 'A scope to grant.' },
);

export const createAccountBody = lazyObject(
  () => ({
    name: z
      .string()
      .max(nameLength, { abort: true })
      .refine(
        (name) => namePattern.test(name),
        `name must match ${namePattern.source}: lowercase letters, digits, _ and -, starting with a letter or digit`,
      )
      .meta({
        description: 'Lowercase letters, digits, _ and -. Revoking the account frees the name.',
        pattern: namePattern.source,
        examples: ['ci-bot'],
      }),
    scopes: z
      .array(givenScope)
      .max(200)
      .nullish()
      .meta({ description: `Default: ${defaultScopes.join(', ')}.` }),
    expires_in_days: z
      .int()
      .min(1)
      .max(3650)
      .nullish()
      .meta({ description: `Default: ${defaultDays}.`, examples: [defaultDays] }),
    never_expires: z
      .boolean()
      .default(false)
      .meta({ description: 'true: the token is valid until it is revoked, and expires_in_days is ignored.' }),
    allow_privileged_scopes: z.boolean().default(false).meta({
      description:
        'Required for scopes that change or delete data, for scopes of service accounts, and for the admin scope.',
    }),
  }),
  {
    id: 'ServiceAccountCreate',
    description: 'A service account to create.',
    examples: [{ name: 'ci-bot', scopes: [{ scope: 'agents:run' }], expires_in_days: 30 }],
  },
);

export type CreateAccountBody = z.output<typeof createAccountBody>;

/** For how many days the account is valid; null: until it is revoked. */
export function daysOf({ never_expires, expires_in_days }: CreateAccountBody): number | null {
  return never_expires ? null : (expires_in_days ?? defaultDays);
}

export const listAccountsQuery = lazyObject(() => ({
  include_revoked: formBoolean()
    .default(true)
    .meta({ description: 'Whether the list includes revoked accounts.' }),
  ...pageQuery({ default: 20, max: 100 }),
  sort_by: z.string().default('created_at').meta({
    description: 'created_at, name, last_used_at or expires_at; other values mean created_at.',
  }),
  sort_order: z.string().default('desc').meta({
    description: 'asc: smallest or oldest first; other values: largest or newest first.',
  }),
}));

export const accountParams = lazyObject(() => ({
  service_account_id: z.string().meta({ description: 'The identifier of the service account.' }),
}));

const seconds = () => z.int().meta({ description: 'Seconds since 1970, UTC.' });

const scopeBody = lazyObject(
  () => ({
    id: z.string().nullable(),
    raw: z.string().meta({ description: 'The scope as granted.' }),
    namespace: z.string().meta({ description: 'The resource.' }),
    sub_namespace: z.string().nullable().meta({
      description:
        'The id of the one component that the scope covers; * for any; null for the whole resource.',
    }),
    permission: z.string().meta({ description: 'The action.' }),
    value: z.string().meta({ description: 'allow.' }),
  }),
  { id: 'ServiceAccountScope', description: 'A parsed scope.' },
);

const accountFields = () => ({
  id: z.string(),
  name: z.string(),
  principal: z.string().meta({ description: 'The user id that the account acts under: sa:<name>.' }),
  user_id: z.string().nullable().meta({ description: 'The user who is responsible for the account.' }),
  token_prefix: z.string().meta({ description: 'The first characters of the token, to recognise it.' }),
  scopes: z.array(scopeBody),
  created_at: seconds(),
  expires_at: seconds().nullable(),
  last_used_at: seconds().nullable(),
  revoked_at: seconds().nullable(),
  created_by: z.string().nullable(),
});

const accountBody = lazyObject(accountFields, {
  id: 'ServiceAccount',
  description: 'The identity of a program.',
});

export const newAccountBody = lazyObject(
  () => ({
    ...accountFields(),
    token: z.string().meta({ description: 'Shown only in this response; the service stores only its hash.' }),
  }),
  { id: 'NewServiceAccount', description: 'A service account with its token.' },
);

export const accountsPage = pageBody(accountBody, 'ServiceAccountsPage');
