import { rareWord, topics } from '../../seed/texts.mjs';
import { day, get } from './requests.mjs';

export function memoryOperations({ random, facts }) {
  const { memoryIds, amounts } = facts;
  const list = (query) => get('/memories', query);
  const user = () => `user-${random.below(amounts.users)}`;
  const last = () => Math.floor(amounts.memories / 20) - random.below(5);
  const none = () => `nothing like ${random.hex(6)}`;
  const agents = ['support', 'research', 'tutor', 'concierge'];
  return [
    ['list, first page', () => list({})],
    ['list, page 100', () => list({ page: 100 })],
    ['list, last pages', () => list({ page: last() })],
    ['list, 100 at once', () => list({ limit: 100, page: 1 + random.below(10) })],
    ['list, one user', () => list({ user_id: user() })],
    ['list, the busiest user', () => list({ user_id: 'user-0' })],
    ['list, one agent', () => list({ agent_id: random.pick(agents) })],
    [
      'list, one agent, page 500',
      () => list({ agent_id: 'support', page: Math.ceil(amounts.memories / 200) }),
    ],
    ['list, one team', () => list({ team_id: 'studio' })],
    ['list, unknown user', () => list({ user_id: 'nobody' }), 'nothing'],
    ['topic, of many', () => list({ topics: 'food' })],
    ['topic, of many, page 500', () => list({ topics: 'food', page: Math.ceil(amounts.memories / 200) })],
    ['topic, of few', () => list({ topics: topics.at(-1 - random.below(20)) })],
    ['topic, of none', () => list({ topics: none() }), 'nothing'],
    ['two topics', () => list({ topics: 'food,work' })],
    ['topic of a user', () => list({ topics: 'food', user_id: 'user-0' })],
    ['topic of an agent', () => list({ topics: 'food', agent_id: 'support' })],
    ['topic and text', () => list({ topics: 'food', search_content: 'invoice' })],
    ['topic, by creation', () => list({ topics: 'food', sort_by: 'created_at' })],
    ['text, in few', () => list({ search_content: rareWord })],
    ['text, in many', () => list({ search_content: random.pick(['Likes', 'INVOICE', 'the']) })],
    [
      'text, in many, page 200',
      () => list({ search_content: 'likes', page: Math.ceil(amounts.memories / 500) }),
    ],
    ['text, in none', () => list({ search_content: none() }), 'nothing'],
    ['text of a user', () => list({ search_content: 'the', user_id: 'user-0' })],
    ['text of an agent', () => list({ search_content: 'invoice', agent_id: random.pick(agents) })],
    ['text of an agent, in none', () => list({ search_content: none(), agent_id: 'support' }), 'nothing'],
    ['text of a team', () => list({ search_content: 'invoice', team_id: 'studio' })],
    ['text, in many, by creation', () => list({ search_content: 'likes', sort_by: 'created_at' })],
    ...['created_at', 'memory_id', 'user_id'].flatMap((name) => [
      [`by ${name}`, () => list({ sort_by: name, sort_order: random.pick(['asc', 'desc']) })],
      [`by ${name}, last pages`, () => list({ sort_by: name, page: last() })],
    ]),
    ['detail', () => get(`/memories/${random.pick(memoryIds)}`)],
    ['all topics', () => get('/memory_topics')],
    ['topics of a user', () => get('/memory_topics', { user_id: 'user-0' })],
    ['statistics, first page', () => get('/user_memory_stats')],
    ['statistics, last pages', () => get('/user_memory_stats', { page: Math.floor(amounts.users / 20) })],
    ['statistics of a user', () => get('/user_memory_stats', { user_id: user() })],
  ].map(([what, request, finds]) => ({ group: 'memory', what, request, finds }));
}

export function learningOperations({ random, facts }) {
  const { learningIds, amounts } = facts;
  const list = (query) => get('/learnings', query);
  const users = (query) => get('/learnings/users', query);
  const last = { page: Math.floor(amounts.learnings / 100) };
  const filters = {
    learning_type: () => random.pick(['user_profile', 'insight']),
    user_id: () => 'user-0',
    agent_id: () => 'support',
    team_id: () => 'studio',
    namespace: () => random.pick(['sales', 'global']),
    entity_type: () => 'company',
  };
  const sorts = [...Object.keys(filters), 'entity_id', 'session_id', 'learning_id', 'created_at'];
  return [
    ['list, first page', () => list({})],
    ['list, last page', () => list(last)],
    ['list, 1,000 at once', () => list({ limit: Math.min(1000, amounts.learnings) })],
    ...Object.entries(filters).map(([name, value]) => [`list, ${name}`, () => list({ [name]: value() })]),
    ['list, session_id', () => list({ session_id: random.pick(facts.sessions).id }), 'anything'],
    ['list, entity_id', () => list({ entity_id: `entity-${random.below(2000)}` }), 'anything'],
    ['list, user and type', () => list({ user_id: 'user-0', learning_type: 'insight' }), 'anything'],
    ['list, type and namespace', () => list({ learning_type: 'insight', namespace: 'sales' })],
    ['list, none', () => list({ user_id: 'nobody' }), 'nothing'],
    ...sorts.map((name) => [
      `by ${name}`,
      () => list({ sort_by: name, sort_order: random.pick(['asc', 'desc']) }),
    ]),
    ['by namespace, last page', () => list({ sort_by: 'namespace', ...last })],
    ['users, first page', () => users({})],
    ['users, page 100', () => users({ page: Math.ceil(amounts.learnings / 200) })],
    ['users, by user', () => users({ sort_by: 'user_id' })],
    ['users, one type', () => users({ learning_type: 'insight' })],
    ['users, one', () => users({ user_id: 'user-0' })],
    ['detail', () => get(`/learnings/${random.pick(learningIds)}`)],
  ].map(([what, request, finds]) => ({ group: 'learnings', what, request, finds }));
}

export function metricsOperations({ random, facts }) {
  const date = (time) => new Date(time).toISOString().slice(0, 10);
  const week = () => {
    const from = facts.until - day * (8 + random.below(45));
    return { starting_date: date(from), ending_date: date(from + 6 * day) };
  };
  return [
    ['all days', () => get('/metrics')],
    ['one week', () => get('/metrics', week())],
    ['status of the refresh', () => get('/metrics/refresh/status')],
  ].map(([what, request]) => ({ group: 'metrics', what, request, finds: 'anything' }));
}
