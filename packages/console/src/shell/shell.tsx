import { Outlet, useLocation } from '@tanstack/react-router';
import MenuIcon from 'lucide-react/icons/menu';
import Search from 'lucide-react/icons/search';
import { useCallback, useEffect, useRef, useState } from 'react';
import { TokenGate } from '../connection/token-gate.js';
import { IconButton } from '../ui/button.js';
import { Drawer } from '../ui/overlay/dialog.js';
import { Toaster } from '../ui/overlay/toaster.js';
import { Palette } from './palette.js';
import { ShortcutHelp } from './shortcut-help.js';
import { useShortcuts } from './shortcuts.js';
import { Sidebar } from './sidebar.js';
import { UnreachableBanner } from './unreachable-banner.js';

type Overlay = 'palette' | 'help' | 'navigation' | undefined;

/** What surrounds every page. */
export function Shell() {
  const [overlay, setOverlay] = useState<Overlay>();
  const main = useRef<HTMLElement>(null);
  const close = useCallback(() => setOverlay(undefined), []);
  const openPalette = useCallback(() => setOverlay('palette'), []);
  const openHelp = useCallback(() => setOverlay('help'), []);
  useShortcuts({ openPalette, openHelp });
  const path = useLocation({ select: ({ pathname }) => pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the page closes the navigation.
  useEffect(() => setOverlay((open) => (open === 'navigation' ? undefined : open)), [path]);
  const sidebar = <Sidebar onSearch={openPalette} onHelp={openHelp} />;
  return (
    <div className="flex h-full">
      <button
        type="button"
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2 focus:shadow-raised"
        onClick={() => main.current?.focus()}
      >
        Skip to the content
      </button>
      <aside className="w-56 shrink-0 border-r border-line max-md:hidden">{sidebar}</aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="flex h-12 shrink-0 items-center gap-1 border-b border-line px-2 md:hidden">
          <IconButton label="Open the navigation" onClick={() => setOverlay('navigation')}>
            <MenuIcon aria-hidden className="size-5" />
          </IconButton>
          <span className="flex-1 font-semibold">Runyard</span>
          <IconButton label="Search" onClick={openPalette}>
            <Search aria-hidden className="size-5" />
          </IconButton>
        </header>
        <UnreachableBanner />
        <main ref={main} tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto outline-none">
          <Outlet />
        </main>
      </div>
      <Drawer
        open={overlay === 'navigation'}
        side="left"
        size="small"
        title="Navigation"
        titleShown={false}
        onClose={close}
      >
        {sidebar}
      </Drawer>
      <Palette open={overlay === 'palette'} onClose={close} />
      <ShortcutHelp open={overlay === 'help'} onClose={close} />
      <TokenGate />
      <Toaster />
    </div>
  );
}
