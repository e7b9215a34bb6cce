import type { AgentEvent, Kind, RunyardClient, TeamEvent, WorkflowEvent } from '@runyard/client';
import { useEffect, useState } from 'react';
import { useClient } from '../../../connection/use-connection.js';

type AnyEvent = AgentEvent | TeamEvent | WorkflowEvent;

/** An event, or the many small parts of an answer as one. */
export interface EventEntry {
  readonly index: number;
  readonly name: string;
  readonly at: number;
  readonly depth: number;
  /** What it is about: a step, a tool, a member. */
  readonly subject: string;
  /** How many events it stands for. */
  readonly count: number;
  /** The text of the parts. */
  readonly text: string;
  readonly event: AnyEvent;
  readonly runId: string;
}

export interface FollowedRun {
  readonly entries: readonly EventEntry[];
  /** The answer so far. */
  readonly text: string;
  readonly state: 'reading' | 'reconnecting' | 'ended' | 'failed';
  readonly error: unknown;
}

const nothing: FollowedRun = { entries: [], text: '', state: 'reading', error: undefined };
const frameMs = 100;

/** The events of a run, as they come. Parts of an answer are one entry, so that long runs stay small. */
export function useRunEvents(kind: Kind, componentId: string, runId: string, attempt: number): FollowedRun {
  const client = useClient();
  const [followed, setFollowed] = useState(nothing);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a further attempt reads again, such as after an answer.
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const entries: EventEntry[] = [];
    let text = '';
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (state: FollowedRun['state'], error?: unknown) => {
      clearTimeout(timer);
      timer = undefined;
      if (!signal.aborted) setFollowed({ entries: [...entries], text, state, error });
    };
    const read = async () => {
      const options = { signal, onReconnect: () => show('reconnecting') };
      for await (const event of eventsOf(client, kind, componentId, runId, options)) {
        const part = textOf(event);
        if (event.run_id === runId) text += part;
        add(entries, event, part);
        timer ??= setTimeout(() => show('reading'), frameMs);
      }
    };
    setFollowed(nothing);
    read().then(
      () => show('ended'),
      (error: unknown) => show('failed', error),
    );
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [client, kind, componentId, runId, attempt]);
  return followed;
}

function eventsOf(
  client: RunyardClient,
  kind: Kind,
  id: string,
  runId: string,
  options: { readonly signal: AbortSignal; readonly onReconnect: () => void },
): AsyncIterable<AnyEvent> {
  if (kind === 'team') return client.teams.follow(id, runId, options);
  if (kind === 'workflow') return client.workflows.follow(id, runId, options);
  return client.agents.follow(id, runId, options);
}

function textOf(event: AnyEvent): string {
  if (event.event !== 'RunContent' && event.event !== 'TeamRunContent') return '';
  return typeof event.content === 'string' ? event.content : '';
}

function add(entries: EventEntry[], event: AnyEvent, text: string): void {
  const last = entries.at(-1);
  if (last && last.name === event.event && last.runId === event.run_id && isPart(event.event)) {
    entries[entries.length - 1] = { ...last, count: last.count + 1, text: last.text + text };
    return;
  }
  entries.push({
    index: event.event_index,
    name: event.event,
    at: event.created_at,
    depth: event.nested_depth,
    subject: subjectOf(event),
    count: 1,
    text,
    event,
    runId: event.run_id,
  });
}

function isPart(name: string): boolean {
  return /^(?:Team)?(?:RunContent|ReasoningContentDelta)$/.test(name);
}

function subjectOf(event: AnyEvent): string {
  if ('tool' in event && typeof event.tool === 'object' && event.tool && 'tool_name' in event.tool)
    return String(event.tool.tool_name);
  if ('step_name' in event && event.step_name) return String(event.step_name);
  if ('agent_name' in event && event.agent_name) return String(event.agent_name);
  if ('team_name' in event && event.team_name) return String(event.team_name);
  return '';
}
