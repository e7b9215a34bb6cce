import { rareWord } from '../../seed/texts.mjs';
import { day, get } from './requests.mjs';

/** Each: what it is, and one request of it. Those that find nothing say so. */
export function sessionOperations({ random, facts }) {
  const { sessions, amounts, until } = facts;
  const longest = sessions[0];
  const any = () => random.pick(sessions);
  const list = (query) => get('/sessions', query);
  const deep = () => ({ page: Math.floor(amounts.sessions / 20) - random.below(5) });
  const agents = ['support', 'writer', 'chef', 'tutor'];
  const sorts = ['updated_at', 'session_id', 'user_id', 'session_type', 'agent_id', 'team_id', 'workflow_id'];
  const week = () => {
    const from = until - day * (8 + random.below(50));
    return { created_after: Math.floor(from / 1000), created_before: Math.floor((from + 7 * day) / 1000) };
  };
  return [
    ['list, first page', () => list({})],
    ['list, page 100', () => list({ page: 100 })],
    ['list, last pages', () => list(deep())],
    ['list, 100 at once', () => list({ limit: 100, page: 1 + random.below(10) })],
    ...['agent', 'team', 'workflow'].map((type) => [`list, type ${type}`, () => list({ type })]),
    ['list, type agent, page 1,000', () => list({ type: 'agent', page: Math.ceil(amounts.sessions / 50) })],
    ['list, one component', () => list({ component_id: random.pick(agents) })],
    [
      'list, one component, page 100',
      () => list({ component_id: 'support', page: Math.ceil(amounts.sessions / 500) }),
    ],
    ['list, one user', () => list({ user_id: any().user ?? 'user-0' })],
    ['list, the busiest user, by update', () => list({ user_id: 'user-0', sort_by: 'updated_at' })],
    ['list, user and type', () => list({ user_id: 'user-0', type: 'agent' })],
    ['list, one week', () => list(week())],
    ['list, one week and type', () => list({ ...week(), type: 'team' })],
    ['list, unknown user', () => list({ user_id: 'nobody' }), 'nothing'],
    ['name, in few', () => list({ session_name: rareWord })],
    ['name, in many', () => list({ session_name: random.pick(['Invoice', 'LISBON', 'contract']) })],
    [
      'name, in many, page 20',
      () => list({ session_name: 'invoice', page: Math.ceil(amounts.sessions / 2500) }),
    ],
    ['name, in none', () => list({ session_name: `nothing like ${random.hex(6)}` }), 'nothing'],
    ['name, in many, by update', () => list({ session_name: 'invoice', sort_by: 'updated_at' })],
    ['name, in few, by update', () => list({ session_name: rareWord, sort_by: 'updated_at' })],
    [
      'name, in none, by update',
      () => list({ session_name: 'none at all', sort_by: 'updated_at' }),
      'nothing',
    ],
    ['name, in many, by user', () => list({ session_name: 'invoice', sort_by: 'user_id' })],
    ['name, in many, of a type', () => list({ session_name: 'invoice', type: 'team' })],
    ['name, in many, of a user', () => list({ session_name: 'the', user_id: 'user-0' })],
    ...sorts.flatMap((name) => [
      [`by ${name}`, () => list({ sort_by: name, sort_order: random.pick(['asc', 'desc']) })],
      [`by ${name}, last pages`, () => list({ sort_by: name, ...deep() })],
    ]),
    ['detail', () => get(`/sessions/${any().id}`)],
    ['detail, session of 10,000 runs', () => get(`/sessions/${longest.id}`)],
    ['runs of a session', () => get(`/sessions/${any().id}/runs`)],
    ['runs of the longest, first 20', () => get(`/sessions/${longest.id}/runs`, { limit: 20 })],
    [
      'runs of the longest, last 20',
      () => get(`/sessions/${longest.id}/runs`, { limit: 20, page: Math.floor(longest.runs / 20) }),
    ],
    [
      'runs of the longest, of one day',
      () =>
        get(`/sessions/${longest.id}/runs`, { created_after: Math.floor((until - day) / 1000), limit: 20 }),
    ],
    ['run of a session', () => runOf(any())],
    ['run of the longest session', () => runOf(longest)],
    ['run of a member', () => runOf(random.pick(facts.members))],
  ].map(([what, request, finds]) => ({ group: 'sessions', what, request, finds }));
}

function runOf({ id, first }) {
  return get(`/sessions/${id}/runs/${first}`);
}
