import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { cx } from '../class-names.js';
import { usePortalTarget } from './portal-target.js';

export interface MenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly destructive?: boolean;
  readonly disabled?: boolean;
  onSelect(): void;
}

export interface MenuProps {
  /** A button. */
  readonly children: ReactNode;
  /** Groups are separated by a line. */
  readonly items: readonly (MenuItem | 'line')[];
  readonly align?: 'start' | 'end';
}

/** Actions behind a button. It is not modal: the library would lock the page with a style that the page forbids. */
export function Menu({ children, items, align = 'end' }: MenuProps) {
  const container = usePortalTarget();
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={container}>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-50 min-w-44 rounded-lg border border-line bg-raised p-1 shadow-raised"
        >
          {items.map((item, at) =>
            item === 'line' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing else.
              <DropdownMenu.Separator key={at} className="my-1 h-px bg-line" />
            ) : (
              <DropdownMenu.Item
                key={item.label}
                disabled={item.disabled ?? false}
                onSelect={item.onSelect}
                className={cx(
                  'flex h-8 items-center gap-2 rounded-md px-2 outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover',
                  item.destructive && 'text-danger',
                )}
              >
                {item.icon}
                {item.label}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
