import type { Migration } from './migration.js';

/** What agents keep about people, and what else they learn. */
export const memory: Migration = {
  version: 5,
  name: 'memory',

  up(dialect) {
    const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
    return [...memories(clustered), ...learnings];
  },

  down: () => ['DROP TABLE learnings', 'DROP TABLE memory_topics', 'DROP TABLE memories'],
};

function memories(clustered: string): string[] {
  return [
    // `search_text` is the text as searches see it: both databases fold letters differently, so we do it ourselves.
    `CREATE TABLE memories (
      memory_id text NOT NULL PRIMARY KEY,
      user_id text NOT NULL,
      agent_id text,
      team_id text,
      memory text NOT NULL,
      search_text text NOT NULL,
      topics text,
      input text,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL
    )`,
    'CREATE INDEX memories_by_update ON memories (updated_at, memory_id)',
    'CREATE INDEX memories_by_creation ON memories (created_at, memory_id)',
    'CREATE INDEX memories_by_user ON memories (user_id, updated_at, memory_id)',
    'CREATE INDEX memories_by_agent ON memories (agent_id, updated_at, memory_id) WHERE agent_id IS NOT NULL',
    'CREATE INDEX memories_by_team ON memories (team_id, updated_at, memory_id) WHERE team_id IS NOT NULL',
    // One row for each topic of a memory, folded like `search_text`.
    `CREATE TABLE memory_topics (
      search_topic text NOT NULL,
      memory_id text NOT NULL REFERENCES memories (memory_id) ON DELETE CASCADE,
      topic text NOT NULL,
      user_id text NOT NULL,
      CONSTRAINT memory_topics_pk PRIMARY KEY (search_topic, memory_id)
    )${clustered}`,
    'CREATE INDEX memory_topics_by_memory ON memory_topics (memory_id)',
    'CREATE INDEX memory_topics_by_user ON memory_topics (user_id, topic)',
    'CREATE INDEX memory_topics_by_topic ON memory_topics (topic)',
  ];
}

const learnings = [
  `CREATE TABLE learnings (
    learning_id text NOT NULL PRIMARY KEY,
    learning_type text NOT NULL,
    namespace text,
    user_id text,
    agent_id text,
    team_id text,
    session_id text,
    entity_id text,
    entity_type text,
    content text NOT NULL,
    metadata text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
  )`,
  'CREATE INDEX learnings_by_update ON learnings (updated_at, learning_id)',
  'CREATE INDEX learnings_by_creation ON learnings (created_at, learning_id)',
  'CREATE INDEX learnings_by_type ON learnings (learning_type, updated_at, learning_id)',
  'CREATE INDEX learnings_by_user ON learnings (user_id, updated_at, learning_id)',
  'CREATE INDEX learnings_by_session ON learnings (session_id, updated_at) WHERE session_id IS NOT NULL',
  'CREATE INDEX learnings_by_agent ON learnings (agent_id, updated_at) WHERE agent_id IS NOT NULL',
  'CREATE INDEX learnings_by_team ON learnings (team_id, updated_at) WHERE team_id IS NOT NULL',
  'CREATE INDEX learnings_by_namespace ON learnings (namespace, updated_at) WHERE namespace IS NOT NULL',
  'CREATE INDEX learnings_by_entity ON learnings (entity_id, updated_at) WHERE entity_id IS NOT NULL',
];
