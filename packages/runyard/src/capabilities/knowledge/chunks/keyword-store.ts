import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KnowledgeFilter } from '../../../core/knowledge/filter.js';
import { termLevels, termScore, weightOfTerm } from '../../../core/knowledge/search/keyword-score.js';
import { queryTerms } from '../../../core/knowledge/search/terms.js';
import type { Database, Dialect, Statement } from '../../../platform/storage/database.js';
import { facetQueryOf, type TermQuery } from './filter-facets.js';
import { filterSql, termQueryText } from './filter-store.js';
import { wordTerm } from './index-terms.js';
import { published, termsMatch, versionOfRow } from './search-store.js';
import { numbered, readRows } from './sql-store.js';
import type { IndexRow } from './version-store.js';

/** A term that more chunks have says little: where the query has others, it does not count. */
const mostChunksOfTerm = 5_000;
/** Chunks that are read of those that have a term often: more than there can be, but for other versions and filters. */
const mostRead = 20_000;

interface Posting {
  readonly rowId: number;
  /** How many terms the chunk has. */
  readonly length: number;
}

interface PostingsRow {
  readonly ids: string | null;
  readonly lengths: string | null;
}

/**
 * No order: sorting would read all of them before the limit applies. PostgreSQL gets the term as a part of its own, with a
 * fixed limit: if the limit is a parameter, or many chunks were added lately, it reads the terms of all chunks instead
 * of searching the index.
 */
function postingsSql(dialect: Dialect, condition?: string): string {
  const { from, rowId, where } = termsMatch[dialect];
  const isFenced = dialect === 'postgres' && condition === undefined;
  return `SELECT ${list(dialect, 'row_id')} AS ids, ${list(dialect, 'tokens')} AS lengths FROM (
      SELECT b.row_id, b.tokens FROM ${isFenced ? `(${rowsOfTermSql(dialect)}) AS t` : from}
      JOIN knowledge_bits AS b ON b.row_id = ${rowId}
      JOIN knowledge_versions AS v ON ${versionOfRow(rowId)}
      ${condition === undefined ? '' : `JOIN knowledge_chunks AS c ON c.row_id = ${rowId}`}
      WHERE ${isFenced ? '' : `${where} AND`} ${published} ${condition === undefined ? '' : `AND ${condition}`}
      LIMIT ${mostChunksOfTerm + 1}
    ) AS found`;
}

function rowsOfTermSql(dialect: Dialect): string {
  const { from, rowId, where } = termsMatch[dialect];
  return `SELECT ${rowId} AS row_id FROM ${from} WHERE ${where} LIMIT ${mostRead}`;
}

const readPostings = forBoth('keyword_postings', postingsSql);
const readRowIds = forBoth(
  'keyword_row_ids',
  (dialect) => `SELECT ${list(dialect, 'row_id')} AS ids FROM (${rowsOfTermSql(dialect)}) AS found`,
);

function forBoth(name: string, sql: (dialect: Dialect) => string): Statement {
  return { name, sqlite: sql('sqlite'), postgres: numbered(sql('postgres')) };
}

/** The chunks that have words of a query, with their scores. */
export class KeywordStore {
  constructor(private readonly database: Database) {}

  async search(
    index: IndexRow,
    query: string,
    filter: KnowledgeFilter | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<number, number>> {
    const average = index.chunks === 0 ? 1 : index.tokens / index.chunks;
    const scores = new Map<number, number>();
    const common: (readonly Posting[])[] = [];
    for (const word of queryTerms(query)) {
      signal?.throwIfAborted();
      const levels: (readonly Posting[] | undefined)[] = [];
      for (const [level] of termLevels.entries()) {
        const postings = await this.#level(index.knowledge_no, level, word, filter, levels[0]);
        const isCommon = postings.length > mostChunksOfTerm;
        levels.push(isCommon ? undefined : postings);
        if (isCommon) common[level] ??= postings;
        if (postings.length === 0) break;
        // SQLite has just read on this thread
        await nextTurn();
      }
      addScores(scores, levels, index, average);
    }
    // only words that nearly every chunk has: some of those that have them most often
    const rest = common.at(-1);
    if (scores.size === 0 && rest !== undefined)
      for (const { rowId, length } of rest.slice(0, mostChunksOfTerm))
        scores.set(rowId, termScore(1, termLevels[common.length - 1] ?? 1, length, average));
    return scores;
  }

  /** Those that have a term so often; `all` are those that have it at all, if they are known. */
  async #level(
    knowledgeNo: number,
    level: number,
    word: string,
    filter: KnowledgeFilter | undefined,
    all: readonly Posting[] | undefined,
  ): Promise<readonly Posting[]> {
    if (level === 0 || all === undefined) return this.#postings(knowledgeNo, level, word, filter);
    const text = termQueryText(this.database.dialect, { term: wordTerm(knowledgeNo, level, word) });
    const [row] = await this.database.read<{ ids: string | null }>(readRowIds, [text]);
    const often = new Set(row?.ids?.split(',').map(Number));
    return all.filter(({ rowId }) => often.has(rowId));
  }

  async #postings(
    knowledgeNo: number,
    level: number,
    word: string,
    filter: KnowledgeFilter | undefined,
  ): Promise<readonly Posting[]> {
    const term: TermQuery = { term: wordTerm(knowledgeNo, level, word) };
    const row = await (filter === undefined
      ? this.#unfiltered(term)
      : this.#filtered(knowledgeNo, term, filter));
    if (!row?.ids || !row.lengths) return [];
    const lengths = row.lengths.split(',');
    return row.ids.split(',').map((id, at) => ({ rowId: Number(id), length: Number(lengths[at]) }));
  }

  async #unfiltered(term: TermQuery): Promise<PostingsRow | undefined> {
    const text = termQueryText(this.database.dialect, term);
    const [row] = await this.database.read<PostingsRow>(readPostings, [text]);
    return row;
  }

  async #filtered(
    knowledgeNo: number,
    term: TermQuery,
    filter: KnowledgeFilter,
  ): Promise<PostingsRow | undefined> {
    const { dialect } = this.database;
    const facets = facetQueryOf(knowledgeNo, filter);
    const text = termQueryText(dialect, facets === undefined ? term : { all: [term, facets.query] });
    const condition = facets?.isExact ? undefined : filterSql(dialect, filter);
    const [row] = await readRows<PostingsRow>(this.database, postingsSql(dialect, condition?.sql), [
      text,
      ...(condition?.values ?? []),
    ]);
    return row;
  }
}

function list(dialect: Database['dialect'], column: string): string {
  return dialect === 'sqlite' ? `group_concat(${column}, ',')` : `string_agg(CAST(${column} AS text), ',')`;
}

/** Adds what a term says about each chunk: the highest level that the chunk has counts. */
function addScores(
  scores: Map<number, number>,
  levels: readonly (readonly Posting[] | undefined)[],
  index: IndexRow,
  average: number,
): void {
  const own = new Map<number, number>();
  for (const [level, postings] of levels.entries()) {
    const weight = weightOfTerm(levels[0]?.length ?? mostChunksOfTerm, index.chunks);
    for (const { rowId, length } of postings ?? [])
      own.set(rowId, termScore(weight, termLevels[level] ?? 1, length, average));
  }
  for (const [rowId, score] of own) scores.set(rowId, (scores.get(rowId) ?? 0) + score);
}
