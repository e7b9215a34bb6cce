import { useState } from 'react';
import { JsonView } from '../../../ui/content/json-view.js';
import { Markdown } from '../../../ui/content/markdown.js';
import { safeLink } from '../../../ui/content/markdown-source.js';
import { OuterLink } from '../../../ui/link.js';
import { Drawer } from '../../../ui/overlay/dialog.js';
import type { Citations, Reference, SearchReferences } from '../run/run-view.js';
import { Disclosure } from './disclosure.js';

/** What was found in knowledge. Each chunk opens beside the conversation. */
export function References({ searches }: { readonly searches: readonly SearchReferences[] }) {
  const [opened, setOpened] = useState<Reference>();
  const all = searches.flatMap(({ references }) => references);
  if (all.length === 0) return null;
  return (
    <>
      <Disclosure
        summary={
          <span className="text-muted">
            {all.length === 1 ? '1 reference' : `${all.length} references`} from knowledge
          </span>
        }
      >
        {() =>
          searches.map(({ query, references }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same words may be searched for twice.
            <div key={at} className="py-1">
              {query && <p className="text-xs text-muted">Searched for “{query}”</p>}
              <ol className="ml-5 list-decimal">
                {references.map((reference, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: chunks of one content have the same name.
                  <li key={index} className="truncate marker:text-muted">
                    <button
                      type="button"
                      className="text-accent-text underline decoration-1 underline-offset-2"
                      onClick={() => setOpened(reference)}
                    >
                      {reference.name ?? 'Unnamed'}
                    </button>{' '}
                    <span className="text-xs text-muted">{inShort(reference.content)}</span>
                  </li>
                ))}
              </ol>
            </div>
          ))
        }
      </Disclosure>
      <Drawer
        open={opened !== undefined}
        title={opened?.name ?? 'Reference'}
        onClose={() => setOpened(undefined)}
      >
        {opened && (
          <div className="flex flex-col gap-3">
            <Markdown text={opened.content} />
            {Object.keys(opened.meta_data).length > 0 && <JsonView value={opened.meta_data} />}
          </div>
        )}
      </Drawer>
    </>
  );
}

/** The beginning of a chunk, without the marks of Markdown. */
function inShort(text: string): string {
  return text
    .slice(0, 300)
    .replace(/[#*`>|\s]+/g, ' ')
    .trim()
    .slice(0, 140);
}

/** What the model says that its answer rests on. */
export function CitationList({ citations }: { readonly citations: Citations }) {
  const { urls = [], documents = [], search_queries: queries = [] } = citations;
  if (urls.length + documents.length === 0) return null;
  return (
    <div className="border-l-2 border-line pl-3 text-xs">
      <p className="font-medium text-muted">Sources</p>
      <ol className="ml-4 list-decimal">
        {urls.map(({ url, title }) => (
          <li key={url} className="[overflow-wrap:anywhere]">
            {safeLink(url) ? <OuterLink href={url}>{title ?? url}</OuterLink> : (title ?? url)}
          </li>
        ))}
        {documents.map(({ document_title: title, file_name: file, cited_text: text }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a document may be cited twice.
          <li key={at} className="[overflow-wrap:anywhere]">
            {title ?? file ?? 'Document'} {text && <q className="text-muted">{text}</q>}
          </li>
        ))}
      </ol>
      {queries.length > 0 && <p className="mt-1 text-muted">Searched for {queries.join(', ')}</p>}
    </div>
  );
}
