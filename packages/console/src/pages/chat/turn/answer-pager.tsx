import ChevronLeft from 'lucide-react/icons/chevron-left';
import ChevronRight from 'lucide-react/icons/chevron-right';
import { IconButton } from '../../../ui/button.js';

/** Moves between the answers to a message. Agents see the last one. */
export function AnswerPager({
  at,
  count,
  onChange,
}: {
  readonly at: number;
  readonly count: number;
  onChange(at: number): void;
}) {
  return (
    <span className="inline-flex items-center">
      <IconButton size="small" label="Previous answer" disabled={at === 0} onClick={() => onChange(at - 1)}>
        <ChevronLeft aria-hidden className="size-3.5" />
      </IconButton>
      <span>
        {at + 1} of {count}
      </span>
      <IconButton
        size="small"
        label="Next answer"
        disabled={at === count - 1}
        onClick={() => onChange(at + 1)}
      >
        <ChevronRight aria-hidden className="size-3.5" />
      </IconButton>
    </span>
  );
}
