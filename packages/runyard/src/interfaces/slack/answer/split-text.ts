/**
 * A message has at most so many characters: Slack takes 12 000 of them in one call, so that a message can be written
 * again as a whole. The rest is room for the end of a block of code.
 */
const most = 11_500;
/** From here on, a message ends with its line. */
const lineEnds = 9_000;
/** From here on, it ends with its word. */
const wordEnds = 11_000;

/**
 * The messages of a text. Where one ends is decided by the text before that place alone: a text that grows never changes
 * the messages before its last one. A block of code that is divided ends in one message and begins again in the next.
 */
export function messagesOf(text: string): string[] {
  const messages: string[] = [];
  let rest = text;
  for (;;) {
    const cut = cutIn(rest);
    if (cut === undefined) return [...messages, rest];
    const head = rest.slice(0, cut);
    const fence = openFence(head);
    messages.push(fence === undefined ? head : `${head.replace(/\n$/, '')}\n\`\`\``);
    rest = (fence === undefined ? '' : `${fence}\n`) + rest.slice(cut);
  }
}

/** Where a message ends; undefined while it does not. */
function cutIn(text: string): number | undefined {
  if (text.length <= lineEnds) return undefined;
  const line = text.indexOf('\n', lineEnds);
  if (line !== -1 && line < wordEnds) return beyond(text, line + 1);
  if (text.length <= wordEnds) return undefined;
  const word = text.slice(wordEnds, most).search(/[ \n]/);
  if (word !== -1) return beyond(text, wordEnds + word + 1);
  if (text.length <= most) return undefined;
  // a surrogate pair is not split
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(most - 1));
  return isHalf ? most - 1 : most;
}

/** No message is begun for nothing. */
function beyond(text: string, cut: number): number | undefined {
  return cut < text.length ? cut : undefined;
}

/** The line that opened the block of code in which a text ends. */
function openFence(text: string): string | undefined {
  let open: string | undefined;
  for (const [line] of text.matchAll(/^ {0,3}```[^\n]*/gm)) open = open === undefined ? line : undefined;
  return open?.slice(0, 100);
}
