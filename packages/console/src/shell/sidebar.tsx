import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import Search from 'lucide-react/icons/search';
import { useConnection, useMay } from '../connection/use-connection.js';
import { useDatabases } from '../data/databases.js';
import { cx } from '../ui/class-names.js';
import { Field } from '../ui/forms/field.js';
import { Select } from '../ui/forms/inputs.js';
import { Logo } from './logo.js';
import { type Destination, groups, settingsEntry } from './navigation.js';
import { ServiceFooter } from './service-footer.js';
import { paletteKeys } from './shortcuts.js';

export interface SidebarProps {
  onSearch(): void;
  onHelp(): void;
}

/** The navigation: what the token allows. */
export function Sidebar({ onSearch, onHelp }: SidebarProps) {
  const may = useMay();
  const pending = usePendingApprovals(may('approvals:read'));
  const shown = groups
    .map(({ title, entries }) => ({
      title,
      entries: entries.filter(({ scopes }) => scopes.some(may)),
    }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <div className="flex h-full flex-col">
      <div className="flex h-14 shrink-0 items-center gap-2.5 px-4 text-base font-semibold tracking-tight">
        <Logo />
        Runyard
      </div>
      <div className="px-3 pb-2">
        <button
          type="button"
          className="flex h-8 w-full items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-muted hover:bg-hover"
          onClick={onSearch}
        >
          <Search aria-hidden className="size-4" />
          <span className="flex-1 text-left">Search</span>
          <kbd className="font-mono text-xs">{paletteKeys}</kbd>
        </button>
      </div>
      <nav aria-label="Pages of the console" className="min-h-0 flex-1 overflow-y-auto px-3 pb-3">
        {shown.map(({ title, entries }) => (
          <div key={title} className="pt-2">
            {title && <h2 className="px-2 pt-2 pb-1 text-xs font-medium text-muted">{title}</h2>}
            <ul>
              {entries.map((entry) => (
                <li key={entry.to}>
                  <Entry entry={entry} count={entry.to === '/approvals' ? pending : undefined} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="border-t border-line px-3 pt-2">
        <DatabaseChoice />
        <Entry entry={settingsEntry} />
      </div>
      <ServiceFooter onHelp={onHelp} />
    </div>
  );
}

function Entry({ entry, count }: { readonly entry: Destination; readonly count?: number | undefined }) {
  const path = useLocation({ select: ({ pathname }) => pathname });
  const Icon = entry.icon;
  // the chat is what the first page leads to
  const active = entry.to === '/' ? path === '/' || path.startsWith('/chat/') : path.startsWith(entry.to);
  return (
    <Link
      to={entry.to}
      aria-current={active ? 'page' : undefined}
      className={cx(
        'flex h-8 items-center gap-2.5 rounded-md px-2 focus-visible:-outline-offset-2',
        active ? 'bg-accent-soft font-medium text-accent-text' : 'hover:bg-hover',
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" />
      <span className="flex-1 truncate">{entry.label}</span>
      {count !== undefined && count > 0 && (
        <span className="rounded-full bg-accent px-1.5 text-xs font-medium text-on-accent">
          {count > 99 ? '99+' : count}
          <span className="sr-only"> pending</span>
        </span>
      )}
    </Link>
  );
}

/** Only where there is a choice. */
function DatabaseChoice() {
  const { ids, chosen, choose } = useDatabases();
  if (ids.length === 0) return null;
  return (
    <div className="px-2 pb-2">
      <Field label="Database">
        <Select
          value={chosen ?? ''}
          options={ids.map((id) => ({ value: id, label: id }))}
          onChange={(event) => choose(event.target.value)}
        />
      </Field>
    </div>
  );
}

const countMs = 15_000;

function usePendingApprovals(enabled: boolean): number | undefined {
  const { client, address } = useConnection();
  const { data } = useQuery({
    queryKey: ['approvals', address, 'count'],
    queryFn: ({ signal }) => client.approvals.getCount({}, { signal }),
    refetchInterval: countMs,
    enabled,
  });
  return data?.count;
}
