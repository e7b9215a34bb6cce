import {
  type CSSProperties,
  cloneElement,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  type ToggleEvent,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { cx } from '../class-names.js';

export interface MenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly destructive?: boolean;
  readonly disabled?: boolean;
  onSelect(): void;
}

export interface MenuProps {
  /** A button. */
  readonly children: ReactElement;
  /** Groups are separated by a line. */
  readonly items: readonly (MenuItem | 'line')[];
  readonly align?: 'start' | 'end';
}

interface MenuButton {
  readonly popoverTarget?: string;
  readonly 'aria-haspopup'?: 'menu';
  readonly 'aria-expanded'?: boolean;
}

/** Actions behind a button. The browser closes it with Escape and with a click beside it, and returns the focus. */
export function Menu({ children, items, align = 'end' }: MenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<CSSProperties>();
  const isOpen = place !== undefined;
  useEffect(() => {
    if (!isOpen) return;
    // it would stay where it is while its button moves
    const close = ({ target }: Event) => {
      if (target !== menu.current) menu.current?.hidePopover();
    };
    addEventListener('scroll', close, true);
    addEventListener('resize', close);
    return () => {
      removeEventListener('scroll', close, true);
      removeEventListener('resize', close);
    };
  }, [isOpen]);
  const onBeforeToggle = ({ newState }: ToggleEvent) => {
    const button = document.querySelector(`[popovertarget="${CSS.escape(id)}"]`);
    if (newState === 'open' && button) setPlace(placeBeside(button, align, items.length));
  };
  // the items stay until it is closed: the browser returns the focus only from what is there
  const onToggle = ({ newState, currentTarget }: ToggleEvent<HTMLElement>) => {
    if (newState === 'open') enabledItems(currentTarget)[0]?.focus();
    else setPlace(undefined);
  };
  return (
    <>
      {/* buttons pass on what they do not know */}
      {cloneElement(children as ReactElement<MenuButton>, {
        popoverTarget: id,
        'aria-haspopup': 'menu',
        'aria-expanded': isOpen,
      })}
      <div
        ref={menu}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        style={place}
        className="min-w-44 overflow-y-auto rounded-lg border border-line bg-raised p-1 text-left text-sm font-normal text-text shadow-raised"
        onBeforeToggle={onBeforeToggle}
        onToggle={onToggle}
        onKeyDown={onKeyDown}
        // what surrounds the button, such as a row, is not meant
        onClick={(event) => event.stopPropagation()}
      >
        {isOpen &&
          items.map((item, at) =>
            item === 'line' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing else.
              <hr key={at} className="my-1 border-line" />
            ) : (
              <button
                key={item.label}
                type="button"
                role="menuitem"
                tabIndex={-1}
                disabled={item.disabled ?? false}
                className={cx(
                  'flex h-8 w-full items-center gap-2 rounded-md px-2 whitespace-nowrap outline-none select-none focus:bg-hover disabled:opacity-50',
                  item.destructive && 'text-danger',
                )}
                onPointerMove={(event) => event.currentTarget.focus({ preventScroll: true })}
                onClick={() => {
                  menu.current?.hidePopover();
                  item.onSelect();
                }}
              >
                {item.icon}
                {item.label}
              </button>
            ),
          )}
      </div>
    </>
  );
}

function enabledItems(menu: Element): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role=menuitem]:enabled')];
}

/** Arrows, Home and End, and the first letter of an item. */
function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
  const items = enabledItems(event.currentTarget);
  const at = items.findIndex((item) => item.matches(':focus'));
  const next = (): HTMLElement | undefined => {
    if (event.key === 'ArrowDown') return items[(at + 1) % items.length];
    if (event.key === 'ArrowUp') return items.at(at <= 0 ? -1 : at - 1);
    if (event.key === 'Home') return items[0];
    if (event.key === 'End') return items.at(-1);
    const begins = (item: HTMLElement) => item.textContent.toLowerCase().startsWith(event.key.toLowerCase());
    return [...items.slice(at + 1), ...items.slice(0, at + 1)].find(begins);
  };
  if (event.key === 'Tab') event.currentTarget.hidePopover();
  const found = event.key === ' ' ? undefined : next();
  if (found === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  found.focus();
}

const gap = 4;
const margin = 8;
const itemHeight = 32;
const leastWidth = 200;

/** Below the button; above it where there is more room. */
function placeBeside(button: Element, align: 'start' | 'end', items: number): CSSProperties {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const [above, below] = [top - gap - margin, innerHeight - bottom - gap - margin];
  const down = below >= Math.min(above, items * itemHeight + 2 * margin);
  const atRight = align === 'end' ? right >= leastWidth : innerWidth - left < leastWidth;
  return {
    maxHeight: down ? below : above,
    maxWidth: innerWidth - 2 * margin,
    inset: 'auto',
    ...(down ? { top: bottom + gap } : { bottom: innerHeight - top + gap }),
    ...(atRight ? { right: Math.max(margin, innerWidth - right) } : { left: Math.max(margin, left) }),
  };
}
