import { mediaBody } from '../../core/agents/agent-events.js';
import type { Json, JsonObject } from '../../core/json.js';
import type { MediaKind } from '../../core/media/media.js';
import type { RemoteOptions } from '../../core/remote/remote-options.js';
import {
  type RemoteAnswers,
  type RemoteEvent,
  RemoteFault,
  type RemoteMedia,
  type RemoteRef,
  type RemoteRun,
  type RemoteService,
  type RemoteStart,
} from '../../core/remote/remote-service.js';
import { hopsHeader, type RunKind, type RunOptions, type RunStatus } from '../../core/runs/run.js';
import { framesOf, objectIn } from './event-stream.js';
import { HttpConnection, type HttpRequest } from './http-connection.js';

/** Frames that announce what follows, and are no events of the run. */
const announcements: ReadonlySet<string> = new Set(['catch_up', 'subscribed', 'replay']);

/** How the answers of each kind are sent. */
const answerFields: Readonly<Record<RunKind, (answers: RemoteAnswers) => Fields>> = {
  agent: ({ tools }) => ({ tools: JSON.stringify(tools) }),
  team: ({ requirements }) => ({ requirements: JSON.stringify(requirements) }),
  workflow: ({ requirements }) => {
    const failed = requirements.filter((one) => 'error_message' in one);
    return {
      step_requirements: JSON.stringify(requirements.filter((one) => !failed.includes(one))),
      // AgentOS has none
      ...(failed.length > 0 && { error_requirements: JSON.stringify(failed) }),
    };
  },
};

/**
 * A component of another Runyard, or of an AgentOS. Runs are started in the background and streamed: both services keep
 * such a run, and its events, when the connection is lost.
 */
export class AgentOsService implements RemoteService {
  readonly address: string;
  private readonly connection: HttpConnection;
  private readonly runs: string;

  constructor(
    private readonly kind: RunKind,
    options: RemoteOptions,
  ) {
    this.connection = new HttpConnection(options);
    this.address = this.connection.address;
    this.runs = `/${kind}s/${encodeURIComponent(options.id)}/runs`;
  }

  start(start: RemoteStart, signal: AbortSignal): AsyncIterable<RemoteEvent> {
    const { runId, sessionId, message, userId, options, media, hops } = start;
    const body = form({
      message,
      ...following,
      run_id: runId,
      session_id: sessionId,
      user_id: userId,
      ...optionFields(options),
      ...mediaFields(media),
    });
    const headers = { [hopsHeader]: String(hops) };
    return this.events({ method: 'POST', path: this.runs, body, headers, signal });
  }

  resume(ref: RemoteRef, afterIndex: number, signal: AbortSignal): AsyncIterable<RemoteEvent> {
    const body = form({ last_event_index: String(afterIndex), session_id: ref.sessionId });
    return this.events({ method: 'POST', path: this.path(ref, '/resume'), body, signal });
  }

  continue(ref: RemoteRef, answers: RemoteAnswers, signal: AbortSignal): AsyncIterable<RemoteEvent> {
    const body = form({
      ...(answers.given && answerFields[this.kind](answers)),
      ...following,
      session_id: ref.sessionId,
    });
    return this.events({ method: 'POST', path: this.path(ref, '/continue'), body, signal });
  }

  async read(ref: RemoteRef, signal: AbortSignal): Promise<RemoteRun | undefined> {
    const path = `${this.path(ref, '')}?session_id=${encodeURIComponent(ref.sessionId)}`;
    try {
      const body = await this.connection.json({ method: 'GET', path, signal });
      return { status: statusIn(body), body };
    } catch (error) {
      if (error instanceof RemoteFault && error.kind === 'absent') return undefined;
      throw error;
    }
  }

  async cancel(ref: RemoteRef, signal: AbortSignal): Promise<void> {
    const path = `${this.path(ref, '/cancel')}?session_id=${encodeURIComponent(ref.sessionId)}`;
    await this.connection.json({ method: 'POST', path, signal });
  }

  private path({ runId }: RemoteRef, action: string): string {
    return `${this.runs}/${encodeURIComponent(runId)}${action}`;
  }

  private async *events(request: HttpRequest): AsyncGenerator<RemoteEvent> {
    for await (const { event, data } of framesOf(this.connection.stream(request))) {
      if (announcements.has(event)) continue;
      const fields = objectIn(data);
      if (event === 'error') throw new RemoteFault('absent', String(fields.error ?? 'the run is not known'));
      const { event_index: index } = fields;
      const name = typeof fields.event === 'string' ? fields.event : event;
      yield { name, index: typeof index === 'number' ? index : undefined, fields };
    }
  }
}

const following = { stream: 'true', background: 'true' };

const statuses: readonly RunStatus[] = [
  'pending',
  'running',
  'completed',
  'error',
  'cancelled',
  'paused',
  'regenerated',
];

/** AgentOS writes it in capitals. */
function statusIn({ status }: JsonObject): RunStatus {
  const known = statuses.find((one) => one === String(status).toLowerCase());
  if (known === undefined)
    throw new RemoteFault('refused', `it shows a run with the status '${String(status)}'`);
  return known;
}

type Fields = Readonly<Record<string, string | undefined>>;

function form(fields: Fields): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) made.append(name, value);
  return made;
}

/** What the caller of the local run asked for is asked of the remote one. */
function optionFields(options: RunOptions): Fields {
  const { extra = {} } = options;
  return {
    session_state: jsonField(options.sessionState),
    dependencies: jsonField(options.dependencies),
    metadata: jsonField(options.metadata),
    knowledge_filters: jsonField(options.knowledgeFilters),
    output_schema: jsonField(options.outputSchema),
    use_json_schema: flagField(options.useJsonSchema),
    add_history_to_context: flagField(options.addHistoryToContext),
    add_dependencies_to_context: flagField(options.addDependenciesToContext),
    add_session_state_to_context: flagField(options.addSessionStateToContext),
    additional_data: extra.additional_data === undefined ? undefined : textField(extra.additional_data),
  };
}

function jsonField(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

function textField(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function flagField(value: boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

const fieldNames: Readonly<Record<MediaKind, string>> = {
  image: 'images',
  audio: 'audio',
  video: 'videos',
  file: 'input_files',
};

function mediaFields(media: readonly RemoteMedia[]): Fields {
  const lists: Record<string, JsonObject[]> = {};
  for (const { media: one, bytes } of media) {
    const name = fieldNames[one.kind];
    const { size: _size, ...body } = mediaBody(one, bytes && Buffer.from(bytes).toString('base64'));
    lists[name] ??= [];
    lists[name].push(body);
  }
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, JSON.stringify(list)]));
}
