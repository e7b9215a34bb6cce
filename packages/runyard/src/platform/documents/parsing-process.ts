import { Worker } from 'node:worker_threads';
import { splitAlone } from '../../core/knowledge/chunkers/chunkers.js';
import { ContentUnreadable } from '../../core/knowledge/readers/reader.js';
import { BatchedDocuments } from './batched-documents.js';
import { contentFrom } from './parent-content.js';
import { ParseBudget } from './parse-budget.js';
import { parseFitting, parserOf } from './parsers/parsers.js';
import type { FromProcess, ParseJob, SplitJob, ToProcess } from './protocol.js';

/*
 * The process that parses what strangers wrote. It is a process because a thread is not enough: a heap that overflows in
 * native code ends the whole process, whatever the limits of the thread are. It has no secrets of the service, keeps
 * nothing between two contents, and is killed from outside when a content takes too long.
 */

// An endless loop notices nothing: a thread beside it sees that the service is gone.
const watch = `setInterval(() => process.ppid === ${process.ppid} || process.kill(process.pid, 'SIGKILL'), 2000)`;
new Worker(watch, { eval: true }).unref();
process.once('disconnect', () => process.exit());

let receive: (message: ToProcess) => void = start;
process.on('message', (message: ToProcess) => receive(message));

/** The parent answers one message at a time; libraries that read ahead ask for bytes while documents are on their way. */
class Conversation {
  #last: Promise<unknown> = Promise.resolve();
  #ended = false;

  /** Sends a message and waits for the answer to it. */
  readonly ask = (message: FromProcess): Promise<ToProcess> => {
    const answer = this.#last.then(() => this.#send(message));
    this.#last = answer;
    return answer;
  };

  /** What is asked after the end, by a library that was left in the middle, has no answer. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#last;
  }

  #send(message: FromProcess): Promise<ToProcess> {
    if (this.#ended) return Promise.resolve({ kind: 'bytes', bytes: undefined });
    return new Promise((resolve) => {
      receive = resolve;
      process.send?.(message);
    });
  }
}

function start(message: ToProcess): void {
  if (message.kind !== 'parse' && message.kind !== 'split') return;
  void work(message).then((result) => {
    receive = start;
    process.send?.(result);
  });
}

async function work(job: ParseJob | SplitJob): Promise<FromProcess> {
  const conversation = new Conversation();
  const { ask } = conversation;
  try {
    if (job.kind === 'parse') await parse(job, ask);
    else await split(job, ask);
    return { kind: 'done' };
  } catch (error) {
    return failure(error);
  } finally {
    await conversation.end();
  }
}

async function parse({ reader, content, limits }: ParseJob, ask: Conversation['ask']): Promise<void> {
  const budget = new ParseBudget(limits, parseFitting);
  const batches = new BatchedDocuments(async (documents) => {
    await ask({ kind: 'documents', documents, done: budget.done, total: budget.total });
  });
  for await (const document of parserOf(reader)(contentFrom(content, ask), budget))
    await batches.add(document);
  await batches.flush();
}

async function split({ chunker, document, options }: SplitJob, ask: Conversation['ask']): Promise<void> {
  const batches = new BatchedDocuments(async (documents) => {
    await ask({ kind: 'documents', documents, done: 0, total: undefined });
  });
  for (const chunk of splitAlone(chunker, document, options)) await batches.add({ name: null, ...chunk });
  await batches.flush();
}

function failure(error: unknown): FromProcess {
  if (error instanceof ContentUnreadable) return { kind: 'failed', unreadable: true, message: error.message };
  if (error instanceof RangeError && /call stack/i.test(error.message))
    return { kind: 'failed', unreadable: true, message: 'The content is nested too deeply to be read' };
  return {
    kind: 'failed',
    unreadable: false,
    message: error instanceof Error ? error.message : String(error),
  };
}
