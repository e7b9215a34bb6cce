import type { PageOfRuns } from '../../capabilities/runs/service.js';
import type { JsonObject } from '../../core/json.js';
import { parseJson } from '../../core/json.js';
import { type A2aCall, type Answer, assertMayRead } from './call.js';
import { countIn, flagIn, invalid, textIn } from './dialects/read-params.js';
import { stateByName } from './dialects/v1.js';
import { statusOf, taskHead, taskOf } from './task-view.js';

const defaultPage = 50;
const largestPage = 100;

/** The tasks of a component that the caller may see, newest first. Protocol 1.0 alone has such a list. */
export async function listTasks(call: A2aCall, params: JsonObject): Promise<Answer> {
  assertMayRead(call);
  const { services, caller, target, dialect } = call;
  const limit = countIn(params, 'pageSize') || defaultPage;
  if (limit > largestPage) throw invalid(`pageSize may be ${largestPage}`);
  const withArtifacts = flagIn(params, 'includeArtifacts') ?? false;
  const shown = { historyLength: countIn(params, 'historyLength'), withArtifacts };
  const status = statusIn(params);
  if (status === null) return listed([], '', limit, 0);
  const place = { ...target, sessionId: textIn(params, 'contextId') };
  const page = await services.runs.page(caller, place, {
    limit,
    status,
    changedAfter: timeIn(params, 'statusTimestampAfter'),
    before: cursorIn(params),
  });
  const tasks: JsonObject[] = [];
  let last = '';
  for await (const view of page.runs) {
    const { run } = view;
    const task = withArtifacts
      ? await taskOf(view, (media) => services.runs.showMedia(run, media))
      : taskHead(view);
    tasks.push(dialect.task(task, shown));
    last = tokenOf(run);
  }
  return listed(tasks, page.hasMore ? last : '', limit, page.total);
}

function listed(tasks: JsonObject[], nextPageToken: string, pageSize: number, totalSize: number): Answer {
  return { result: { tasks, nextPageToken, pageSize, totalSize } };
}

/** Null for a state that no run is ever in. */
function statusIn(params: JsonObject): PageOfRuns['status'] | null {
  const name = textIn(params, 'status');
  if (name === undefined || name === 'TASK_STATE_UNSPECIFIED') return undefined;
  const state = stateByName.get(name);
  if (state === undefined) throw invalid(`status must be one of ${[...stateByName.keys()].join(', ')}`);
  return state === null ? null : (statusOf(state) ?? null);
}

function timeIn(params: JsonObject, name: string): number | undefined {
  const text = textIn(params, name);
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw invalid(`${name} must be a time in ISO 8601`);
  return time;
}

type Cursor = NonNullable<PageOfRuns['before']>;

function tokenOf({ createdAt, runId }: Cursor): string {
  return Buffer.from(JSON.stringify([createdAt, runId])).toString('base64url');
}

function cursorIn(params: JsonObject): Cursor | undefined {
  const token = textIn(params, 'pageToken');
  if (token === undefined) return undefined;
  try {
    const value = parseJson(Buffer.from(token, 'base64url').toString());
    const [createdAt, runId] = Array.isArray(value) ? value : [];
    // PostgreSQL fails at a number that is no time
    if (Number.isSafeInteger(createdAt) && typeof runId === 'string')
      return { createdAt: Number(createdAt), runId };
  } catch {
    // it is refused below
  }
  throw invalid('pageToken is not one of ours');
}
