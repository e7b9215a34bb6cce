import type { ToolCallBody } from '@runyard/client';
import type { ReactNode } from 'react';
import { Badge, StatusBadge } from '../../../ui/badge.js';
import { JsonView } from '../../../ui/content/json-view.js';
import { Markdown } from '../../../ui/content/markdown.js';
import { formatCost, formatCount, formatDuration } from '../../../ui/format/numbers.js';
import { EmptyState } from '../../../ui/states.js';
import { type Column, DataTable } from '../../../ui/table/data-table.js';
import { numberIn } from '../run-rows.js';

/** A text of a model is Markdown; what is structured is a tree. */
export function Output({ content }: { readonly content: unknown }) {
  if (content === null || content === undefined || content === '')
    return <p className="text-muted">No output yet.</p>;
  if (typeof content === 'string') return <Markdown text={content} />;
  return <JsonView value={content} depth={2} />;
}

/** JSON as a tree, other texts as they are. */
export function Value({ value }: { readonly value: unknown }) {
  const read = typeof value === 'string' ? parsed(value) : value;
  if (typeof read === 'object' && read !== null) return <JsonView value={read} depth={2} />;
  return <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{String(value ?? '')}</p>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function ToolCalls({ tools }: { readonly tools: readonly ToolCallBody[] }) {
  if (tools.length === 0) return <EmptyState title="No tool was called" />;
  return (
    <ol className="flex flex-col gap-3">
      {tools.map((tool) => (
        <li key={tool.tool_call_id} className="min-w-0 rounded-lg border border-line bg-surface p-4">
          <div className="flex flex-wrap items-center gap-2 pb-3">
            <code className="font-medium">{tool.tool_name}</code>
            {tool.tool_call_error && <Badge tone="danger">failed</Badge>}
            {tool.confirmed === false && <Badge tone="warning">refused</Badge>}
            {tool.result === null && !tool.tool_call_error && <Badge>no result yet</Badge>}
            <span className="text-xs text-muted">
              {tool.metrics && formatDuration(tool.metrics.duration * 1_000)}
            </span>
          </div>
          <div className="grid grid-cols-1 gap-4 md:grid-cols-2">
            <Part title="Arguments">
              <JsonView value={tool.tool_args ?? {}} depth={2} />
            </Part>
            <Part title={tool.tool_call_error ? 'Error' : 'Result'}>
              <Value value={tool.result} />
            </Part>
          </div>
        </li>
      ))}
    </ol>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <h2 className="pb-1.5 text-xs font-medium text-muted">{title}</h2>
      {children}
    </div>
  );
}

interface StepState {
  readonly key: string;
  readonly status: string;
  readonly step_name?: unknown;
  readonly step_type?: unknown;
  readonly started_at?: unknown;
  readonly ended_at?: unknown;
}

const stepColumns: readonly Column<StepState>[] = [
  {
    id: 'name',
    header: 'Step',
    grow: true,
    cell: ({ key, step_name }) => (
      <span style={{ paddingLeft: 16 * (key.split('.').length - 1) }}>
        {String(step_name ?? key)}
        {iterationOf(key) && <span className="text-xs text-muted"> iteration {iterationOf(key)}</span>}
      </span>
    ),
  },
  { id: 'type', header: 'Type', hideBelow: 'sm', cell: ({ step_type }) => String(step_type ?? '') },
  { id: 'status', header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: 'duration',
    header: 'Duration',
    align: 'right',
    cell: ({ started_at: start, ended_at: end }) =>
      formatDuration(typeof start === 'number' && typeof end === 'number' ? end - start : undefined),
  },
];

function iterationOf(key: string): string | undefined {
  return /@(\d+)\.[^.@]*$/.exec(key)?.[1];
}

export function Steps({ states }: { readonly states: readonly StepState[] }) {
  return (
    <DataTable
      label="Steps"
      columns={stepColumns}
      rows={states}
      rowKey={({ key }) => key}
      empty={<EmptyState title="No step has started" />}
    />
  );
}

interface ModelUse {
  readonly id: string;
  readonly role: string;
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cost: number | undefined;
}

const modelColumns: readonly Column<ModelUse>[] = [
  { id: 'model', header: 'Model', grow: true, cell: ({ id }) => id },
  { id: 'role', header: 'Purpose', hideBelow: 'sm', cell: ({ role }) => role.replaceAll('_', ' ') },
  { id: 'input', header: 'Input', align: 'right', cell: ({ input }) => formatCount(input) },
  { id: 'output', header: 'Output', align: 'right', cell: ({ output }) => formatCount(output) },
  { id: 'cost', header: 'Cost', align: 'right', cell: ({ cost }) => formatCost(cost) },
];

/** Tokens and cost by model, as `metrics.details` lists them. */
export function ModelUses({ metrics }: { readonly metrics: Readonly<Record<string, unknown>> }) {
  const uses = usesIn(metrics);
  if (uses.length === 0) return null;
  return (
    <DataTable
      label="Tokens by model"
      columns={modelColumns}
      rows={uses}
      rowKey={({ id, role }) => `${role} ${id}`}
      empty={null}
    />
  );
}

function usesIn({ details }: Readonly<Record<string, unknown>>): readonly ModelUse[] {
  if (typeof details !== 'object' || details === null) return [];
  return Object.entries(details).flatMap(([role, models]) =>
    Array.isArray(models)
      ? models.map((model: object) => ({
          role,
          id: String(Reflect.get(model, 'id')),
          input: numberIn(model, 'input_tokens'),
          output: numberIn(model, 'output_tokens'),
          cost: numberIn(model, 'cost'),
        }))
      : [],
  );
}

interface MessageLike {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
  readonly from_history?: unknown;
}

export function RunMessages({ messages }: { readonly messages: readonly MessageLike[] }) {
  if (messages.length === 0)
    return <EmptyState title="No messages">They are stored when the run has paused or ended.</EmptyState>;
  return (
    <ol className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
      {messages.map(({ id, role, content, tool_calls, from_history }) => (
        <li key={id} className="min-w-0">
          <div className="flex gap-2 pb-1">
            <Badge tone={role === 'assistant' ? 'accent' : 'neutral'}>{role}</Badge>
            {from_history === true && <Badge>from an earlier run</Badge>}
          </div>
          {role === 'assistant' && typeof content === 'string' ? (
            <Markdown text={content} />
          ) : (
            <Value value={content} />
          )}
          {Array.isArray(tool_calls) && tool_calls.length > 0 && <JsonView value={tool_calls} depth={3} />}
        </li>
      ))}
    </ol>
  );
}

export function Failure({ type, content }: { readonly type: string | undefined; readonly content: unknown }) {
  return (
    <div role="alert" className="rounded-lg border border-line bg-danger-soft p-4 text-danger">
      <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
        {typeof content === 'string' && content ? content : 'The run failed.'}
      </p>
      {type && <p className="pt-1 font-mono text-xs">{type}</p>}
    </div>
  );
}
