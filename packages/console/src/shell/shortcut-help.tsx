import { Dialog } from '../ui/overlay/dialog.js';
import { destinations } from './navigation.js';
import { paletteKeys } from './shortcuts.js';

export function ShortcutHelp({ open, onClose }: { readonly open: boolean; onClose(): void }) {
  const rows = [
    [paletteKeys, 'Command palette'],
    ['?', 'This help'],
    ...destinations.map(({ letter, label }) => [`g ${letter}`, label]),
  ] as const;
  return (
    <Dialog open={open} size="small" title="Keyboard shortcuts" onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        {rows.map(([keys, meaning]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">
                {keys}
              </kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
