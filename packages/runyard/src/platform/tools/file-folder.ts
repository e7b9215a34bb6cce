import { z } from 'zod';
import { checkOptions, checkValue } from '../../core/options/check-options.js';
import { count, flag, name, objectOf, text } from '../../core/options/kinds.js';
import { type Tool, tool } from '../../core/tools/tool.js';
import { type Toolkit, toolkit } from '../../core/tools/toolkit.js';
import { searchFolder } from './folder-search.js';
import { JailedFolder } from './jailed-folder.js';

export interface FileFolderOptions {
  /** Adds a tool that writes files. Default: none. */
  readonly write?: boolean;
  /** A person has to agree to each file that is written. */
  readonly confirmWrites?: boolean;
  /** Shows names that begin with a dot. Default: they do not exist. */
  readonly hidden?: boolean;
  /** How much of a file one call reads. Default 50,000 bytes. */
  readonly maximumReadBytes?: number;
  /** How large a file may be that is written. Default 1 MB. */
  readonly maximumWriteBytes?: number;
  /** Stands before the names of the tools, for an agent with two folders. */
  readonly prefix?: string;
}

const fileFolderOptions = objectOf<FileFolderOptions>({
  write: flag,
  confirmWrites: flag,
  hidden: flag,
  maximumReadBytes: count(1),
  maximumWriteBytes: count(1),
  prefix: text,
});

const mostEntries = 500;

/** Tools to look into one folder of this machine, and into nothing else. */
export function fileFolder(root: string, options: FileFolderOptions = {}): Toolkit {
  checkValue('fileFolder()', 'the folder', root, name);
  checkOptions('fileFolder()', options, fileFolderOptions);
  const folder = new JailedFolder(root, options.hidden ?? false);
  const tools = [
    listTool(folder),
    readTool(folder, options.maximumReadBytes ?? 50_000),
    searchTool(folder),
    ...(options.write ? [writeTool(folder, options)] : []),
  ];
  return toolkit({ name: 'files', tools, ...(options.prefix !== undefined && { prefix: options.prefix }) });
}

function listTool(folder: JailedFolder): Tool {
  return tool({
    name: 'list_files',
    description: 'List the files and folders in a folder. Folders end with /.',
    inputSchema: z.object({
      path: z.string().default('').describe('The folder, e.g. "notes". Left out: the top one'),
    }),
    readOnly: true,
    execute: async ({ path }) => {
      const entries = await folder.entries(path);
      if (entries.length === 0) return 'The folder is empty.';
      const lines = entries
        .slice(0, mostEntries)
        .map((entry) => (entry.kind === 'folder' ? `${entry.path}/` : entry.path));
      if (entries.length > mostEntries) lines.push(`[${entries.length - mostEntries} more are not shown]`);
      return lines.join('\n');
    },
  });
}

function readTool(folder: JailedFolder, length: number): Tool {
  return tool({
    name: 'read_file',
    description:
      'Read a text file. Long files come in parts: call again with the offset that the answer names.',
    inputSchema: z.object({
      path: z.string().describe('The file, e.g. "notes/plan.md"'),
      offset: z.int().min(0).default(0).describe('Where to begin, in bytes'),
    }),
    readOnly: true,
    execute: async ({ path, offset }) => {
      const { bytes, size } = await folder.read(path, offset, length);
      if (bytes.includes(0)) throw new Error(`'${path}' is not a text file.`);
      const whole = bytes.subarray(0, endOfCharacter(bytes, offset + bytes.length < size));
      const end = offset + whole.length;
      const text = new TextDecoder().decode(whole);
      return end < size ? `${text}\n[${size - end} more bytes. Go on with offset ${end}.]` : text;
    },
  });
}

/** The length of a part that does not end within a character. */
function endOfCharacter(bytes: Uint8Array, isPart: boolean): number {
  if (!isPart) return bytes.length;
  let end = bytes.length;
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes.at(-back) ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    if (needed > back) end = bytes.length - back;
    break;
  }
  return end === 0 ? bytes.length : end;
}

function searchTool(folder: JailedFolder): Tool {
  return tool({
    name: 'search_files',
    description:
      'Find files whose name or content has a text in it, in a folder and all folders below it. Upper and lower case are the same.',
    inputSchema: z.object({
      text: z.string().min(1).max(200).describe('The text to look for: plain text, no pattern'),
      path: z.string().default('').describe('The folder. Left out: the top one'),
    }),
    readOnly: true,
    execute: async ({ text, path }, { signal }) => {
      const { lines, complete } = await searchFolder(folder, path, text, signal);
      if (lines.length === 0 && complete) return 'Nothing was found.';
      return [
        ...lines,
        ...(complete ? [] : ['[There may be more. Search in one folder, or for more.]']),
      ].join('\n');
    },
  });
}

function writeTool(folder: JailedFolder, options: FileFolderOptions): Tool {
  const { maximumWriteBytes = 1_000_000, confirmWrites = false } = options;
  return tool({
    name: 'write_file',
    description: 'Write a text file as a whole. Folders on the way to it are made; an old file is replaced.',
    inputSchema: z.object({
      path: z.string().describe('The file, e.g. "notes/plan.md"'),
      content: z.string().describe('The whole new content'),
    }),
    sideEffects: true,
    // Writing the same content again changes nothing.
    onUnknownOutcome: 'retry',
    requiresConfirmation: confirmWrites,
    execute: async ({ path, content }) => {
      const size = Buffer.byteLength(content);
      if (size > maximumWriteBytes)
        throw new Error(`The content has ${size} bytes, the limit is ${maximumWriteBytes}.`);
      return `${path} was ${await folder.write(path, content)}: ${size} bytes.`;
    },
  });
}
