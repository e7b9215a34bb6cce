import { Tooltip as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { usePortalTarget } from './overlay/portal-target.js';

/** A hint that appears beside an element with the pointer or the focus. It never holds what is needed to understand. */
export function Tooltip({ text, children }: { readonly text: string; readonly children: ReactNode }) {
  const container = usePortalTarget();
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal container={container}>
        <Radix.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-w-xs rounded-md border border-line bg-raised px-2 py-1 text-xs text-text shadow-raised"
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Once around the application. */
export function TooltipProvider({ children }: { readonly children: ReactNode }) {
  return <Radix.Provider delayDuration={400}>{children}</Radix.Provider>;
}
