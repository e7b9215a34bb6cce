import type { Content } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { JsonView } from '../../ui/content/json-view.js';
import { CopyButton } from '../../ui/copy-button.js';
import { formatBytes } from '../../ui/format/numbers.js';
import { Time } from '../../ui/format/time.js';
import { KeyValue } from '../../ui/key-value.js';
import { Link } from '../../ui/link.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { Panel } from '../../ui/panel.js';
import { inBase } from './bases.js';
import { ContentStatus } from './content-status.js';
import { DocumentMenu } from './document-menu.js';
import { useJobProgress } from './job-progress.js';
import { SearchPanel } from './search/search-panel.js';

const refreshMs = 3_000;

export function ContentPage() {
  const { client, address } = useConnection();
  const { contentId } = useParams({ from: '/knowledge/$contentId' });
  const [{ base: baseId }] = useSearchState();
  const query = useQuery({
    queryKey: ['content', address, baseId, contentId],
    queryFn: async ({ signal }): Promise<Content> => {
      const content = await client.knowledge.getContentById(contentId, inBase(baseId), { signal });
      const listed = await client.knowledge.getContent(
        { ...inBase(baseId), search: content.name ?? '', include_definition: true, limit: 100 },
        { signal },
      );
      const definition = listed.data.find(({ id }) => id === contentId)?.definition;
      return definition === undefined ? content : { ...content, definition };
    },
    refetchInterval: ({ state }) => (state.data?.status === 'processing' ? refreshMs : false),
  });
  const jobs = useJobProgress(baseId, query.data?.status === 'processing' ? [contentId] : []);
  return (
    <Page>
      <Loaded
        query={query}
        header={<PageHeader title="Document" parent={<Link to="/knowledge">Knowledge</Link>} />}
      >
        {(content) => <Shown content={content} baseId={baseId} job={jobs[contentId]} />}
      </Loaded>
    </Page>
  );
}

function Shown({
  content,
  baseId,
  job,
}: {
  readonly content: Content;
  readonly baseId: string | undefined;
  readonly job: Parameters<typeof ContentStatus>[0]['job'];
}) {
  const navigate = useNavigate();
  const { _agno, ...metadata } = content.metadata ?? {};
  return (
    <>
      <PageHeader
        title={content.name ?? content.id}
        description={content.description}
        parent={
          <Link to="/knowledge" search={{ base: baseId }}>
            Knowledge
          </Link>
        }
        actions={
          <DocumentMenu
            baseId={baseId}
            content={content}
            onDeleted={() => void navigate({ to: '/knowledge', search: { base: baseId } })}
          />
        }
      />
      <div className="flex flex-col gap-4">
        <Panel>
          <KeyValue
            entries={[
              ['State', <ContentStatus key="state" content={content} job={job} />],
              ['Type', content.type === 'manual' ? 'text' : content.type],
              ['Size', content.size && content.size !== '0' ? formatBytes(Number(content.size)) : undefined],
              ['Added from', origin(content)],
              ['Read with', content.definition?.reader_id],
              ['Split with', splitting(content)],
              ['Added', <Time key="added" at={content.created_at} style="absolute" />],
              ['Updated', <Time key="updated" at={content.updated_at} style="absolute" />],
              [
                'Id',
                <span key="id" className="inline-flex items-center gap-1">
                  <code className="text-xs">{content.id}</code>
                  <CopyButton text={content.id} label="Copy the id" />
                </span>,
              ],
            ]}
          />
        </Panel>
        {Object.keys(metadata).length > 0 && (
          <Panel title="Metadata">
            <JsonView value={metadata} />
          </Panel>
        )}
        <Panel title="Search in this document">
          <SearchPanel baseId={baseId} contentId={content.id} />
        </Panel>
      </div>
    </>
  );
}

function origin({ definition }: Content): string | undefined {
  const from = definition?.from;
  if (from === undefined) return undefined;
  if ('url' in from) return typeof from.url === 'string' ? from.url : from.url.join(', ');
  if ('source' in from) return `${from.source}: ${from.path}`;
  return 'file' in from ? from.file : 'a text';
}

function splitting({ definition }: Content): string | undefined {
  if (definition === undefined) return undefined;
  const { chunker, chunk_size, chunk_overlap } = definition;
  const sizes = [
    chunk_size === undefined ? '' : `size ${chunk_size}`,
    chunk_overlap === undefined ? '' : `overlap ${chunk_overlap}`,
  ];
  return [chunker ?? '', ...sizes].filter(Boolean).join(', ') || undefined;
}
