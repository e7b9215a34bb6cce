import type { PageMeta } from '@runyard/client';
import ChevronLeft from 'lucide-react/icons/chevron-left';
import ChevronRight from 'lucide-react/icons/chevron-right';
import { IconButton } from '../button.js';
import { formatCount } from '../format/numbers.js';

/** Which part of a list is shown. Nothing where one page holds it all. */
export function Pagination({
  meta,
  onPage,
}: {
  readonly meta: PageMeta | undefined;
  onPage(page: number): void;
}) {
  if (meta === undefined || meta.total_pages <= 1) return null;
  const { page, limit, total_pages, total_count } = meta;
  const first = (page - 1) * limit + 1;
  return (
    <nav aria-label="Pages" className="flex items-center justify-end gap-1 pt-3 text-xs text-muted">
      <span className="mr-2">
        {formatCount(first)}–{formatCount(Math.min(page * limit, total_count))} of {formatCount(total_count)}
      </span>
      <IconButton size="small" label="Previous page" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        <ChevronLeft aria-hidden className="size-4" />
      </IconButton>
      <IconButton
        size="small"
        label="Next page"
        disabled={page >= total_pages}
        onClick={() => onPage(page + 1)}
      >
        <ChevronRight aria-hidden className="size-4" />
      </IconButton>
    </nav>
  );
}
