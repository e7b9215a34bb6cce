import ArrowUp from 'lucide-react/icons/arrow-up';
import Paperclip from 'lucide-react/icons/paperclip';
import Square from 'lucide-react/icons/square';
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useLayoutEffect,
  useRef,
} from 'react';
import { IconButton } from '../../../ui/button.js';
import { AttachmentList, type Attachments, acceptedFiles } from './attachments.js';

export interface ComposerProps {
  readonly ref?: Ref<HTMLTextAreaElement>;
  readonly text: string;
  onText(text: string): void;
  readonly attachments: Attachments;
  /** A run is in progress: it can be stopped, and nothing can be sent. */
  readonly isWorking: boolean;
  /** Why nothing can be sent. What was typed stays. */
  readonly reason: string | undefined;
  /** A form above the message, such as the input of a factory. */
  readonly form?: ReactNode;
  /** The form is the message. */
  readonly isFormOnly?: boolean;
  readonly settings: ReactNode;
  onSend(): void;
  onStop(): void;
  /** The arrow up in an empty field. */
  onEditLast(): void;
}

const highest = 240;

/** Where a person writes. */
export function Composer(props: ComposerProps) {
  const { text, attachments, isWorking, reason, form, isFormOnly = false, settings, onSend, onStop } = props;
  const canSend = reason === undefined && !isWorking && (isFormOnly || text.trim() !== '');
  const picker = useRef<HTMLInputElement>(null);
  return (
    <form
      className="mx-auto w-full max-w-3xl px-4 pb-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend) onSend();
      }}
    >
      <div className="rounded-xl border border-line-strong bg-surface focus-within:border-accent-text focus-within:ring-1 focus-within:ring-accent-text">
        {form && <div className="max-h-80 overflow-y-auto border-b border-line p-3">{form}</div>}
        <AttachmentList {...attachments} />
        {!isFormOnly && <Message {...props} canSend={canSend} />}
        <div className="flex items-center gap-1 px-1.5 pb-1.5">
          <IconButton label="Attach files" onClick={() => picker.current?.click()}>
            <Paperclip aria-hidden className="size-4" />
          </IconButton>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            accept={acceptedFiles}
            onChange={({ target }) => {
              attachments.add(target.files ?? []);
              target.value = '';
            }}
          />
          {settings}
          <p className="min-w-0 flex-1 truncate px-1 text-right text-xs text-muted" aria-live="polite">
            {reason ?? (isWorking ? 'Escape stops the answer' : '')}
          </p>
          {isWorking ? (
            <IconButton variant="secondary" label="Stop" onClick={onStop}>
              <Square aria-hidden className="size-3 fill-current" />
            </IconButton>
          ) : (
            <IconButton type="submit" variant="primary" label="Send" disabled={!canSend}>
              <ArrowUp aria-hidden className="size-4" />
            </IconButton>
          )}
        </div>
      </div>
    </form>
  );
}

function Message(props: ComposerProps & { readonly canSend: boolean }) {
  const { ref, text, onText, attachments, isWorking, canSend, onSend, onEditLast } = props;
  const element = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const area = element.current;
    if (area === null) return;
    // it grows with the text
    area.style.height = 'auto';
    area.style.height = `${text === '' ? area.offsetHeight : Math.min(highest, area.scrollHeight)}px`;
  }, [text]);
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      if (canSend) onSend();
    } else if (event.key === 'Escape') {
      // without an answer to stop, it leaves the field, so that the keys of the console work
      if (!isWorking) event.currentTarget.blur();
    } else if (event.key === 'ArrowUp' && text === '') {
      event.preventDefault();
      onEditLast();
    }
  };
  const onPaste = (event: ClipboardEvent) => {
    const { files } = event.clipboardData;
    if (files.length === 0) return;
    event.preventDefault();
    attachments.add(files);
  };
  return (
    <textarea
      ref={(node) => {
        element.current = node;
        if (typeof ref === 'function') ref(node);
        else if (ref) ref.current = node;
      }}
      aria-label="Message"
      placeholder="Write a message"
      rows={1}
      className="block w-full resize-none bg-transparent px-3.5 py-2.5 outline-none max-md:text-base"
      value={text}
      onChange={({ target }) => onText(target.value)}
      onKeyDown={onKeyDown}
      onPaste={onPaste}
    />
  );
}
