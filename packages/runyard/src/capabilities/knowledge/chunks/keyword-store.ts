import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KnowledgeFilter } from '../../../core/knowledge/filter.js';
import { termLevels, termScore, weightOfTerm } from '../../../core/knowledge/search/keyword-score.js';
import { queryTerms } from '../../../core/knowledge/search/terms.js';
import type { Database, Dialect, Statement } from '../../../platform/storage/database.js';
import { facetQueryOf, type TermQuery } from './filter-facets.js';
import { filterSql, termQueryText } from './filter-store.js';
import { wordTerm } from './index-terms.js';
import { published, termsMatch, versionOfRow } from './search-store.js';
import { amongRows, anyOf, listed, numbered, numbersIn, readRows } from './sql-store.js';
import type { IndexRow } from './version-store.js';

/** A term that more chunks have says little: where the query has others, it does not count. */
const mostChunksOfTerm = 5_000;
/** Chunks with a term that are looked at when some of them are not published. */
const mostRead = 20_000;
/** The chunks whose lengths are read first: those that may have the best scores. */
const firstLengths = 512;

/** So many common terms are remembered, of so many indexes. */
const mostCommonTerms = 1_000;
const mostIndexes = 100;

export interface KeywordRequest {
  readonly query: string;
  /** How many of the best chunks are needed. Others may be left out. */
  readonly wanted: number;
  readonly filter: KnowledgeFilter | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The rows with a term. One more than `mostChunksOfTerm` stand for all. */
type Rows = readonly number[];

/** What a word says about a chunk that has it so often. */
interface Said {
  readonly weight: number;
  readonly count: number;
}

/** Whether an index has rows of versions that are not published. */
const isMixed = `CAST(EXISTS (
    SELECT 1 FROM knowledge_versions WHERE knowledge_no = ? AND changed = 0 AND state = 'staged'
  ) OR EXISTS (SELECT 1 FROM knowledge_versions WHERE knowledge_no = ? AND state = 'retired') AS integer)`;

/**
 * The rows of terms, and nothing else of them. There is no order: sorting would read all of them before the limit
 * applies. The limit is fixed: if it is a parameter, PostgreSQL reads the terms of all chunks instead of searching the
 * index. PostgreSQL takes all terms of a query at once, and sends no rows of a common term.
 */
const readTerms: Statement = {
  name: 'keyword_rows_of_terms',
  sqlite: `SELECT ${isMixed} AS mixed, ${listed('sqlite', 'row_id')} AS ids, count(*) AS found
    FROM (${rowsOfTermSql('sqlite', '?', mostChunksOfTerm + 1)}) AS t`,
  postgres: numbered(`SELECT ${isMixed} AS mixed, f.found,
      CASE WHEN f.found <= ${mostChunksOfTerm} THEN array_to_string(f.ids, ',') END AS ids
    FROM unnest(CAST(? AS text[])) WITH ORDINALITY AS q (term, place)
    CROSS JOIN LATERAL (
      SELECT array_agg(t.row_id) AS ids, count(*) AS found
      FROM (${rowsOfTermSql('postgres', 'q.term', mostChunksOfTerm + 1)}) AS t
    ) AS f ORDER BY q.place`),
};

interface TermRow {
  readonly mixed: number;
  /** At most one more than `mostChunksOfTerm`. */
  readonly found: number;
  readonly ids: string | null;
}

const readLengths: Statement = {
  name: 'keyword_lengths',
  sqlite: lengthsSql('sqlite'),
  postgres: numbered(lengthsSql('postgres')),
};

/** The published rows of a term, as many as there may be and one more. */
const readPublished: Statement = {
  name: 'keyword_published_rows',
  sqlite: publishedSql('sqlite'),
  postgres: numbered(publishedSql('postgres')),
};

function rowsOfTermSql(dialect: Dialect, term: string, limit: number): string {
  const { from, rowId, where } = termsMatch[dialect];
  return `SELECT ${rowId} AS row_id FROM ${from} WHERE ${where.replace('?', term)} LIMIT ${limit}`;
}

function lengthsSql(dialect: Dialect): string {
  return `SELECT ${listed(dialect, 'row_id')} AS ids, ${listed(dialect, 'tokens')} AS lengths
    FROM knowledge_bits WHERE row_id ${amongRows[dialect]}`;
}

/** PostgreSQL gets the term as a part of its own, or it may join first and search the index for no term. */
function publishedSql(dialect: Dialect): string {
  return `SELECT ${listed(dialect, 'row_id')} AS ids FROM (
      SELECT t.row_id FROM (${rowsOfTermSql(dialect, '?', mostRead)}) AS t
      JOIN knowledge_versions AS v ON ${versionOfRow('t.row_id')} WHERE ${published} LIMIT ${mostChunksOfTerm + 1}
    ) AS found`;
}

function filteredSql(dialect: Dialect, condition: string | undefined): string {
  const { from, rowId, where } = termsMatch[dialect];
  return `SELECT ${listed(dialect, 'row_id')} AS ids FROM (
      SELECT ${rowId} AS row_id FROM ${from}
      JOIN knowledge_versions AS v ON ${versionOfRow(rowId)}
      ${condition === undefined ? '' : `JOIN knowledge_chunks AS c ON c.row_id = ${rowId}`}
      WHERE ${where} AND ${published} ${condition === undefined ? '' : `AND ${condition}`}
      LIMIT ${mostChunksOfTerm + 1}
    ) AS found`;
}

/** The chunks that have words of a query, with their scores. */
export class KeywordStore {
  /** What too many chunks have: to find that out takes longer than to find the chunks of a rare word. */
  readonly #common = new CommonTerms();

