import { spanIdOf } from '../../../packages/runyard/dist/core/traces/span.js';
import { day, get, post } from './requests.mjs';

const is = (key, value) => ({ op: 'EQ', key, value });
const all = (...conditions) => ({ op: 'AND', conditions });
const any = (...conditions) => ({ op: 'OR', conditions });
const not = (condition) => ({ op: 'NOT', condition });
const iso = (time) => new Date(time).toISOString();

export function traceOperations({ random, facts }) {
  return [
    ...listOperations(random, facts),
    ...detailOperations(random, facts),
    ...searchOperations(random, facts),
  ]
    .concat(groupOperations(random, facts))
    .map(([what, request, finds]) => ({ group: 'traces', what, request, finds }));
}

function listOperations(random, { sessions, amounts, until }) {
  const list = (query) => get('/traces', query);
  const some = () => random.pick(sessions);
  const lastDay = { start_time: iso(until - day) };
  const week = () => {
    const from = until - day * (8 + random.below(45));
    return { start_time: iso(from), end_time: iso(from + 7 * day) };
  };
  return [
    ['list, first page', () => list({})],
    ['list, page 1,000', () => list({ page: Math.ceil(amounts.runs / 200) })],
    ['list, middle pages', () => list({ page: Math.floor(amounts.runs / 40) + random.below(5) })],
    ['list, last pages', () => list({ page: Math.floor(amounts.runs / 20) - random.below(5) })],
    ['list, 100 at once', () => list({ limit: 100, page: 1 + random.below(10) })],
    ['list, run_id', () => list({ run_id: some().first })],
    ['list, session_id', () => list({ session_id: some().id })],
    ['list, session of 10,000 runs', () => list({ session_id: sessions[0].id })],
    [
      'list, its last page',
      () => list({ session_id: sessions[0].id, page: Math.floor(sessions[0].runs / 20) }),
    ],
    ['list, user_id', () => list({ user_id: some().user ?? 'user-0' })],
    ['list, the busiest user', () => list({ user_id: 'user-0' })],
    ['list, agent_id', () => list({ agent_id: random.pick(['support', 'chef']) })],
    ['list, agent_id, page 500', () => list({ agent_id: 'support', page: Math.ceil(amounts.runs / 400) })],
    ['list, team_id', () => list({ team_id: random.pick(['newsroom', 'studio']) })],
    ['list, workflow_id', () => list({ workflow_id: 'onboarding' })],
    ['list, status OK', () => list({ status: 'OK' })],
    ['list, status ERROR', () => list({ status: 'ERROR' })],
    ['list, status ERROR, page 200', () => list({ status: 'ERROR', page: Math.ceil(amounts.runs / 1000) })],
    ['list, status UNSET', () => list({ status: 'UNSET' }), 'nothing'],
    ['list, from a day on', () => list(lastDay)],
    ['list, until a day', () => list({ end_time: iso(until - 30 * day) })],
    ['list, one week', () => list(week())],
    ['list, one week, failed', () => list({ ...week(), status: 'ERROR' })],
    ['list, agent, failed', () => list({ agent_id: 'support', status: 'ERROR' })],
    ['list, agent and user', () => list({ agent_id: 'support', user_id: 'user-0' })],
    ['list, unknown user', () => list({ user_id: 'nobody' }), 'nothing'],
  ];
}

function detailOperations(random, { sessions }) {
  const traceId = (runId) => runId.replaceAll('-', '');
  const trace = ({ first }, query) => get(`/traces/${traceId(first)}`, query);
  const teams = sessions.filter(({ kind }) => kind === 'team');
  return [
    ['detail', () => trace(random.pick(sessions))],
    ['detail, team', () => trace(random.pick(teams))],
    [
      'one span',
      () => {
        const session = random.pick(sessions);
        return trace(session, { span_id: spanIdOf(session.first, '') });
      },
    ],
    ['filter schema', () => get('/traces/filter-schema')],
  ];
}

const nested = all(
  any(is('agent_id', 'support'), is('team_id', 'studio'), { op: 'STARTSWITH', key: 'name', value: 'news' }),
  not(is('status', 'ERROR')),
  any({ op: 'GT', key: 'duration_ms', value: 50 }, { op: 'CONTAINS', key: 'user_id', value: '7' }),
);

