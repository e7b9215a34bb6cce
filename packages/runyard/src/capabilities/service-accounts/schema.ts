import { z } from 'zod';
import { formBoolean } from '../../platform/http/fields.js';
import { pageBody, pageQuery } from '../../platform/http/pagination.js';
import { defaultScopes } from './scopes.js';

const namePattern = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const nameLength = 63;
const defaultDays = 90;

const givenScope = z
  .object({
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
      .refine((effect) => effect === 'allow', 'a service account has no deny scopes; leave the scope out')
      .meta({ description: 'allow; deny is refused.' }),
  })
  .meta({ id: 'ScopeItem', description: 'A scope to give.' });

export const createAccountBody = z
  .object({
    name: z
      .string()
      .max(nameLength, { abort: true })
      .refine(
        (name) => namePattern.test(name),
        `name must match ${namePattern.source}: small letters, digits, _ and -, beginning with a letter or digit`,
      )
      .meta({
        description: 'Small letters, digits, _ and -. It is free again when the account is revoked.',
        pattern: namePattern.source,
        examples: ['ci-bot'],
      }),
    scopes: z
      .array(givenScope)
      .max(200)
      .nullish()
      .meta({ description: `Left out: ${defaultScopes.join(', ')}.` }),
    expires_in_days: z
      .int()
      .min(1)
      .max(3650)
      .nullish()
      .meta({ description: `Left out: ${defaultDays}.`, examples: [defaultDays] }),
    never_expires: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether the token is good until it is revoked, whatever expires_in_days says.' }),
    allow_privileged_scopes: z.boolean().default(false).meta({
      description:
        'Needed for scopes that let change or delete things, for those of service accounts, and for the admin scope.',
    }),
  })
  .meta({
    id: 'ServiceAccountCreate',
    description: 'A service account to make.',
    examples: [{ name: 'ci-bot', scopes: [{ scope: 'agents:run' }], expires_in_days: 30 }],
  });

export type CreateAccountBody = z.output<typeof createAccountBody>;

/** For how many days the account is good; null: until it is revoked. */
export function daysOf({ never_expires, expires_in_days }: CreateAccountBody): number | null {
  return never_expires ? null : (expires_in_days ?? defaultDays);
}

export const listAccountsQuery = z.object({
  include_revoked: formBoolean()
    .default(true)
    .meta({ description: 'Whether accounts are listed that were revoked.' }),
  ...pageQuery({ default: 20, max: 100 }),
  sort_by: z.string().default('created_at').meta({
    description: 'created_at, name, last_used_at or expires_at; anything else means created_at.',
  }),
  sort_order: z.string().default('desc').meta({
    description: 'asc: the smallest or oldest first; anything else: the other way round.',
  }),
});

export const accountParams = z.object({
  service_account_id: z.string().meta({ description: 'The identifier of the service account.' }),
});

const seconds = () => z.int().meta({ description: 'Seconds since 1970, UTC.' });

const scopeBody = z
  .object({
    id: z.string().nullable(),
    raw: z.string().meta({ description: 'The scope as it was given.' }),
    namespace: z.string().meta({ description: 'The resource.' }),
    sub_namespace: z.string().nullable().meta({
      description: 'The one of the resource that it is for; * for any; null for all of the resource.',
    }),
    permission: z.string().meta({ description: 'The action.' }),
    value: z.string().meta({ description: 'allow.' }),
  })
  .meta({ id: 'ServiceAccountScope', description: 'A scope in its parts.' });

const accountFields = {
  id: z.string(),
  name: z.string(),
  principal: z.string().meta({ description: 'The user id that it acts under: sa: and its name.' }),
  user_id: z.string().nullable().meta({ description: 'Who answers for it.' }),
  token_prefix: z.string().meta({ description: 'How the token begins, to recognise it by.' }),
  scopes: z.array(scopeBody),
  created_at: seconds(),
  expires_at: seconds().nullable(),
  last_used_at: seconds().nullable(),
  revoked_at: seconds().nullable(),
  created_by: z.string().nullable(),
};

const accountBody = z
  .object(accountFields)
  .meta({ id: 'ServiceAccount', description: 'The identity of a program.' });

export const newAccountBody = z
  .object({
    ...accountFields,
    token: z.string().meta({ description: 'Shown this once; only its hash is stored.' }),
  })
  .meta({ id: 'NewServiceAccount', description: 'A service account with its token.' });

export const accountsPage = pageBody(accountBody, 'ServiceAccountsPage');
