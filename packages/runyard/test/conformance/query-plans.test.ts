import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RecallStore } from '../../src/capabilities/recall/store.js';
import type { Database } from '../../src/platform/storage/database.js';
import { defaultOf, slicedTables } from '../../src/platform/storage/slices.js';
import { forEachDatabase } from '../support/databases.js';
import { openExplainer, recordSql } from '../support/recorded-sql.js';
import { startService, type TestService } from '../support/service.js';

const start = Date.UTC(2026, 2, 1);
const iso = (milliseconds: number) => new Date(start + milliseconds).toISOString();
const id = (position: number) => `019caa00-0000-7000-8000-${String(position).padStart(12, '0')}`;

/** More than what is sorted or grouped in the process, so that the database is asked for all of it. */
const traces = 6_000;

/** The large tables. */
const large = [
  ...[
    'sessions',
    'session_state',
    'session_summaries',
    'runs',
    'steps',
    'event_blocks',
    'run_usage',
    'traces',
  ],
  ...['memories', 'memory_topics', 'learnings', 'recall_vectors'],
  ...['components', 'component_configs', 'component_revisions', 'component_links', 'component_changes'],
];

/** Known exceptions that are fine. */
interface Exception {
  /**
   * Tables that are gone through from end to end along an index, or in the order of their key: there is nothing to
   * choose by, or only a part of a text.
   */
  readonly walks?: readonly string[];
  /** The same of PostgreSQL alone: of few rows, most of which fit, it may take them all. */
  readonly postgresWalks?: readonly string[];
  /** All that fits is sorted. Only SQLite is asked: PostgreSQL sorts what it takes to be few. */
  readonly sorts?: true;
}

const lists: readonly (readonly [path: string, exception?: Exception])[] = [
  ['/sessions', { walks: ['sessions'] }],
  ['/sessions?page=3', { walks: ['sessions'] }],
  ['/sessions?type=team'],
  ['/sessions?component_id=writer'],
  ['/sessions?user_id=user-1'],
  ['/sessions?user_id=user-1&sort_by=updated_at', { sorts: true }],
  ['/sessions?session_name=nine', { walks: ['sessions'] }],
  ['/sessions?session_name=nine&sort_by=updated_at', { walks: ['sessions'], sorts: true }],
  [`/sessions?created_after=${start / 1000}&created_before=${start / 1000 + 60}`],
  ['/sessions?sort_by=session_id', { walks: ['sessions'] }],
  ...['updated_at', 'user_id', 'session_type', 'agent_id', 'team_id', 'workflow_id'].map(
    (name) => [`/sessions?sort_by=${name}`, { walks: ['sessions'] }] as const,
  ),
  ['/sessions/session-1'],
  ['/sessions/session-1/runs'],
  ['/sessions/session-1/runs?limit=2&page=2'],
  [`/sessions/session-1/runs/${id(1)}`],
  ['/a2a/agents/writer/tasks'],
  ['/a2a/agents/writer/tasks?status=TASK_STATE_COMPLETED'],
  ['/a2a/agents/writer/tasks?contextId=session-1'],
  [`/a2a/agents/writer/tasks?statusTimestampAfter=${iso(0)}`],
  [
    `/a2a/agents/writer/tasks?pageToken=${Buffer.from(JSON.stringify([start + 60_000, id(9)])).toString('base64url')}`,
  ],
  ['/memories', { walks: ['memories'] }],
  ['/memories?user_id=user-1'],
  ['/memories?agent_id=writer'],
  ['/memories?team_id=crew'],
  ['/memories?topics=food'],
  ['/memories?topics=food,work'],
  ['/memories?topics=food&user_id=user-1'],
  ['/memories?search_content=nine&user_id=user-1'],
  ['/memories?search_content=nine', { walks: ['memories'] }],
  ['/memories?search_content=nine&agent_id=writer'],
  ...['created_at', 'memory_id', 'user_id'].map(
    (name) => [`/memories?sort_by=${name}`, { walks: ['memories'] }] as const,
  ),
  [`/memories/${id(1)}`],
  ['/memory_topics'],
  ['/memory_topics?user_id=user-1'],
  ['/user_memory_stats'],
  ['/user_memory_stats?user_id=user-1'],
  ['/learnings', { walks: ['learnings'] }],
  ['/learnings?sort_by=created_at', { walks: ['learnings'] }],
  ['/learnings?learning_type=insight'],
  ['/learnings?user_id=user-1'],
  ['/learnings?agent_id=writer'],
  ['/learnings?team_id=crew'],
  ['/learnings?session_id=session-1'],
  ['/learnings?namespace=sales'],
  ['/learnings?namespace=global', { sorts: true }],
  ['/learnings?sort_by=learning_id', { walks: ['learnings'] }],
  ['/learnings?entity_id=entity-1'],
  ['/learnings/users', { sorts: true }],
  ['/learnings/users?user_id=user-1', { sorts: true }],
  [`/learnings/${id(1)}`],
  ['/metrics'],
  ['/metrics/refresh/status'],
  ['/info'],
  ['/traces', { walks: ['traces'] }],
  ['/traces?page=30', { walks: ['traces'] }],
  [`/traces?run_id=${id(1)}`],
  ['/traces?session_id=session-1'],
  ['/traces?user_id=user-1'],
  ['/traces?agent_id=writer'],
  ['/traces?team_id=crew'],
  ['/traces?status=OK', { walks: ['traces'] }],
  ['/traces?status=ERROR'],
  [`/traces?start_time=${iso(5_000)}`],
  [`/traces?end_time=${iso(5_000)}`],
  [`/traces/${id(1).replaceAll('-', '')}`],
  ['/trace_session_stats', { walks: ['traces'] }],
  ['/trace_session_stats?limit=1000', { walks: ['traces'], sorts: true }],
  ['/traces?page=299', { walks: ['traces'] }],
  ['/trace_session_stats?user_id=user-1'],
  ['/trace_session_stats?agent_id=writer'],
  [`/trace_session_stats?start_time=${iso(5_000)}`],
  ['/components', { walks: ['components'] }],
  ['/components?component_type=team'],
  ...['', '/configs', '/configs?include_config=false', '/configs/1', '/configs/current'].map(
    (path) => [`/components/c-1${path}`] as const,
  ),
  ...['dependents', 'history', 'diff?from=1&to=1'].map((path) => [`/components/c-1/${path}`] as const),
];