function searchOperations(random, { sessions, amounts, until }) {
  const search = (filter, more) => post('/traces/search', { filter, ...more });
  const someIds = () => Array.from({ length: 20 }, () => random.pick(sessions).id);
  const lastWeek = { op: 'GTE', key: 'start_time', value: iso(until - 7 * day) };
  return [
    ['search, no filter', () => search(null)],
    ['search, no filter, 100 at once', () => search(null, { limit: 100 })],
    [
      'search, no filter, last pages',
      () => search(null, { page: Math.floor(amounts.runs / 20) - random.below(5) }),
    ],
    ['search, status', () => search(is('status', 'ERROR'))],
    ['search, user', () => search(is('user_id', random.pick(sessions).user ?? 'user-0'))],
    ['search, several sessions', () => search({ op: 'IN', key: 'session_id', values: someIds() })],
    ['search, name contains, many', () => search({ op: 'CONTAINS', key: 'name', value: 'arun' })],
    ['search, name contains, some', () => search({ op: 'CONTAINS', key: 'name', value: 'invoice' })],
    [
      'search, name contains, none',
      () => search({ op: 'CONTAINS', key: 'name', value: random.hex(8) }),
      'nothing',
    ],
    ['search, name starts with', () => search({ op: 'STARTSWITH', key: 'name', value: 'help' })],
    [
      'search, run contains',
      () => search({ op: 'CONTAINS', key: 'run_id', value: random.hex(4) }),
      'anything',
    ],
    [
      'search, session contains, none',
      () => search({ op: 'CONTAINS', key: 'session_id', value: 'xyz' }),
      'nothing',
    ],
    ['search, long ones', () => search({ op: 'GT', key: 'duration_ms', value: 5000 }), 'anything'],
    ['search, short ones', () => search({ op: 'LT', key: 'duration_ms', value: 100 })],
    ['search, none so long', () => search({ op: 'GT', key: 'duration_ms', value: 10 ** 9 }), 'nothing'],
    ['search, not an agent', () => search(not(is('agent_id', 'support')))],
    ['search, other than', () => search({ op: 'NEQ', key: 'user_id', value: 'user-0' })],
    ['search, time and status', () => search(all(lastWeek, is('status', 'ERROR')))],
    ['search, time and name', () => search(all(lastWeek, { op: 'CONTAINS', key: 'name', value: 'chef' }))],
    ['search, either of two', () => search(any(is('user_id', 'user-3'), is('agent_id', 'chef')))],
    ['search, nested', () => search(nested)],
    ['search, nested, page 100', () => search(nested, { page: Math.ceil(amounts.runs / 2000) })],
  ];
}

function groupOperations(random, { sessions, amounts, until }) {
  const search = (filter, more) => post('/traces/search', { filter, group_by: 'session', ...more });
  const stats = (query) => get('/trace_session_stats', query);
  const last = () => ({ page: Math.floor(amounts.sessions / 20) - random.below(5) });
  return [
    ['sessions, no filter', () => search(null)],
    ['sessions, no filter, page 20', () => search(null, { page: 20 })],
    ['sessions, no filter, last pages', () => search(null, last())],
    ['sessions, status', () => search(is('status', 'ERROR'))],
    ['sessions, agent', () => search(is('agent_id', 'support'))],
    ['sessions, nested', () => search(nested)],
    [
      'sessions, name contains, none',
      () => search({ op: 'CONTAINS', key: 'name', value: random.hex(8) }),
      'nothing',
    ],
    ['statistics, first page', () => stats({})],
    ['statistics, middle pages', () => stats({ page: Math.floor(amounts.sessions / 40) + random.below(5) })],
    ['statistics, last pages', () => stats(last())],
    ['statistics, user', () => stats({ user_id: random.pick(sessions).user ?? 'user-0' })],
    ['statistics, agent', () => stats({ agent_id: 'support' })],
    [
      'statistics, agent, last pages',
      () => stats({ agent_id: 'support', page: Math.ceil(amounts.sessions / 400) }),
    ],
    ['statistics, team', () => stats({ team_id: 'studio' })],
    ['statistics, workflow', () => stats({ workflow_id: 'onboarding' })],
    ['statistics, last day', () => stats({ start_time: iso(until - day) })],
    ['statistics, until a day', () => stats({ end_time: iso(until - 30 * day) })],
  ];
}
