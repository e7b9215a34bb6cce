import type { SessionSummary } from '../../core/runs/journal/ports.js';
import type { Run } from '../../core/runs/run.js';
import type { SessionRecord } from './store.js';
import { usageBody } from './usage-body.js';

type Body = Record<string, unknown>;

/** What the runs and the registered component add to a session. */
export interface SessionView {
  readonly session: SessionRecord;
  /** Given, or taken from elsewhere; never null. */
  readonly name: string;
  /** The first run of the session's component; undefined before there is one. */
  readonly firstRun: Run | undefined;
  readonly modelName: string | undefined;
  /** The steps of a workflow that is registered. */
  readonly steps: readonly Body[];
  readonly chatHistory: readonly Body[];
}

/** A session in a list. What has no value is left out. */
export function listedSessionOf(session: SessionRecord, name: string): Body {
  const metrics = usageBody(session.usage);
  return withoutNulls({
    session_id: session.sessionId,
    session_name: name,
    session_state: session.state,
    created_at: wholeSeconds(session.createdAt),
    updated_at: wholeSeconds(session.updatedAt),
    session_type: session.kind,
    user_id: session.userId,
    [`${session.kind}_id`]: session.componentId || null,
    session_summary: summaryBody(session.summary),
    metrics: metrics ?? null,
    total_tokens: metrics?.total_tokens ?? null,
    metadata: session.metadata,
  });
}

/** A session with all that belongs to its kind. What has no value is null. */
export function sessionDetailOf(view: SessionView): Body {
  const { session, name, chatHistory } = view;
  const metrics = usageBody(session.usage) ?? (isEmpty(view) ? null : {});
  return {
    session_id: session.sessionId,
    session_name: name,
    user_id: session.userId,
    ...componentFields(view, metrics ?? {}),
    session_state: session.state,
    session_summary: summaryBody(session.summary),
    metrics,
    total_tokens: metrics?.total_tokens ?? null,
    metadata: session.metadata,
    chat_history: chatHistory,
    created_at: wholeSeconds(session.createdAt),
    updated_at: wholeSeconds(session.updatedAt),
  };
}

export function withoutNulls(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** It has no messages, and was given no data. */
function isEmpty({ session: { name, state }, firstRun }: SessionView): boolean {
  return name === null && Object.keys(state).length === 0 && firstRun === undefined;
}

function componentFields(view: SessionView, metrics: Body): Body {
  const { session, firstRun, steps } = view;
  const { kind, sessionId, state } = session;
  const componentId = session.componentId || null;
  if (kind !== 'workflow') {
    return {
      ...(kind === 'agent' && { agent_session_id: sessionId }),
      [`${kind}_id`]: componentId,
      [`${kind}_data`]: conversationData(view),
    };
  }
  const name = firstRun?.componentName ?? null;
  return {
    workflow_id: componentId,
    workflow_name: name,
    workflow_data: firstRun === undefined ? {} : { workflow_id: componentId, name, steps },
    session_data: {
      session_state: state,
      ...(Object.keys(metrics).length > 0 && { session_metrics: metrics }),
    },
  };
}

/** Who the session is with, as its first run had it. */
function conversationData({ session, firstRun, modelName }: SessionView): Body | null {
  if (firstRun === undefined) return null;
  const { componentName, model, modelProvider } = firstRun;
  return {
    name: componentName,
    [`${session.kind}_id`]: session.componentId,
    ...(model !== null && { model: { name: modelName ?? model, provider: modelProvider, id: model } }),
  };
}

/** The wire's time of a summary has no offset; it is UTC. */
function summaryBody(summary: SessionSummary | null): Body | null {
  if (summary === null) return null;
  const time = new Date(summary.updatedAt).toISOString().replace('Z', '000');
  return { summary: summary.summary, topics: summary.topics, updated_at: time };
}

function wholeSeconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}