/** What the process asks between requests: which runs and jobs wait, few of all, and the oldest come first. */
const looksForWork = /coalesce\(lease_expires_at, 0\)|wake_at IS NOT NULL/;

const is = (key: string, value: string) => ({ op: 'EQ', key, value });

const searches: readonly (readonly [name: string, body: object, exception?: Exception])[] = [
  ['everything', {}, { walks: ['traces'] }],
  ['one status', { filter: is('status', 'ERROR') }],
  ['one user', { filter: is('user_id', 'user-1') }],
  ['a part of a name', { filter: { op: 'CONTAINS', key: 'name', value: 'crew' } }],
  ['long ones', { filter: { op: 'GT', key: 'duration_ms', value: 90 } }, { walks: ['traces'] }],
  [
    'conditions in each other',
    {
      filter: {
        op: 'AND',
        conditions: [
          { op: 'OR', conditions: [is('agent_id', 'writer'), is('team_id', 'crew')] },
          { op: 'NOT', condition: is('status', 'ERROR') },
        ],
      },
    },
    { walks: ['traces'] },
  ],
  ['the sessions of everything', { group_by: 'session' }, { walks: ['traces'] }],
  [
    'the sessions of long ones',
    { group_by: 'session', filter: { op: 'GT', key: 'duration_ms', value: 90 } },
    { walks: ['traces'] },
  ],
  [
    'the sessions of an agent',
    { group_by: 'session', filter: is('agent_id', 'writer') },
    { postgresWalks: ['traces'] },
  ],
];

describe('what lists, searches and details ask the database is found by an index', () => {
  forEachDatabase((dialect, _freshPlace, emptyPlace) => {
    it('whatever they are filtered and sorted by', async () => {
      const place = await emptyPlace();
      const database = await place.open();
      await fill(database);
      const service = await startService({ database: place.url, a2a: true, traceRetentionDays: 0 });
      const explainer = await openExplainer(place);
      const sent = recordSql({ dialect });
      onTestFinished(async () => {
        vi.restoreAllMocks();
        await explainer.close();
      });
      const faults: string[] = [];
      const ask = async (what: string, work: () => Promise<unknown>, exception: Exception = {}) => {
        sent();
        await work();
        for (const statement of sent()) {
          if (!/^\s*(select|with)\b/i.test(statement.sql) || looksForWork.test(statement.sql)) continue;
          const plan = await explainer.planOf(statement);
          for (const fault of faultsOf(plan, exceptionOn(dialect, exception)))
            faults.push(`${what}: ${fault} in\n${statement.sql}`);
        }
      };
      for (const [path, exception] of lists) await ask(path, () => get(service, path), exception);
      for (const [name, body, exception] of searches)
        await ask(`search ${name}`, () => search(service, body), exception);
      const recall = new RecallStore(database);
      const owner = { userId: 'user-1', kind: 'agent', componentId: 'writer' } as const;
      const vector = Float32Array.of(1, 0);
      const near = { vector, embedder: 'test:two', limit: 2, threshold: 0, before: 1, after: 1, except: [] };
      await ask('recall of a user', () => recall.nearest(owner, near));
      await ask('recall in a session', () => recall.nearest({ ...owner, sessionId: 'session-1' }, near));
      expect(faults.join('\n\n')).toBe('');
    });
  });
});

