import type { CallerConversation } from '../../runs/caller-input.js';

/** What the client says in a request, as the hooks left it. */
export interface SaidInput {
  /** The message. */
  content: string;
  /** What the client says was said before it. */
  conversation?: CallerConversation | undefined;
}

/** The texts that pre-hooks check before the message: the instructions of the client, and its earlier messages. */
export function earlierTexts({ instructions = '', messages = [] }: CallerConversation = {}): string[] {
  return [instructions, ...messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []))];
}

/** The conversation that the client brings, if it says anything in it. */
export function conversationIn({ conversation }: SaidInput): CallerConversation | undefined {
  return earlierTexts(conversation).some((text) => text !== '') ? conversation : undefined;
}

/** The conversation with other texts in the places of those. */
export function withEarlierTexts(
  { instructions, messages }: CallerConversation,
  [first = '', ...texts]: readonly string[],
): CallerConversation {
  let at = 0;
  return {
    ...(instructions !== undefined && { instructions: first }),
    ...(messages && {
      messages: messages.map((message) =>
        message.role === 'user' ? { ...message, content: texts[at++] ?? message.content } : message,
      ),
    }),
  };
}
