import { createLink } from '@tanstack/react-router';
import ExternalLink from 'lucide-react/icons/external-link';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';
import { cx } from './class-names.js';

const linkClass = 'text-accent-text underline decoration-1 underline-offset-2 hover:decoration-2';

function Anchor({
  className,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & { readonly ref?: Ref<HTMLAnchorElement> }) {
  return <a className={cx(linkClass, className)} {...rest} />;
}

/** A link to a page of the console. */
export const Link = createLink(Anchor);

/** A link to another place, which opens in a tab of its own. */
export function OuterLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href} className={linkClass}>
      {children}
      <ExternalLink aria-hidden className="mb-0.5 ml-0.5 inline size-3" />
    </a>
  );
}