  constructor(private readonly database: Database) {}

  async search(index: IndexRow, request: KeywordRequest): Promise<ReadonlyMap<number, number>> {
    const { wanted, signal } = request;
    const average = index.chunks === 0 ? 1 : index.tokens / index.chunks;
    const said = new Map<number, Said[]>();
    /** The first word of each level that nearly every chunk has. */
    const common: string[] = [];
    for await (const { word, levels } of this.#words(index, request)) {
      signal?.throwIfAborted();
      for (const [level, rows] of levels.entries()) if (isCommon(rows)) common[level] ??= word;
      addSaid(said, levels, index);
    }
    if (said.size > 0 || common.length === 0) return this.#scored(said, wanted, average);
    // only words that nearly every chunk has: some of those that have them most often
    const level = common.length - 1;
    const rows = await this.#rowsOf(index.knowledge_no, common[level] ?? '', level, request.filter);
    const count = termLevels[level] ?? 1;
    const some = rows.slice(0, mostChunksOfTerm);
    return this.#scored(new Map(some.map((rowId) => [rowId, [{ weight: 1, count }]])), wanted, average);
  }

  /** The words of a query, each with the rows that have it at least as often as each level says. */
  async *#words(
    index: IndexRow,
    { query, filter }: KeywordRequest,
  ): AsyncGenerator<{ readonly word: string; readonly levels: readonly Rows[] }> {
    const words = queryTerms(query);
    if (filter === undefined && this.database.dialect === 'postgres') {
      const all = await this.#rowsOfAll(index, words);
      for (const [at, word] of words.entries())
        yield { word, levels: all.slice(at * termLevels.length, (at + 1) * termLevels.length) };
      return;
    }
    for (const word of words) {
      const levels: Rows[] = [];
      for (const [level] of termLevels.entries()) {
        const rows =
          filter === undefined
            ? await this.#rowsInSqlite(index, word, level)
            : await this.#rowsOf(index.knowledge_no, word, level, filter);
        if (rows.length === 0) break;
        levels.push(rows);
        // SQLite has just read on this thread
        await nextTurn();
      }
      yield { word, levels };
    }
  }

  /** The rows of all words at all levels, in their order. */
  async #rowsOfAll(index: IndexRow, words: readonly string[]): Promise<readonly Rows[]> {
    const { knowledge_no } = index;
    const common = this.#common.of(index);
    const places = words.flatMap((word) =>
      termLevels.map((_, level) => ({ word, level, term: this.#term(knowledge_no, word, level) })),
    );
    const asked = places.filter(({ term }) => !common.has(term));
    const found = new Map<string, Rows>();
    if (asked.length > 0) {
      const terms = asked.map(({ term }) => term);
      const rows = await this.database.read<TermRow>(readTerms, [knowledge_no, knowledge_no, terms]);
      for (const [at, { word, level, term }] of asked.entries())
        found.set(term, await this.#checked(index, word, level, rows[at]));
    }
    return places.map(({ term }) => found.get(term) ?? tooMany);
  }

  async #rowsInSqlite(index: IndexRow, word: string, level: number): Promise<Rows> {
    const { knowledge_no } = index;
    const term = this.#term(knowledge_no, word, level);
    if (this.#common.of(index).has(term)) return tooMany;
    const [row] = await this.database.read<TermRow>(readTerms, [knowledge_no, knowledge_no, term]);
    return this.#checked(index, word, level, row);
  }

  /** Only rows that are published, of which there may be fewer. */
  async #checked(index: IndexRow, word: string, level: number, row: TermRow | undefined): Promise<Rows> {
    if (row === undefined || row.found === 0) return [];
    const rows =
      row.mixed !== 0
        ? await this.#rowsOf(index.knowledge_no, word, level, undefined)
        : row.found > mostChunksOfTerm
          ? tooMany
          : numbersIn(row.ids);
    if (isCommon(rows)) this.#common.of(index).add(this.#term(index.knowledge_no, word, level));
    return rows;
  }

  /** The published rows that pass the filter. */
  async #rowsOf(
    knowledgeNo: number,
    word: string,
    level: number,
    filter: KnowledgeFilter | undefined,
  ): Promise<Rows> {
    const { dialect } = this.database;
    type Row = { ids: string | null };
    if (filter === undefined) {
      const term = this.#term(knowledgeNo, word, level);
      const [row] = await this.database.read<Row>(readPublished, [term]);
      return numbersIn(row?.ids);
    }
    const facets = facetQueryOf(knowledgeNo, filter);
    const term: TermQuery = { term: wordTerm(knowledgeNo, level, word) };
    const text = termQueryText(dialect, facets === undefined ? term : { all: [term, facets.query] });
    const condition = facets?.isExact ? undefined : filterSql(dialect, filter);
    const values = [text, ...(condition?.values ?? [])];
    const [row] = await readRows<Row>(this.database, filteredSql(dialect, condition?.sql), values);
    return numbersIn(row?.ids);
  }

  #term(knowledgeNo: number, word: string, level: number): string {
    return termQueryText(this.database.dialect, { term: wordTerm(knowledgeNo, level, word) });
  }

