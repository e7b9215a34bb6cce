import { type ReactNode, useEffect } from 'react';

export interface PageHeaderProps {
  /** Also the title of the browser's tab. */
  readonly title: string;
  readonly description?: ReactNode;
  /** Above the title, such as the list that the page belongs to. */
  readonly parent?: ReactNode;
  readonly actions?: ReactNode;
}

export function PageHeader({ title, description, parent, actions }: PageHeaderProps) {
  useTitle(title);
  return (
    <header className="flex flex-wrap items-end gap-x-4 gap-y-3 pb-4">
      <div className="min-w-0 flex-1 basis-60">
        {parent && <div className="text-xs">{parent}</div>}
        <h1 className="text-xl leading-tight font-semibold tracking-tight">{title}</h1>
        {description && <p className="mt-1 max-w-3xl text-muted">{description}</p>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}

/** The frame of a page that scrolls as a whole. */
export function Page({ children }: { readonly children: ReactNode }) {
  return <div className="mx-auto w-full max-w-6xl px-4 py-6 md:px-8">{children}</div>;
}

/** Sets the title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Runyard`;
  }, [title]);
}
