import { parentPort } from 'node:worker_threads';
import { ContentUnreadable } from '../../core/knowledge/readers/reader.js';
import { BatchedDocuments } from './batched-documents.js';
import { contentFrom } from './parent-content.js';
import { ParseBudget } from './parse-budget.js';
import { parseFitting, parserOf } from './parsers/parsers.js';
import type { FromThread, ParseJob, ToThread } from './protocol.js';

/*
 * The thread that parses what strangers wrote. It has no secrets of the process, keeps nothing between two contents,
 * and is ended from outside when a content takes too long or too much memory.
 */

const port = parentPort;
if (port === null) throw new Error('This file is the body of a thread.');

// Libraries report what they dislike about a file here; the file's owner is told what matters.
for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) console[method] = () => undefined;

let receive: (message: ToThread) => void = () => undefined;

/** Sends a message and waits for the answer to it. */
function ask(message: FromThread): Promise<ToThread> {
  return new Promise((resolve) => {
    receive = resolve;
    port?.postMessage(message);
  });
}

async function parse({ reader, content, limits }: ParseJob): Promise<FromThread> {
  const budget = new ParseBudget(limits, parseFitting);
  const batches = new BatchedDocuments(async (documents) => {
    await ask({ kind: 'documents', documents, done: budget.done, total: budget.total });
  });
  try {
    for await (const document of parserOf(reader)(contentFrom(content, ask), budget))
      await batches.add(document);
    await batches.flush();
    return { kind: 'done' };
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): FromThread {
  if (error instanceof ContentUnreadable) return { kind: 'failed', unreadable: true, message: error.message };
  if (error instanceof RangeError && /call stack/i.test(error.message))
    return { kind: 'failed', unreadable: true, message: 'The content is nested too deeply to be read' };
  return {
    kind: 'failed',
    unreadable: false,
    message: error instanceof Error ? error.message : String(error),
  };
}

receive = start;
port.on('message', (message: ToThread) => receive(message));

function start(message: ToThread): void {
  if (message.kind !== 'parse') return;
  void parse(message).then((result) => {
    receive = start;
    port?.postMessage(result);
  });
}
