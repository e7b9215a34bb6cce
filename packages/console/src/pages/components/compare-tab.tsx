import type { ComponentDiff } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { cx } from '../../ui/class-names.js';
import { FilterBar } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { EmptyState } from '../../ui/states.js';
import type { StoredComponent } from './stored-component.js';

/** What differs between two versions, field by field. */
export function CompareTab({ stored: { component, versions } }: { readonly stored: StoredComponent }) {
  const { client, address } = useConnection();
  const [search, change] = useSearchState();
  const numbers = versions.map(({ version }) => version);
  const given = (text: string | undefined) => numbers.find((number) => String(number) === text);
  const to = given(search.to) ?? numbers[0];
  const from = given(search.from) ?? numbers.find((number) => number !== to) ?? to;
  const diff = useQuery({
    queryKey: ['component-part', address, component.component_id, 'diff', from, to],
    enabled: from !== undefined && to !== undefined,
    queryFn: ({ signal }) =>
      client.components.compareConfigs(component.component_id, { from: from ?? 0, to: to ?? 0 }, { signal }),
  });
  if (versions.length < 2)
    return <EmptyState title="There is only one version">Save a second one to compare them.</EmptyState>;
  const options = versions.map(({ version, stage, label }) => ({
    value: String(version),
    label: `Version ${version} (${stage})${label ? ` · ${label}` : ''}`,
  }));
  return (
    <>
      <FilterBar>
        <Select
          aria-label="From version"
          className="max-w-64"
          value={String(from)}
          options={options}
          onChange={(event) => change({ from: event.target.value })}
        />
        <span className="text-muted">→</span>
        <Select
          aria-label="To version"
          className="max-w-64"
          value={String(to)}
          options={options}
          onChange={(event) => change({ to: event.target.value })}
        />
      </FilterBar>
      <Loaded query={diff}>{(found) => <Changes diff={found} />}</Loaded>
    </>
  );
}

type Change = ComponentDiff['changes'][number];

const tones: Readonly<Record<string, Tone>> = { added: 'success', removed: 'danger', changed: 'warning' };

function Changes({ diff: { changes, truncated } }: { readonly diff: ComponentDiff }) {
  if (changes.length === 0)
    return (
      <div className="rounded-lg border border-line bg-surface">
        <EmptyState title="The two versions are the same" />
      </div>
    );
  return (
    <ul aria-label="Differences" className="divide-y divide-line rounded-lg border border-line bg-surface">
      {changes.map((change) => (
        <li key={change.path} className="flex flex-col gap-2 px-4 py-3">
          <p className="flex items-center gap-2">
            <code className="font-medium [overflow-wrap:anywhere]">{change.path}</code>
            <Badge tone={tones[change.kind] ?? 'neutral'}>{change.kind}</Badge>
          </p>
          <Values change={change} />
        </li>
      ))}
      {truncated && <li className="px-4 py-3 text-muted">There are more than 1,000 differences.</li>}
    </ul>
  );
}

function Values({ change: { kind, before, after, lines } }: { readonly change: Change }) {
  const shown = lines ?? [
    ...(kind === 'added'
      ? []
      : textOf(before)
          .split('\n')
          .map((line) => `- ${line}`)),
    ...(kind === 'removed'
      ? []
      : textOf(after)
          .split('\n')
          .map((line) => `+ ${line}`)),
  ];
  return (
    <pre className="overflow-x-auto rounded-md bg-sunken py-1.5 font-mono text-[0.8125rem] leading-relaxed whitespace-pre-wrap">
      {shown.map((line, at) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text have only their places.
          key={at}
          className={cx(
            'px-3 [overflow-wrap:anywhere]',
            line.startsWith('- ') && 'bg-danger-soft text-danger',
            line.startsWith('+ ') && 'bg-success-soft text-success',
          )}
        >
          {line}
        </div>
      ))}
    </pre>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
