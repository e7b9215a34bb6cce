import type { Migration } from '../database.js';

/** What agents keep about people, and what else they learn. */
export const memory: Migration = {
  version: 5,
  name: 'memory',

  up(dialect) {
    const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
    return [...memories(clustered), ...learnings];
  },

  down: () => [
    'DROP TABLE learnings',
    'DROP TABLE memory_owners',
    'DROP TABLE memory_topics',
    'DROP TABLE memories',
  ],
};

function memories(clustered: string): string[] {
  return [
    // `search_text` is the text as searches see it: both databases fold letters differently, so we do it ourselves.
    // It stands before the text, which a search does not read.
    `CREATE TABLE memories (
      memory_id text NOT NULL PRIMARY KEY,
      user_id text NOT NULL,
      agent_id text,
      team_id text,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      search_text text NOT NULL,
      memory text NOT NULL,
      topics text,
      input text
    )`,
    'CREATE INDEX memories_by_update ON memories (updated_at, memory_id)',
    'CREATE INDEX memories_by_creation ON memories (created_at, memory_id)',
    'CREATE INDEX memories_by_user ON memories (user_id, updated_at, memory_id)',
    'CREATE INDEX memories_by_agent ON memories (agent_id, updated_at, memory_id) WHERE agent_id IS NOT NULL',
    'CREATE INDEX memories_by_team ON memories (team_id, updated_at, memory_id) WHERE team_id IS NOT NULL',
    // One row for each topic of a memory, folded like `search_text`. The time is that of the memory: what is asked
    // for by topic comes in its order without looking at all the others.
    `CREATE TABLE memory_topics (
      search_topic text NOT NULL,
      memory_id text NOT NULL REFERENCES memories (memory_id) ON DELETE CASCADE,
      user_id text NOT NULL,
      updated_at bigint NOT NULL,
      topic text NOT NULL,
      CONSTRAINT memory_topics_pk PRIMARY KEY (search_topic, memory_id)
    )${clustered}`,
    'CREATE INDEX memory_topics_by_memory ON memory_topics (memory_id)',
    'CREATE INDEX memory_topics_by_update ON memory_topics (search_topic, updated_at, memory_id)',
    'CREATE INDEX memory_topics_by_user ON memory_topics (user_id, topic)',
    'CREATE INDEX memory_topics_by_topic ON memory_topics (topic)',
    // Who has memories, how many, and the time of the newest: kept with every write, so that no query has to count.
    `CREATE TABLE memory_owners (
      user_id text NOT NULL PRIMARY KEY,
      total bigint NOT NULL,
      updated_at bigint NOT NULL
    )${clustered}`,
    'CREATE INDEX memory_owners_by_update ON memory_owners (updated_at, user_id)',
  ];
}

const learnings = [
  // `search_text` is all that the content says, folded. `changes` are keys of changes by runs: each is made once.
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
    search_text text NOT NULL,
    metadata text,
    changes text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
  )`,
  'CREATE INDEX learnings_by_update ON learnings (updated_at, learning_id)',
  'CREATE INDEX learnings_by_creation ON learnings (created_at, learning_id)',
  'CREATE INDEX learnings_by_type ON learnings (learning_type, updated_at, learning_id)',
  'CREATE INDEX learnings_by_user ON learnings (user_id, updated_at, learning_id)',
  'CREATE INDEX learnings_by_owner ON learnings (user_id, namespace, updated_at, learning_id)',
  // without a namespace is the namespace `global`: those are looked for as well
  'CREATE INDEX learnings_by_namespace ON learnings (namespace, updated_at, learning_id)',
  'CREATE INDEX learnings_by_session ON learnings (session_id, updated_at) WHERE session_id IS NOT NULL',
  'CREATE INDEX learnings_by_agent ON learnings (agent_id, updated_at) WHERE agent_id IS NOT NULL',
  'CREATE INDEX learnings_by_team ON learnings (team_id, updated_at) WHERE team_id IS NOT NULL',
  'CREATE INDEX learnings_by_entity ON learnings (entity_id, updated_at) WHERE entity_id IS NOT NULL',
];
