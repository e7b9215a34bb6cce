import type { Kind } from '@runyard/client';
import { createContext, useContext } from 'react';
import type { ConversationStore } from './conversation/conversation-store.js';
import type { Turn } from './conversation/turn.js';

/** What the parts of a conversation need of the page around them. */
export interface Chat {
  readonly kind: Kind;
  readonly componentId: string;
  /** The database of the component. */
  readonly dbId: string | undefined;
  readonly store: ConversationStore;
  /** Why nothing can be sent: then there are no buttons that would send something. */
  readonly isReadOnly: boolean;
  /** Sends the message of a turn once more, as a new turn. */
  again(turn: Turn): void;
  /** Continues the conversation from before a turn, with another message, in a copy of the session. */
  branch(turn: Turn, message: string): Promise<void>;
  /** Sends a message. */
  say(message: string): void;
}

export const ChatContext = createContext<Chat | undefined>(undefined);

export function useChat(): Chat {
  const chat = useContext(ChatContext);
  if (chat === undefined) throw new Error('This is part of the chat page.');
  return chat;
}
