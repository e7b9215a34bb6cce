import { onPostgres, onSqlite } from './opened-stores.js';
import { describeVectorStore } from './vector-store-suite.js';

describeVectorStore('SQLite', onSqlite);
describeVectorStore('PostgreSQL without pgvector', onPostgres);
