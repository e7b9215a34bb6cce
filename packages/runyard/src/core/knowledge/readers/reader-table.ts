import type { Reader } from './reader.js';

/** What is known of a built-in reader without loading what it reads with. */
export type ReaderDescription = Omit<Reader, 'read'>;

const prose = [
  'CodeChunker',
  'FixedSizeChunker',
  'AgenticChunker',
  'DocumentChunker',
  'RecursiveChunker',
  'SemanticChunker',
  'SentenceChunker',
];
const rows = ['RowChunker', 'FixedSizeChunker', 'DocumentChunker', 'RecursiveChunker', 'AgenticChunker'];
const pages = [
  'DocumentChunker',
  'FixedSizeChunker',
  'AgenticChunker',
  'RecursiveChunker',
  'SemanticChunker',
  'SentenceChunker',
];
const markdown = ['MarkdownChunker', ...prose];

/** Source code by its file extension: a chunker that knows the language keeps functions whole. */
const codeTypes =
  '.js .mjs .cjs .jsx .ts .mts .cts .tsx .py .pyi .rb .go .rs .java .kt .kts .scala .swift .c .h .cc .cpp .cxx .hpp .hh .cs .m .mm .php .pl .pm .lua .r .jl .dart .ex .exs .erl .hs .clj .groovy .sh .bash .zsh .fish .ps1 .sql .css .scss .less .vue .svelte .tf .proto .graphql .gradle .cmake .toml .yaml .yml'.split(
    ' ',
  );

/** The built-in readers in the order that `/knowledge/config` lists them: those of addresses first, then by id. */
export const readerTable: readonly ReaderDescription[] = [
  {
    id: 'website',
    name: 'WebsiteReader',
    description: 'Reads the main part of web pages',
    types: ['url'],
    chunkers: markdown,
    defaultChunker: 'FixedSizeChunker',
  },
  {
    id: 'llms_txt',
    name: 'LLMsTxtReader',
    description: 'Reads an llms.txt index and the pages that it links to',
    types: ['url'],
    chunkers: markdown,
    defaultChunker: 'FixedSizeChunker',
  },
  {
    id: 'code',
    name: 'CodeReader',
    description: 'Reads source code',
    types: codeTypes,
    chunkers: prose,
    defaultChunker: 'CodeChunker',
  },
  {
    id: 'csv',
    name: 'CSVReader',
    description: 'Reads CSV and TSV files, row by row',
    types: ['.csv', '.tsv', 'text/csv', 'text/tab-separated-values', 'application/csv'],
    chunkers: rows,
    defaultChunker: 'RowChunker',
  },
  {
    id: 'docx',
    name: 'DocxReader',
    description: 'Reads the text of Word documents',
    types: [
      '.docx',
      '.doc',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/msword',
    ],
    chunkers: pages,
    defaultChunker: 'DocumentChunker',
  },
  {
    id: 'email',
    name: 'EmailReader',
    description: 'Reads e-mail messages with their attachments',
    types: ['.eml', 'message/rfc822'],
    chunkers: pages,
    defaultChunker: 'DocumentChunker',
  },
  {
    id: 'excel',
    name: 'ExcelReader',
    description: 'Reads the sheets of Excel workbooks, row by row',
    types: [
      '.xlsx',
      '.xls',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'application/vnd.ms-excel',
    ],
    chunkers: rows,
    defaultChunker: 'RowChunker',
  },
  {
    id: 'field_labeled_csv',
    name: 'FieldLabeledCSVReader',
    description: 'Reads CSV files: each row becomes a text with the names of its fields',
    types: ['.csv', 'text/csv'],
    chunkers: [],
    defaultChunker: undefined,
  },
  {
    id: 'html',
    name: 'HTMLReader',
    description: 'Reads the main part of HTML files as Markdown',
    types: ['.html', '.htm', '.xhtml', 'text/html', 'application/xhtml+xml'],
    chunkers: markdown,
    defaultChunker: 'MarkdownChunker',
  },
  {
    id: 'json',
    name: 'JSONReader',
    description: 'Reads JSON: one document for each element of an array, or line of a JSON Lines file',
    types: ['.json', '.jsonl', '.ndjson', 'application/json', 'application/x-ndjson', 'application/jsonl'],
    chunkers: prose,
    defaultChunker: 'FixedSizeChunker',
  },
  {
    id: 'markdown',
    name: 'MarkdownReader',
    description: 'Reads Markdown files',
    types: ['.md', '.markdown', '.mdx', 'text/markdown', 'text/x-markdown'],
    chunkers: markdown,
    defaultChunker: 'MarkdownChunker',
  },
  {
    id: 'pdf',
    name: 'PDFReader',
    description: 'Reads the text of PDF files, page by page',
    types: ['.pdf', 'application/pdf'],
    chunkers: pages,
    defaultChunker: 'DocumentChunker',
  },
  {
    id: 'pptx',
    name: 'PPTXReader',
    description: 'Reads the slides and notes of PowerPoint presentations',
    types: [
      '.pptx',
      '.ppt',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation',
      'application/vnd.ms-powerpoint',
    ],
    chunkers: pages,
    defaultChunker: 'DocumentChunker',
  },
  {
    id: 'text',
    name: 'TextReader',
    description: 'Reads text files',
    types: ['.txt', '.text', '.log', 'text/plain'],
    chunkers: prose,
    defaultChunker: 'FixedSizeChunker',
  },
  {
    id: 'zip',
    name: 'ZipReader',
    description: 'Reads each file of a zip archive with the reader that fits it',
    types: ['.zip', 'application/zip', 'application/x-zip-compressed'],
    chunkers: pages,
    defaultChunker: 'DocumentChunker',
  },
];
