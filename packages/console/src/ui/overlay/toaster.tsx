import X from 'lucide-react/icons/x';
import { useEffect, useSyncExternalStore } from 'react';
import { Button, IconButton } from '../button.js';
import { currentToasts, dismissToast, subscribeToToasts, type Toast } from './toasts.js';

const shownMs = 6_000;

/** Where toasts appear. Once in the application. */
export function Toaster() {
  const toasts = useSyncExternalStore(subscribeToToasts, currentToasts);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed right-0 bottom-0 z-50 flex max-w-full flex-col items-end gap-2 p-4"
    >
      {toasts.map((one) => (
        <ShownToast key={one.id} toast={one} />
      ))}
    </div>
  );
}

function ShownToast({ toast: { id, title, tone, action } }: { readonly toast: Toast }) {
  useEffect(() => {
    const timer = setTimeout(() => dismissToast(id), shownMs);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div className="pointer-events-auto flex max-w-md items-center gap-2 rounded-lg border border-line bg-raised py-1.5 pr-1.5 pl-3 shadow-raised">
      <span className={tone === 'danger' ? 'text-danger' : undefined}>{title}</span>
      {action && (
        <Button
          size="small"
          onClick={() => {
            dismissToast(id);
            action.onClick();
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton size="small" label="Dismiss" onClick={() => dismissToast(id)}>
        <X aria-hidden className="size-3.5" />
      </IconButton>
    </div>
  );
}
