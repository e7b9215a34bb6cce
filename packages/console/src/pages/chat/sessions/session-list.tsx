import type { Kind, ListedSession } from '@runyard/client';
import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import Ellipsis from 'lucide-react/icons/ellipsis';
import Pencil from 'lucide-react/icons/pencil';
import Trash from 'lucide-react/icons/trash-2';
import { useEffect, useRef, useState } from 'react';
import { useConnection, useMay } from '../../../connection/use-connection.js';
import { Button, IconButton } from '../../../ui/button.js';
import { cx } from '../../../ui/class-names.js';
import { Time } from '../../../ui/format/time.js';
import { SearchInput } from '../../../ui/forms/filter-bar.js';
import { Menu } from '../../../ui/overlay/menu.js';
import { ErrorState, Skeleton } from '../../../ui/states.js';
import { DeleteSession, RenameSession } from './session-dialogs.js';

const pageSize = 30;
const refreshMs = 20_000;
const refreshedPages = 3;

export interface SessionListProps {
  readonly kind: Kind;
  readonly componentId: string;
  readonly dbId: string | undefined;
  readonly current: string | undefined;
  /** The session that is shown was deleted. */
  onDeleted(): void;
}

export function sessionsKey(address: string, kind: Kind, componentId: string): readonly unknown[] {
  return ['sessions', address, 'chat', kind, componentId];
}

/** The conversations with a component, the latest first. */
export function SessionList({ kind, componentId, dbId, current, onDeleted }: SessionListProps) {
  const { client, address } = useConnection();
  const [search, setSearch] = useState('');
  const query = useInfiniteQuery({
    queryKey: [...sessionsKey(address, kind, componentId), search],
    queryFn: ({ pageParam, signal }) =>
      client.sessions.list(
        {
          ...{ type: kind, component_id: componentId, limit: pageSize, page: pageParam },
          ...{ sort_by: 'updated_at', sort_order: 'desc' },
          ...(search && { session_name: search }),
          ...(dbId && { db_id: dbId }),
        },
        { signal },
      ),
    initialPageParam: 1,
    getNextPageParam: ({ meta: { page, total_pages } }) => (page < total_pages ? page + 1 : undefined),
    placeholderData: keepPreviousData,
    // all pages are read again: a person who has scrolled far down is not waiting for new sessions
    refetchInterval: ({ state: { data } }) =>
      (data?.pages.length ?? 1) > refreshedPages ? false : refreshMs,
  });
  const sessions = query.data?.pages.flatMap(({ data }) => data);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="px-3 pb-2">
        <SearchInput label="Search sessions" value={search} onChange={setSearch} />
      </div>
      <nav aria-label="Sessions" className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {query.isPending && <Skeleton className="m-2 h-24" />}
        {query.error && sessions === undefined && (
          <ErrorState error={query.error} onRetry={() => void query.refetch()} />
        )}
        {sessions?.length === 0 && (
          <p className="px-2 py-4 text-xs text-muted">
            {search ? 'No session has this in its name.' : 'Your conversations will be listed here.'}
          </p>
        )}
        <ul>
          {unique(sessions ?? []).map((session) => (
            <SessionEntry
              key={session.session_id}
              session={session}
              {...{ kind, componentId, dbId }}
              isCurrent={session.session_id === current}
              onDeleted={onDeleted}
            />
          ))}
        </ul>
        {query.hasNextPage && (
          <More isLoading={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
        )}
      </nav>
    </div>
  );
}

/** A session that was just used has moved to an earlier page than the one that was loaded with it. */
function unique(sessions: readonly ListedSession[]): readonly ListedSession[] {
  return [...new Map(sessions.map((session) => [session.session_id, session])).values()];
}

/** Loads more when it comes into view. */
function More({ isLoading, onMore }: { readonly isLoading: boolean; onMore(): void }) {
  const element = useRef<HTMLButtonElement>(null);
  const more = useRef(onMore);
  more.current = onMore;
  useEffect(() => {
    if (element.current === null || isLoading) return undefined;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) more.current();
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isLoading]);
  return (
    <Button ref={element} size="small" variant="ghost" className="w-full" busy={isLoading} onClick={onMore}>
      Show more
    </Button>
  );
}

interface SessionEntryProps extends Omit<SessionListProps, 'current'> {
  readonly session: ListedSession;
  readonly isCurrent: boolean;
}

function SessionEntry({ session, kind, componentId, dbId, isCurrent, onDeleted }: SessionEntryProps) {
  const { session_id: id, session_name: name, updated_at } = session;
  const [dialog, setDialog] = useState<'rename' | 'delete'>();
  const may = useMay();
  const queries = useQueryClient();
  const { address } = useConnection();
  const changed = () => queries.invalidateQueries({ queryKey: sessionsKey(address, kind, componentId) });
  const close = () => setDialog(undefined);
  const items = [
    ...(may('sessions:write')
      ? [
          {
            label: 'Rename',
            icon: <Pencil aria-hidden className="size-3.5" />,
            onSelect: () => setDialog('rename'),
          },
        ]
      : []),
    ...(may('sessions:delete')
      ? [
          {
            label: 'Delete',
            icon: <Trash aria-hidden className="size-3.5" />,
            destructive: true,
            onSelect: () => setDialog('delete'),
          },
        ]
      : []),
  ];
  const shown = name || 'Unnamed session';
  return (
    <li
      className={cx(
        'group relative flex items-center rounded-md',
        isCurrent ? 'bg-accent-soft' : 'hover:bg-hover has-focus-visible:bg-hover',
      )}
    >
      <Link
        to="/chat/$kind/$componentId"
        params={{ kind, componentId }}
        search={{ session: id }}
        aria-current={isCurrent ? 'true' : undefined}
        className="min-w-0 flex-1 rounded-md px-2 py-1.5 focus-visible:-outline-offset-2"
      >
        <span className={cx('block truncate', isCurrent && 'font-medium text-accent-text')}>{shown}</span>
        <span className="block text-xs text-muted">
          <Time at={updated_at} />
        </span>
      </Link>
      {items.length > 0 && (
        <Menu items={items}>
          <IconButton
            size="small"
            label={`Actions for ${shown}`}
            className="mr-1 opacity-0 group-hover:opacity-100 focus-visible:opacity-100 aria-expanded:opacity-100 pointer-coarse:opacity-100"
          >
            <Ellipsis aria-hidden className="size-4" />
          </IconButton>
        </Menu>
      )}
      {dialog === 'rename' && <RenameSession {...{ id, name, dbId }} onClose={close} onDone={changed} />}
      {dialog === 'delete' && (
        <DeleteSession
          {...{ id, dbId }}
          name={shown}
          onClose={close}
          onDone={() => {
            void changed();
            if (isCurrent) onDeleted();
          }}
        />
      )}
    </li>
  );
}