function exceptionOn(dialect: string, { walks = [], postgresWalks = [], ...rest }: Exception): Exception {
  return { ...rest, walks: dialect === 'postgres' ? [...walks, ...postgresWalks] : walks };
}

function faultsOf(plan: readonly string[], { walks = [], sorts }: Exception): string[] {
  const whole = plan.flatMap((line, at) => walkedTable(line, plan[at + 1] ?? ''));
  const unknown = new Set(whole.filter((table) => !walks.includes(table)));
  const sorted = plan.filter((line) => line === 'USE TEMP B-TREE FOR ORDER BY' && !sorts);
  return [...[...unknown].map((table) => `all of ${table}`), ...sorted];
}

/** The large table that a line of a plan reads from end to end, along an index or without. */
function walkedTable(line: string, next: string): string[] {
  const [, sqlite] = /^SCAN (\w+)/.exec(line) ?? [];
  const [, scan, postgres] = /(Seq|Index|Index Only) Scan .*?\bon (\w+)/.exec(line) ?? [];
  const isWalked = scan === 'Seq' || !next.startsWith('Index Cond:');
  // the index of the failed ones holds nothing else
  if (/ traces_failed\b/.test(line)) return [];
  // of the tables that have partitions, the rows of this test are in the one for what is no time to come
  const table = sqlite ?? (isWalked ? postgres?.replace(/_default$/, '') : undefined);
  return table !== undefined && large.includes(table) ? [table] : [];
}

async function get(service: TestService, path: string): Promise<void> {
  // routes of A2A are described by their protocol
  const { status } = path.startsWith('/a2a') ? await fetch(service.url + path) : await service.get(path);
  expect(status, path).toBe(200);
}

