import { z } from 'zod';

/** One value of one source, with the words by which its reader knows it. */
export interface SourceValue {
  readonly name: string;
  readonly value: unknown;
  readonly label: string;
}

interface SchemaDescription {
  readonly type?: string;
  /** What it may be instead of each other: the first says what kind of value it is. */
  readonly anyOf?: readonly { readonly type?: string }[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly allowed?: string;
}

function describe(schema: z.ZodType): SchemaDescription {
  // the keywords that are read of it have these types in every JSON schema
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as SchemaDescription;
}

export function schemaKind(schema: z.ZodType): string {
  const { type, anyOf } = describe(schema);
  return type ?? anyOf?.[0]?.type ?? 'string';
}

/** What a value would have to be; `allowed` says it where the schema cannot. */
interface Expected {
  readonly schema: z.ZodType;
  readonly allowed: string | undefined;
}

/** What is no name may be a misplaced value, which may hold a password. */
const isName = /^[\w.-]{1,64}$/;

/** One line: the source, the key, the value and what is allowed. */
export function describeFault(given: SourceValue, expected: Expected, error: z.ZodError): string {
  const issues = firstIssues(error.issues[0]);
  const inner = issues
    .flatMap(({ path }) => path.map(String))
    .filter((part) => !secretSettings.has(given.name) || isName.test(part))
    .join('.');
  const place = inner ? `${given.label} at "${inner}"` : given.label;
  return `${place} is ${showValue(given)}${reasonOf(issues.at(-1))}; allowed: ${allowedValues(expected, given.name)}.`;
}

/** An issue, and where there are alternatives the one in the alternative that the value resembles. */
function firstIssues(issue: z.core.$ZodIssue | undefined): z.core.$ZodIssue[] {
  if (issue === undefined) return [];
  if (issue.code !== 'invalid_union') return [issue];
  const isWithin = ({ path, code }: z.core.$ZodIssue) => path.length > 0 || code === 'unrecognized_keys';
  const resembled = issue.errors.map(([first]) => first).find((first) => first && isWithin(first));
  return [issue, ...firstIssues(resembled)];
}

function reasonOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'custom') return ` (${issue.message})`;
  if (issue?.code !== 'unrecognized_keys') return '';
  const names = issue.keys.filter((key) => isName.test(key));
  return names.length === 0 ? '' : ` (unknown: ${names.join(', ')})`;
}

function allowedValues({ schema, allowed }: Expected, name: string): string {
  if (allowed !== undefined) return allowed;
  const description = describe(schema);
  if (description.allowed) return description.allowed;
  if (description.enum) return description.enum.map(String).join(', ');
  switch (description.type) {
    case 'integer':
      return `a whole number ${name.endsWith('Ms') ? 'of milliseconds ' : ''}from ${description.minimum} to ${description.maximum}`;
    case 'boolean':
      return 'true or false';
    default:
      return description.maxLength
        ? `a text of 1 to ${description.maxLength} characters`
        : 'a text that is not empty';
  }
}

/** They may hold a password, whole or garbled: named without their value. */
const secretSettings = new Set([
  'database',
  'databases',
  'redis',
  'databaseDirectUrl',
  'databaseReplicaUrl',
  'otlpEndpoint',
  'otlpHeaders',
  'jwtKeys',
  'jwksUrl',
  'securityKey',
  'mcpOauthSecret',
  'mcpOauthSigningKey',
]);

function showValue(given: SourceValue): string {
  if (secretSettings.has(given.name)) return '(value not shown: it may hold a password)';
  const text = JSON.stringify(given.value) ?? String(given.value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/** The database as a log or an error may name it: where it is, without user and password. */
export function databaseLabel(url: string): string {
  if (url.startsWith('sqlite:')) return url;
  try {
    // several hosts have several ports
    const [, hosts = ''] = /^[^/]*\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(url) ?? [];
    const parsed = new URL(url.replace(hosts, hosts.split(',', 1)[0] ?? ''));
    return `${parsed.protocol}//${hosts}${parsed.pathname}`;
  } catch {
    return '(a database URL that cannot be read)';
  }
}
