import { useSearchState } from '../../../data/search-state.js';
import { Button } from '../../../ui/button.js';
import type { KnowledgeBase } from '../bases.js';
import { SearchPanel } from './search-panel.js';

/** What agents would find. */
export function SearchTab({ base }: { readonly base: KnowledgeBase }) {
  const [{ content }, change] = useSearchState();
  return (
    <div className="flex flex-col gap-3">
      {content && (
        <p className="flex flex-wrap items-center gap-2 text-muted">
          In one document only.
          <Button size="small" onClick={() => change({ content: undefined })}>
            Search everywhere
          </Button>
        </p>
      )}
      <SearchPanel baseId={base.id} contentId={content} />
    </div>
  );
}