async function search(service: TestService, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await service.call('POST', '/traces/search', { headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
}

/** Rows of every table, made by the database itself. */
async function fill(database: Database): Promise<void> {
  const position = database.dialect === 'sqlite' ? `printf('%012d', n)` : `lpad(n::text, 12, '0')`;
  const runId = `'019caa00-0000-7000-8000-' || ${position}`;
  // the numbers 1 and 0
  const vector = database.dialect === 'sqlite' ? `x'0000803f00000000'` : `'\\x0000803f00000000'::bytea`;
  const traceId = `'019caa00000070008000' || ${position}`;
  const insert = (table: string, count: number, values: Readonly<Record<string, string>>) =>
    `INSERT INTO ${table} (${Object.keys(values).join(', ')})
     WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
     SELECT ${Object.values(values).join(', ')} FROM numbers`;
  const times = { created_at: `${start} + n`, updated_at: `${start} + n` };
  const component = { kind: `'agent'`, component_id: `'writer'` };
  const session = { session_id: `'session-' || (n % 300)` };
  const user = { user_id: `'user-' || (n % 50)` };
  const tokens = ['input', 'output', 'total', 'audio_input', 'audio_output', 'audio_total', 'cache_read'];
  const counts = [...tokens, 'cache_write', 'reasoning'].map((name) => [`${name}_tokens`, '1'] as const);
  const statements = [
    insert('sessions', 300, {
      session_id: `'session-' || (n - 1)`,
      ...component,
      ...user,
      name: `'Nine ' || n`,
      search_name: `'nine ' || n`,
      ...times,
    }),
    insert('runs', 900, {
      run_id: runId,
      ...component,
      ...session,
      ...user,
      input: `'{"content":"Hello","media":[],"options":{"stream":false}}'`,
      status: `'completed'`,
      attempt: '1',
      next_event_index: '0',
      ...times,
    }),
    insert('steps', 900, {
      run_id: runId,
      seq: '0',
      key: `'model:0'`,
      kind: `'model'`,
      name: `'gpt'`,
      status: `'completed'`,
      attempt: '1',
      output: `'{"content":"Hi","finishReason":"stop","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"timeToFirstToken":0}'`,
      started_at: `${start} + n`,
      ended_at: `${start} + n + 1`,
    }),
    insert('run_usage', 900, {
      ...session,
      run_id: runId,
      purpose: `''`,
      provider: `'Test'`,
      model: `'gpt'`,
      kind: `'agent'`,
      ...user,
      day: `${start / 86_400_000}`,
      run_count: '1',
      ...Object.fromEntries(counts),
      updated_at: `${start} + n`,
    }),
    insert('recall_vectors', 900, { run_id: runId, embedder: `'test:two'`, vector }),
    insert('traces', traces, {
      run_id: runId,
      trace_id: traceId,
      name: `CASE WHEN n % 7 = 0 THEN 'Crew.arun' ELSE 'Writer.arun' END`,
      status: `CASE WHEN n % 9 = 0 THEN 'ERROR' ELSE 'OK' END`,
      kind: `CASE WHEN n % 7 = 0 THEN 'team' ELSE 'agent' END`,
      component_id: `CASE WHEN n % 7 = 0 THEN 'crew' ELSE 'writer' END`,
      ...session,
      ...user,
      start_time: `${start} + n`,
      end_time: `${start} + n + n % 100`,
    }),
    insert('memories', 900, {
      memory_id: runId,
      ...user,
      agent_id: `CASE WHEN n % 2 = 0 THEN 'writer' END`,
      team_id: `CASE WHEN n % 2 = 1 THEN 'crew' END`,
      search_text: `'number nine ' || n`,
      memory: `'Number nine ' || n`,
      topics: `'["food"]'`,
      ...times,
    }),
    ...['food', 'work'].map((topic) =>
      insert('memory_topics', 900, {
        search_topic: `'${topic}'`,
        memory_id: runId,
        ...user,
        updated_at: `${start} + n`,
        topic: `'${topic}'`,
      }),
    ),
    insert('memory_owners', 50, { user_id: `'user-' || (n - 1)`, total: '18', updated_at: `${start} + n` }),
    insert('learnings', 900, {
      learning_id: runId,
      learning_type: `CASE WHEN n % 2 = 0 THEN 'insight' ELSE 'user_profile' END`,
      namespace: `CASE WHEN n % 2 = 0 THEN 'sales' END`,
      ...user,
      agent_id: `'writer'`,
      team_id: `CASE WHEN n % 3 = 0 THEN 'crew' END`,
      ...session,
      entity_id: `'entity-' || n`,
      content: `'{"text":"nine"}'`,
      search_text: `'nine'`,
      ...times,
    }),
  ];
  const stored = { component_id: `'c-' || n`, version: '1' };
  statements.push(
    insert('components', 900, {
      component_id: `'c-' || n`,
      component_type: `CASE WHEN n % 9 = 0 THEN 'team' ELSE 'agent' END`,
      name: `'Component'`,
      ...{ last_version: '1', revision: '1', changes: '1' },
      created_at: `${start} + n`,
    }),
    insert('component_configs', 900, {
      ...stored,
      ...{ stage: `'draft'`, revision: '1', created_at: `${start} + n` },
    }),
    insert('component_revisions', 900, {
      ...stored,
      ...{ revision: '1', config: `'{}'`, links: `'[]'`, saved_at: `${start} + n` },
    }),
    insert('component_links', 900, {
      ...stored,
      ...{
        position: '0',
        link_kind: `'member'`,
        link_key: `'member_0'`,
        child_component_id: `'c-' || (n % 50)`,
      },
    }),
    insert('component_changes', 900, {
      component_id: `'c-' || n`,
      ...{ number: '1', action: `'created'`, fields: `'[]'`, changed_at: `${start} + n` },
    }),
  );
  // once autovacuum has counted that a value is common, PostgreSQL rightly walks along the order for it
  if (database.dialect === 'postgres')
    statements.unshift(
      ...large.map((table) => {
        const filled = Object.hasOwn(slicedTables, table) ? defaultOf(table) : table;
        return `ALTER TABLE ${filled} SET (autovacuum_enabled = false)`;
      }),
    );
  await database.transaction(async (run) => {
    for (const sql of statements) await run(sql);
  });
}
