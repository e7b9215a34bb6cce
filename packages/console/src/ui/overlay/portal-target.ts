import { createContext, useContext } from 'react';

/** Where menus and tooltips are drawn: within an open dialog, because everything outside it is inert. */
export const PortalTarget = createContext<HTMLElement | null>(null);

export function usePortalTarget(): HTMLElement | null {
  return useContext(PortalTarget);
}
