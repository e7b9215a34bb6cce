import Check from 'lucide-react/icons/check';
import Copy from 'lucide-react/icons/copy';
import { useEffect, useState } from 'react';
import { IconButton } from './button.js';
import { toast } from './overlay/toasts.js';

const shownMs = 1_500;

export function CopyButton({
  text,
  label = 'Copy',
  className,
}: {
  /** A function, where making the text takes long. */
  readonly text: string | (() => string);
  readonly label?: string;
  readonly className?: string;
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setCopied(true);
    } catch {
      // pages that are not served over HTTPS or from this machine have no clipboard
      toast({ title: 'The browser allows no copying here. Select the text instead.', tone: 'danger' });
    }
  };
  return (
    <IconButton
      size="small"
      label={copied ? 'Copied' : label}
      {...(className && { className })}
      onClick={() => void copy()}
    >
      {copied ? <Check aria-hidden className="size-3.5" /> : <Copy aria-hidden className="size-3.5" />}
    </IconButton>
  );
}
