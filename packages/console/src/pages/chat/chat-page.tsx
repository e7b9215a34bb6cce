import { type Kind, NotFoundError } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import History from 'lucide-react/icons/history';
import SquarePen from 'lucide-react/icons/square-pen';
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { store as keep } from '../../connection/storage.js';
import { useConnection } from '../../connection/use-connection.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { Badge } from '../../ui/badge.js';
import { IconButton } from '../../ui/button.js';
import { Link } from '../../ui/link.js';
import { Drawer } from '../../ui/overlay/dialog.js';
import { useTitle } from '../../ui/page-header.js';
import { EmptyState, Skeleton } from '../../ui/states.js';
import { useConversation } from './conversation/use-conversation.js';
import { useSessionId } from './conversation/use-session-id.js';
import { Conversation } from './conversation.js';
import { sessionsKey } from './sessions/session-list.js';
import { SessionsPanel } from './sessions/sessions-panel.js';
import { useComponentDetail } from './use-component.js';

const kinds: readonly Kind[] = ['agent', 'team', 'workflow'];

export function ChatPage() {
  const { kind, componentId } = useParams({ from: '/chat/$kind/$componentId' });
  const { address } = useConnection();
  const known = kinds.find((one) => one === kind) ?? 'agent';
  return <Chat key={`${address} ${known} ${componentId}`} kind={known} id={componentId} />;
}

function Chat({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const { client, address } = useConnection();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [search, change] = useSearchState();
  const [isListOpen, setIsListOpen] = useState(false);
  const detail = useComponentDetail(kind, id);
  const name = detail.data?.name ?? id;
  const isFound = detail.isSuccess;
  useEffect(() => {
    // the first page of the console opens the chat that was used last
    if (isFound) keep('local', 'chat', `${kind}/${id}`);
  }, [isFound, kind, id]);
  const dbId = detail.data?.dbId;
  const { sessionId, isNew, startNew } = useSessionId(search.session);
  const draftKey = search.session ?? `new ${kind} ${id}`;
  useTitle(name);
  useSessionOfRun(kind, id, search.session === undefined ? search.run : undefined);
  const store = useConversation(
    detail.isPending
      ? undefined
      : {
          ...{ client, kind, componentId: id, dbId, sessionId, isNew },
          nameOf: (of) => (of === id ? name : (detail.data?.members.get(of) ?? of)),
          onActivity: () => {
            void queries.invalidateQueries({ queryKey: sessionsKey(address, kind, id) });
          },
        },
  );
  const open = useCallback(
    (session: string | undefined) =>
      void navigate({
        to: '/chat/$kind/$componentId',
        params: { kind, componentId: id },
        search: session === undefined ? {} : { session },
      }),
    [navigate, kind, id],
  );
  const openNew = useCallback(() => {
    setIsListOpen(false);
    startNew();
    open(undefined);
  }, [startNew, open]);
  const begin = useCallback(() => change({ session: sessionId }), [change, sessionId]);
  const commands = useMemo(
    () => [
      { id: 'chat new', group: 'Chat', title: 'New chat', run: openNew },
      { id: 'chat sessions', group: 'Chat', title: 'Show sessions', run: () => setIsListOpen(true) },
    ],
    [openNew],
  );
  useCommands(commands);
  const panel = (
    <SessionsPanel
      {...{ kind, componentId: id, dbId }}
      current={search.session}
      onNew={openNew}
      onDeleted={openNew}
    />
  );
  return (
    <div className="flex h-full min-h-0">
      <aside aria-label="Sessions of this chat" className="w-64 shrink-0 border-r border-line max-lg:hidden">
        {panel}
      </aside>
      <section aria-label={`Chat with ${name}`} className="flex min-w-0 flex-1 flex-col">
        <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-4">
          <h1 className="min-w-0 truncate font-semibold tracking-tight">{name}</h1>
          <Badge>{kind}</Badge>
          <span className="flex-1" />
          <span className="flex lg:hidden">
            <IconButton label="Sessions" onClick={() => setIsListOpen(true)}>
              <History aria-hidden className="size-4" />
            </IconButton>
            <IconButton label="New chat" onClick={openNew}>
              <SquarePen aria-hidden className="size-4" />
            </IconButton>
          </span>
        </header>
        {detail.error instanceof NotFoundError ? (
          <EmptyState title={`There is no ${kind} “${id}”`}>
            It was removed or renamed, or your token does not allow you to see it.{' '}
            <Link to="/">Open another chat</Link>
          </EmptyState>
        ) : store ? (
          <Conversation
            key={sessionId}
            {...{ kind, id, store, dbId, draftKey }}
            detail={detail.data}
            detailError={detail.error}
            runId={search.run}
            onBegin={begin}
            onBranch={open}
          />
        ) : (
          <div className="mx-auto w-full max-w-3xl flex-1 p-8">
            <Skeleton className="h-24" />
          </div>
        )}
      </section>
      <Drawer
        open={isListOpen}
        side="left"
        size="small"
        title="Sessions"
        titleShown={false}
        onClose={() => setIsListOpen(false)}
      >
        <SessionDrawer session={search.session} onClose={() => setIsListOpen(false)}>
          {panel}
        </SessionDrawer>
      </Drawer>
    </div>
  );
}

/** A link may name only a run: its session is then looked up. */
function useSessionOfRun(kind: Kind, id: string, runId: string | undefined): void {
  const { client } = useConnection();
  const [, change] = useSearchState();
  useEffect(() => {
    if (runId === undefined) return undefined;
    const asking = new AbortController();
    client[`${kind}s`]
      .getRun(id, runId, {}, { signal: asking.signal })
      .then(({ session_id }) => change({ session: session_id }))
      // the chat is empty then
      .catch(() => undefined);
    return () => asking.abort();
  }, [client, kind, id, runId, change]);
}

/** Closes the drawer when a session was chosen in it. */
function SessionDrawer({
  session,
  onClose,
  children,
}: {
  readonly session: string | undefined;
  onClose(): void;
  readonly children: ReactNode;
}) {
  const [first] = useState(session);
  useEffect(() => {
    if (session !== first) onClose();
  }, [session, first, onClose]);
  return children;
}
