import { cloneElement, type ReactElement } from 'react';

interface Hinted {
  readonly 'data-tooltip'?: string;
}

/** A hint that appears beside an element with the pointer or the focus. It never holds what is needed to understand. */
export function Tooltip({ text, children }: { readonly text: string; readonly children: ReactElement }) {
  // every element takes attributes of its own
  return cloneElement(children as ReactElement<Hinted>, { 'data-tooltip': text });
}
