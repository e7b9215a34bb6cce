/** The bytes of a medium as base64, from what the run API shows of it: documents of text are shown as text. */
export function base64Of(
  { kind, mimeType }: { readonly kind: string; readonly mimeType?: string },
  shown: string,
): string {
  const isText = kind === 'file' && mimeType?.startsWith('text/');
  return isText ? Buffer.from(shown, 'utf8').toString('base64') : shown;
}
