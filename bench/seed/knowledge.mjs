import { foldedTopic } from '../../packages/runyard/dist/capabilities/memory/rows-store.js';
import { searchableText } from '../../packages/runyard/dist/core/learnings/learning-search.js';
import { searchText } from '../../packages/runyard/dist/platform/storage/search-text.js';
import { insertRow } from './conversations.mjs';
import { fact, paragraph, topics } from './texts.mjs';

const dayMs = 86_400_000;

/** Memories with their topics and owners. */
export async function seedMemories({ load, random, amounts, until }) {
  const owners = new Map();
  const ids = [];
  for (let position = 0; position < amounts.memories; position += 1) {
    const time = until - Math.floor((1 - position / amounts.memories) * amounts.days * dayMs);
    const user = position < amounts.users ? `user-${position}` : `user-${random.skewed(amounts.users)}`;
    const id = random.idAt(time, position);
    insertMemory(load, random, { id, user, time });
    const owner = owners.get(user);
    owners.set(user, { total: (owner?.total ?? 0) + 1, updated: time });
    ids.push(id);
    await load.settle();
  }
  for (const [user, { total, updated }] of owners)
    insertRow(load, 'memory_owners', { user_id: user, total, updated_at: updated });
  return ids;
}

function insertMemory(load, random, { id, user, time }) {
  const memory = random.chance(1 / 500) ? paragraph(random).slice(0, 5000) : fact(random);
  const about = [
    ...new Set(Array.from({ length: random.below(4) }, () => topics[random.skewed(topics.length)])),
  ];
  const byTeam = random.chance(0.2);
  insertRow(load, 'memories', {
    memory_id: id,
    user_id: user,
    agent_id: byTeam ? null : random.pick(['support', 'research', 'tutor', 'concierge']),
    team_id: byTeam ? random.pick(['help-desk', 'studio']) : null,
    created_at: time,
    updated_at: time,
    search_text: searchText(memory),
    memory,
    topics: about.length === 0 ? null : JSON.stringify(about),
  });
  for (const topic of about) {
    const owned = { memory_id: id, user_id: user, updated_at: time };
    insertRow(load, 'memory_topics', { ...owned, search_topic: foldedTopic(topic), topic });
  }
}

const types = ['user_profile', 'user_memory', 'session_context', 'entity_memory', 'decision_log', 'insight'];
const entityTypes = ['company', 'person', 'product'];

export async function seedLearnings({ load, random, amounts, until, sessions }) {
  const ids = [];
  for (let position = 0; position < amounts.learnings; position += 1) {
    const time = until - Math.floor((1 - position / amounts.learnings) * amounts.days * dayMs);
    const type = random.pick(types);
    const content = { name: `Learning ${position}`, text: fact(random), language: 'English' };
    const entity = type === 'entity_memory';
    const learning = {
      learning_id: random.idAt(time, position),
      learning_type: type,
      namespace: random.pick([null, 'global', 'user', 'sales', 'research']),
      user_id: random.chance(0.2) ? null : `user-${random.skewed(amounts.users)}`,
      agent_id: random.chance(0.5) ? random.pick(['support', 'research', 'tutor']) : null,
      team_id: random.chance(0.1) ? 'studio' : null,
      session_id: type === 'session_context' ? random.pick(sessions).id : null,
      entity_id: entity ? `entity-${random.below(2000)}` : null,
      entity_type: entity ? random.pick(entityTypes) : null,
      content: JSON.stringify(content),
      created_at: time,
      updated_at: time,
    };
    const { entity_id: entityId, entity_type: entityType } = learning;
    insertRow(load, 'learnings', {
      ...learning,
      search_text: searchableText({ content, entityId, entityType }),
    });
    ids.push(learning.learning_id);
    await load.settle();
  }
  return ids;
}
