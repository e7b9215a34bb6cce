import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useMemo, useState } from 'react';
import { useConnection, useMay } from '../connection/use-connection.js';
import { useComponents } from '../data/components.js';
import { cx } from '../ui/class-names.js';
import { Dialog } from '../ui/overlay/dialog.js';
import { type Command, matching, useRegisteredCommands } from './commands.js';
import { destinations } from './navigation.js';

const mostShown = 50;
const recentSessions = 8;

/** Finds pages, agents, sessions and actions by a few letters. */
export function Palette({ open, onClose }: { readonly open: boolean; onClose(): void }) {
  return open ? <OpenPalette onClose={onClose} /> : null;
}

function OpenPalette({ onClose }: { onClose(): void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const found = matching(usePaletteCommands(), text).slice(0, mostShown);
  const chosen = Math.min(at, found.length - 1);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = (chosen + step + found.length) % Math.max(1, found.length);
      setAt(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(found[chosen]);
    }
  };
  return (
    <Dialog open place="top" title="Command palette" titleShown={false} onClose={onClose}>
      <input
        autoFocus
        role="combobox"
        aria-label="Search pages, agents, sessions and actions"
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder="Search pages, agents, sessions …"
        className="sticky top-0 h-12 w-full border-b border-line bg-raised px-4 text-base outline-none"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Commands" className="p-2">
        {found.length === 0 && <p className="px-2 py-6 text-center text-muted">Nothing found</p>}
        {found.map((command, index) => (
          <div key={command.id}>
            {command.group !== found[index - 1]?.group && (
              <div role="presentation" className="px-2 pt-2 pb-1 text-xs font-medium text-muted">
                {command.group}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input. */}
            <div
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              className={cx(
                'flex min-h-9 cursor-pointer items-center gap-3 rounded-md px-2',
                index === chosen && 'bg-accent-soft',
              )}
              onPointerMove={() => setAt(index)}
              onClick={() => run(command)}
            >
              <span className="min-w-0 flex-1 truncate">{command.title}</span>
              {command.hint && <kbd className="font-mono text-xs text-muted">{command.hint}</kbd>}
            </div>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

function usePaletteCommands(): readonly Command[] {
  const navigate = useNavigate();
  const may = useMay();
  const registered = useRegisteredCommands();
  const { components } = useComponents();
  const sessions = useSessions(may('sessions:read'));
  return useMemo(() => {
    const pages = destinations
      .filter(({ scopes }) => scopes.length === 0 || scopes.some(may))
      .map(({ to, label, letter }) => ({
        id: `page ${to}`,
        group: 'Pages',
        title: label,
        hint: `g ${letter}`,
        run: () => void navigate({ to }),
      }));
    const chats = components.map(({ kind, id, name }) => ({
      id: `chat ${kind} ${id}`,
      group: 'Start a chat',
      title: name,
      keywords: `${kind} ${id}`,
      hint: kind,
      run: () => void navigate({ to: '/chat/$kind/$componentId', params: { kind, componentId: id } }),
    }));
    const recent = sessions.flatMap(({ session_id, session_name, session_type: kind, ...ids }) => {
      const componentId = ids.agent_id ?? ids.team_id ?? ids.workflow_id;
      if (componentId === undefined) return [];
      return {
        id: `session ${session_id}`,
        group: 'Recent sessions',
        title: session_name || session_id,
        hint: componentId,
        run: () =>
          void navigate({
            to: '/chat/$kind/$componentId',
            params: { kind, componentId },
            search: { session: session_id },
          }),
      };
    });
    return [...registered, ...pages, ...chats, ...recent];
  }, [navigate, may, registered, components, sessions]);
}

const none: readonly never[] = [];

function useSessions(enabled: boolean) {
  const { client, address } = useConnection();
  const { data } = useQuery({
    queryKey: ['sessions', address, 'recent'],
    queryFn: ({ signal }) =>
      client.sessions.list({ limit: recentSessions, sort_by: 'updated_at', sort_order: 'desc' }, { signal }),
    enabled,
  });
  return data?.data ?? none;
}
