import X from 'lucide-react/icons/x';
import { type DragEvent, useCallback, useState } from 'react';
import { IconButton } from '../../../ui/button.js';
import { formatBytes } from '../../../ui/format/numbers.js';
import { LocalFile } from '../turn/user-message.js';

/** As the service limits them by default; the service has the last word. */
const mostBytes = 50 * 1_048_576;
const mostFiles = 100;
const extensions =
  'png jpg jpeg gif webp bmp tiff tif avif heic heif wav mp3 ogg m4a aac flac flv mov mpeg mpg mp4 webm wmv 3gp pdf json js docx doc pptx ppt xlsx xls msg py txt html htm css md markdown csv xml rtf zip eml';
const known = new Set(extensions.split(' '));

export const acceptedFiles = extensions
  .split(' ')
  .map((extension) => `.${extension}`)
  .join(',');

export interface Attachments {
  readonly files: readonly File[];
  /** Why a file was not taken. */
  readonly problem: string | undefined;
  add(files: Iterable<File>): void;
  remove(file: File): void;
  clear(): void;
}

export function useAttachments(): Attachments {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [problem, setProblem] = useState<string>();
  const add = useCallback((given: Iterable<File>) => {
    setFiles((before) => {
      const { taken, refused } = sorted(before, given);
      setProblem(refused);
      return taken;
    });
  }, []);
  const remove = useCallback((file: File) => {
    setProblem(undefined);
    setFiles((before) => before.filter((one) => one !== file));
  }, []);
  const clear = useCallback(() => {
    setProblem(undefined);
    setFiles([]);
  }, []);
  return { files, problem, add, remove, clear };
}

function sorted(before: readonly File[], given: Iterable<File>) {
  const taken = [...before];
  let refused: string | undefined;
  for (const file of given) {
    const bytes = taken.reduce((sum, { size }) => sum + size, file.size);
    const extension = file.name.split('.').at(-1)?.toLowerCase() ?? '';
    if (file.size === 0) refused = `${file.name} is empty.`;
    else if (!known.has(extension) && !/^(?:image|audio|video|text)\//.test(file.type))
      refused = `${file.name} has a type that agents cannot read.`;
    else if (taken.length >= mostFiles) refused = `At most ${mostFiles} files can be sent with a message.`;
    else if (bytes > mostBytes)
      refused = `${file.name} is too large: files of a message have at most ${formatBytes(mostBytes)} together.`;
    else taken.push(file);
  }
  return { taken, refused };
}

export function AttachmentList({ files, problem, remove }: Attachments) {
  if (files.length === 0 && problem === undefined) return null;
  return (
    <div className="px-2 pt-2">
      {problem && (
        <p role="alert" className="pb-1 text-xs text-danger">
          {problem}
        </p>
      )}
      <ul aria-label="Attached files" className="flex flex-wrap gap-2">
        {files.map((file, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may have the same name.
          <li key={at} className="relative [&_img]:max-h-20">
            <LocalFile file={file} />
            <IconButton
              size="small"
              variant="secondary"
              className="absolute -top-2 -right-2 size-5! rounded-full!"
              label={`Remove ${file.name}`}
              onClick={() => remove(file)}
            >
              <X aria-hidden className="size-3" />
            </IconButton>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Files that are dropped onto an element. */
export function useDrop(add: (files: Iterable<File>) => void) {
  const [isOver, setIsOver] = useState(false);
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files');
  return {
    isOver,
    handlers: {
      onDragOver: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setIsOver(true);
      },
      onDragLeave: ({ currentTarget, relatedTarget }: DragEvent) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setIsOver(false);
      },
      onDrop: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setIsOver(false);
        add(event.dataTransfer.files);
      },
    },
  };
}
