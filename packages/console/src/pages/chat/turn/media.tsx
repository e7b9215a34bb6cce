import { useQuery } from '@tanstack/react-query';
import Download from 'lucide-react/icons/download';
import FileText from 'lucide-react/icons/file-text';
import { useEffect, useState } from 'react';
import { useConnection } from '../../../connection/use-connection.js';
import { formatBytes } from '../../../ui/format/numbers.js';
import { OuterLink } from '../../../ui/link.js';
import { Skeleton } from '../../../ui/states.js';
import { useChat } from '../chat-context.js';
import { textIn } from '../run/read-fields.js';
import { type Fields, type MediaKind, type MediaLists, mediaKinds } from '../run/run-view.js';
import { mediaOfBody } from '../run/stored-run.js';

/** Media of a run. Lists and events only describe them; the bytes are in the body of the run, which is loaded for them. */
export function MediaGallery({
  media,
  runId,
  side,
}: {
  readonly media: MediaLists;
  readonly runId: string;
  readonly side: 'input' | 'output';
}) {
  const described = mediaKinds.flatMap((kind) => (media[kind] ?? []).map((item) => ({ kind, item })));
  const isComplete = described.every(({ item }) => hasSource(item));
  const bytes = useBytes(runId, side, !isComplete);
  return (
    <ul className="my-1 flex flex-wrap gap-2">
      {described.map(({ kind, item }, at) => (
        <li key={textIn(item.id) ?? at} className="min-w-0">
          <MediaItem kind={kind} item={bytes.found(kind, item) ?? item} isLoading={bytes.isLoading} />
        </li>
      ))}
    </ul>
  );
}

function useBytes(runId: string, side: 'input' | 'output', isNeeded: boolean) {
  const { client, address } = useConnection();
  const { kind, componentId } = useChat();
  const { data, isPending } = useQuery({
    queryKey: ['run media', address, kind, componentId, runId],
    queryFn: async ({ signal }) =>
      mediaOfBody(await client[`${kind}s`].getRun(componentId, runId, {}, { signal })),
    enabled: isNeeded,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return {
    isLoading: isNeeded && isPending,
    found: (of: MediaKind, { id }: Fields): Fields | undefined =>
      data?.[side]?.[of]?.find((item) => item.id === id),
  };
}

function hasSource(item: Fields): boolean {
  return textIn(item.content) !== undefined || textIn(item.url) !== undefined;
}

function MediaItem({
  kind,
  item,
  isLoading,
}: {
  readonly kind: MediaKind;
  readonly item: Fields;
  readonly isLoading: boolean;
}) {
  const source = useSource(item);
  const name =
    textIn(item.filename) ?? textIn(item.name) ?? `${kind.replace(/s$/, '')}.${textIn(item.format) ?? 'bin'}`;
  if (source === undefined) {
    const url = textIn(item.url);
    // a picture of another place would tell that place who reads the conversation
    if (url && /^https?:/i.test(url)) return <OuterLink href={url}>{name}</OuterLink>;
    return isLoading ? <Skeleton className="h-9 w-40" /> : <FileChip name={name} size={item.size} />;
  }
  if (kind === 'images')
    return (
      <a href={source} download={name} title={`Download ${name}`}>
        <img src={source} alt={name} className="max-h-72 max-w-full rounded-lg border border-line" />
      </a>
    );
  if (kind === 'audio')
    // biome-ignore lint/a11y/useMediaCaption: what a model or a person gave has none.
    return <audio controls src={source} className="max-w-full" />;
  if (kind === 'videos')
    // biome-ignore lint/a11y/useMediaCaption: what a model or a person gave has none.
    return <video controls src={source} className="max-h-72 max-w-full rounded-lg" />;
  return (
    <a href={source} download={name} className="block rounded-md hover:bg-hover">
      <FileChip name={name} size={item.size} canDownload />
    </a>
  );
}

export function FileChip({
  name,
  size,
  canDownload = false,
}: {
  readonly name: string;
  readonly size?: unknown;
  readonly canDownload?: boolean;
}) {
  return (
    <span className="inline-flex h-8 max-w-64 items-center gap-2 rounded-md border border-line px-2 text-xs">
      <FileText aria-hidden className="size-3.5 shrink-0 text-muted" />
      <span className="min-w-0 truncate">{name}</span>
      {typeof size === 'number' && <span className="shrink-0 text-muted">{formatBytes(size)}</span>}
      {canDownload && <Download aria-label="Download" className="size-3.5 shrink-0 text-muted" />}
    </span>
  );
}

/** Types that a page may show. Anything else is only offered as a download. */
const shownTypes = /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+)$/i;

/** The bytes as an address of this page. It is released when it is no longer shown. */
function useSource(item: Fields): string | undefined {
  const [source, setSource] = useState<string>();
  useEffect(() => {
    const blob = blobOf(item);
    if (blob === undefined) return undefined;
    const url = URL.createObjectURL(blob);
    setSource(url);
    return () => URL.revokeObjectURL(url);
  }, [item]);
  return source;
}

function blobOf(item: Fields): Blob | undefined {
  const content = textIn(item.content) ?? dataUrlContent(textIn(item.url));
  if (content === undefined) return undefined;
  const type = textIn(item.mime_type) ?? 'application/octet-stream';
  const bytes = type.startsWith('text/') ? content : bytesOf(content);
  return bytes === undefined
    ? undefined
    : new Blob([bytes], { type: shownTypes.test(type) ? type : 'application/octet-stream' });
}

function dataUrlContent(url: string | undefined): string | undefined {
  return url && /^data:[^,]*;base64,(.*)$/is.exec(url)?.[1];
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
