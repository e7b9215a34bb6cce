import { type LinkProps, Link as RouterLink } from '@tanstack/react-router';
import ArrowDown from 'lucide-react/icons/arrow-down';
import ArrowUp from 'lucide-react/icons/arrow-up';
import type { ReactNode } from 'react';
import { cx } from '../class-names.js';
import { ErrorState, Skeleton } from '../states.js';

export interface Column<T> {
  readonly id: string;
  readonly header: string;
  /** The header is only read aloud, such as that of buttons. */
  readonly headerHidden?: boolean;
  cell(row: T): ReactNode;
  /** Numbers stand at the right. */
  readonly align?: 'left' | 'right';
  /** Left out on screens that are narrower. */
  readonly hideBelow?: 'sm' | 'md' | 'lg';
  /** Set where the service can sort by it. */
  readonly sortable?: boolean;
  /** The column that takes the space that is left. */
  readonly grow?: boolean;
}

export interface Sort {
  readonly by: string;
  readonly direction: 'asc' | 'desc';
}

export interface DataTableProps<T> {
  /** What the rows are, for those who do not see them. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  /** Undefined while they are loaded for the first time. */
  readonly rows: readonly T[] | undefined;
  rowKey(row: T): string;
  /** Where a row leads. The first column is the link; the whole row takes the click. */
  rowLink?(row: T): LinkProps;
  readonly sort?: Sort | undefined;
  onSort?(sort: Sort): void;
  readonly error?: unknown;
  onRetry?(): void;
  /** Shown instead of the table when there are no rows. */
  readonly empty: ReactNode;
  /** Older rows are shown while newer ones are loaded. */
  readonly isStale?: boolean;
}

const hidden = { sm: 'max-sm:hidden', md: 'max-md:hidden', lg: 'max-lg:hidden' };
const skeletonRows = ['a', 'b', 'c', 'd', 'e'];

export function DataTable<T>(props: DataTableProps<T>) {
  const { label, columns, rows, error, onRetry, empty, isStale } = props;
  if (error !== undefined && error !== null && rows === undefined)
    return <Frame>{<ErrorState error={error} {...(onRetry && { onRetry })} />}</Frame>;
  if (rows?.length === 0) return <Frame>{empty}</Frame>;
  return (
    <Frame>
      <div tabIndex={0} className="relative overflow-x-auto rounded-lg focus-visible:-outline-offset-2">
        <table
          aria-label={label}
          aria-busy={rows === undefined}
          className={cx('w-full border-collapse text-left', isStale && 'opacity-60')}
        >
          <thead>
            <tr className="border-b border-line">
              {columns.map((column) => (
                <Header key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows === undefined
              ? skeletonRows.map((key) => <SkeletonRow key={key} columns={columns} />)
              : rows.map((row) => <Row key={props.rowKey(row)} row={row} {...props} />)}
          </tbody>
        </table>
      </div>
    </Frame>
  );
}

function Frame({ children }: { readonly children: ReactNode }) {
  return <div className="rounded-lg border border-line bg-surface">{children}</div>;
}

function Header<T>({
  column: { id, header, headerHidden, align, hideBelow, sortable },
  sort,
  onSort,
}: {
  readonly column: Column<T>;
  readonly sort: Sort | undefined;
  readonly onSort: ((sort: Sort) => void) | undefined;
}) {
  const sorted = sort?.by === id ? sort.direction : undefined;
  const Arrow = sorted === 'asc' ? ArrowUp : ArrowDown;
  return (
    <th
      scope="col"
      aria-sort={sorted && (sorted === 'asc' ? 'ascending' : 'descending')}
      className={cx(
        'h-9 px-2 text-xs first:pl-3 last:pr-3 sm:px-3 font-medium whitespace-nowrap text-muted',
        align === 'right' && 'text-right',
        hideBelow && hidden[hideBelow],
      )}
    >
      {sortable && onSort ? (
        <button
          type="button"
          className="inline-flex items-center gap-1 hover:text-text"
          onClick={() => onSort({ by: id, direction: sorted === 'desc' ? 'asc' : 'desc' })}
        >
          {header}
          <Arrow aria-hidden className={cx('size-3', !sorted && 'invisible')} />
        </button>
      ) : (
        <span className={headerHidden ? 'sr-only' : undefined}>{header}</span>
      )}
    </th>
  );
}

function Row<T>({ row, columns, rowLink }: DataTableProps<T> & { readonly row: T }) {
  const link = rowLink?.(row);
  return (
    <tr className={cx('border-t border-line first:border-t-0', link && 'relative hover:bg-hover')}>
      {columns.map(({ id, cell, align, hideBelow, grow }, at) => (
        <td
          key={id}
          className={cx(
            'h-10 px-2 py-1.5 align-middle first:pl-3 last:pr-3 sm:px-3',
            align === 'right' && 'text-right',
            grow ? 'w-full min-w-28 sm:min-w-40' : 'whitespace-nowrap',
            hideBelow && hidden[hideBelow],
          )}
        >
          {at === 0 && link ? (
            <RouterLink
              {...link}
              className="font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent-text"
            >
              {cell(row)}
            </RouterLink>
          ) : (
            cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}

function SkeletonRow<T>({ columns }: { readonly columns: readonly Column<T>[] }) {
  return (
    <tr className="border-t border-line first:border-t-0">
      {columns.map(({ id, hideBelow, grow }) => (
        <td key={id} className={cx('h-10 px-3', grow && 'w-full', hideBelow && hidden[hideBelow])}>
          <Skeleton className={grow ? 'h-3.5 w-48 max-w-full' : 'h-3.5 w-16'} />
        </td>
      ))}
    </tr>
  );
}
