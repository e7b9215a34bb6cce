import { useMay } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { Select } from '../../ui/forms/inputs.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { type KnowledgeBase, useKnowledgeBases, useKnowledgeConfig } from './bases.js';
import { DocumentsTab } from './documents-tab.js';
import { EmbedderWarning } from './embedder-warning.js';
import { SearchTab } from './search/search-tab.js';
import { SourcesTab } from './sources-tab.js';

export function KnowledgePage() {
  const bases = useKnowledgeBases();
  const [search, change] = useSearchState();
  const chosen = bases.data?.find(({ id }) => id === search.base) ?? bases.data?.[0];
  const several = (bases.data?.length ?? 0) > 1;
  return (
    <Page>
      <PageHeader
        title="Knowledge"
        description={chosen?.description ?? 'Documents that agents search.'}
        actions={
          several && (
            <Select
              aria-label="Knowledge base"
              className="max-w-64"
              value={chosen?.id}
              options={(bases.data ?? []).map(({ id = '', name }) => ({ value: id, label: name }))}
              // a search or a folder of one knowledge base says nothing about another
              onChange={(event) => change({ base: event.target.value, tab: search.tab, folder: undefined })}
            />
          )
        }
      />
      <Loaded query={bases}>
        {() => (chosen === undefined ? <NoBases /> : <BaseTabs key={chosen.id} base={chosen} />)}
      </Loaded>
    </Page>
  );
}

function BaseTabs({ base }: { readonly base: KnowledgeBase }) {
  const [search, change] = useSearchState();
  const config = useKnowledgeConfig(base.id);
  const may = useMay();
  const sources = config.data?.remote_content_sources ?? [];
  const tabs = [
    { id: 'documents', label: 'Documents', content: <DocumentsTab base={base} /> },
    { id: 'search', label: 'Search', content: <SearchTab base={base} /> },
    ...(sources.length > 0 && base.id !== undefined
      ? [
          {
            id: 'sources',
            label: 'Sources',
            content: <SourcesTab baseId={base.id} sources={sources} mayAdd={may('knowledge:write')} />,
          },
        ]
      : []),
  ];
  const tab = tabs.some(({ id }) => id === search.tab) ? (search.tab ?? '') : 'documents';
  return (
    <>
      {config.data && <EmbedderWarning config={config.data} />}
      <Tabs
        label="Parts of the knowledge base"
        tabs={tabs}
        value={tab}
        onChange={(id) => change({ tab: id === 'documents' ? undefined : id })}
      />
    </>
  );
}

function NoBases() {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <EmptyState title="This service has no knowledge base">
        Define one in the code and give it to an agent, or to the service:{' '}
        <code className="rounded bg-sunken px-1 py-0.5 text-xs">
          {"new Runyard({ knowledge: [knowledge({ name: 'Handbook' })] })"}
        </code>
      </EmptyState>
    </div>
  );
}
