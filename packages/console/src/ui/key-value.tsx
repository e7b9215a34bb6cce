import { Fragment, type ReactNode } from 'react';

/** Names and values, one below the other. Entries without a value are left out. */
export function KeyValue({
  entries,
}: {
  readonly entries: readonly (readonly [name: string, value: ReactNode])[];
}) {
  const shown = entries.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return (
    <dl className="grid grid-cols-1 gap-x-6 gap-y-1 sm:grid-cols-[minmax(8rem,auto)_minmax(0,1fr)] sm:gap-y-2">
      {shown.map(([name, value]) => (
        <Fragment key={name}>
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 pb-2 [overflow-wrap:anywhere] sm:pb-0">{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