  /**
   * The scores of the best chunks, and of some others. A shorter chunk has a higher score, so that those which would
   * not be among the best if they were empty need no length.
   */
  async #scored(
    said: ReadonlyMap<number, readonly Said[]>,
    wanted: number,
    average: number,
  ): Promise<ReadonlyMap<number, number>> {
    const score = (parts: readonly Said[], length: number) =>
      parts.reduce((sum, { weight, count }) => sum + termScore(weight, count, length, average), 0);
    const rows = Array.from(said, ([rowId, parts]) => ({ rowId, parts, most: score(parts, 0) }));
    rows.sort((one, other) => other.most - one.most);
    const scores = new Map<number, number>();
    for (let from = 0, to = Math.max(firstLengths, 2 * wanted); from < rows.length; ) {
      const some = rows.slice(from, to);
      const lengths = await this.#lengths(some.map(({ rowId }) => rowId));
      for (const { rowId, parts } of some) {
        const length = lengths.get(rowId);
        if (length !== undefined) scores.set(rowId, score(parts, length));
      }
      const last = [...scores.values()].sort((one, other) => other - one)[wanted - 1] ?? 0;
      from = to;
      // the place is within the list
      while (to < rows.length && rows[to]!.most >= last) to += 1;
      if (to === from) break;
    }
    return scores;
  }

  /** How many terms each chunk has. */
  async #lengths(rowIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
    type Row = { ids: string | null; lengths: string | null };
    const [row] = await this.database.read<Row>(readLengths, anyOf(this.database, rowIds).values);
    const lengths = numbersIn(row?.lengths);
    return new Map(numbersIn(row?.ids).map((rowId, at) => [rowId, lengths[at] ?? 0]));
  }
}

/** Of an index since its last change: until then, the same chunks are published. */
class CommonTerms {
  readonly #known = new Map<number, { readonly change: number; readonly terms: Set<string> }>();

  of({ knowledge_no, change }: IndexRow): Set<string> {
    const known = this.#known.get(knowledge_no);
    if (known?.change === change && known.terms.size < mostCommonTerms) return known.terms;
    // an index that has not changed for long is as good as any other to make room
    if (this.#known.size >= mostIndexes) this.#known.clear();
    const terms = new Set<string>();
    this.#known.set(knowledge_no, { change, terms });
    return terms;
  }
}

const tooMany: Rows = Array<number>(mostChunksOfTerm + 1).fill(0);

function isCommon(rows: Rows): boolean {
  return rows.length > mostChunksOfTerm;
}

/** Adds what a word says about each chunk: the highest level that the chunk has counts. */
function addSaid(said: Map<number, Said[]>, levels: readonly Rows[], index: IndexRow): void {
  const all = levels[0] ?? [];
  const weight = weightOfTerm(isCommon(all) ? mostChunksOfTerm : all.length, index.chunks);
  const counts = new Map<number, number>();
  for (const [level, rows] of levels.entries())
    if (!isCommon(rows)) for (const rowId of rows) counts.set(rowId, termLevels[level] ?? 1);
  for (const [rowId, count] of counts) {
    const parts = said.get(rowId);
    if (parts === undefined) said.set(rowId, [{ weight, count }]);
    else parts.push({ weight, count });
  }
}
