import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import {
  type ConversationPlace,
  type ConversationState,
  ConversationStore,
  type Outgoing,
} from './conversation-store.js';

/** Messages that begin a conversation which another one has branched into, by the ids of their sessions. */
const outbox = new Map<string, { readonly outgoing: Outgoing; readonly isNew: boolean }>();

/** The message is sent when the conversation is opened. `isNew`: the session begins with it. */
export function sendWhenOpened(sessionId: string, outgoing: Outgoing, isNew: boolean): void {
  outbox.set(sessionId, { outgoing, isNew });
}

/** The conversation of a session. Undefined until `place` is. */
export function useConversation(place: ConversationPlace | undefined): ConversationStore | undefined {
  const latest = useRef(place);
  latest.current = place;
  const [store, setStore] = useState<ConversationStore>();
  const isReady = place !== undefined;
  const { client, sessionId } = place ?? {};
  // biome-ignore lint/correctness/useExhaustiveDependencies: the session and the client identify it; the rest is read then.
  useEffect(() => {
    if (latest.current === undefined) return undefined;
    const opened = new ConversationStore({
      ...latest.current,
      isNew: latest.current.isNew || outbox.get(latest.current.sessionId)?.isNew === true,
      nameOf: (id) => latest.current?.nameOf(id) ?? id,
      onActivity: () => latest.current?.onActivity(),
    });
    setStore(opened);
    void opened.open().then(() => {
      const waiting = outbox.get(opened.sessionId);
      outbox.delete(opened.sessionId);
      if (waiting) opened.send(waiting.outgoing).catch(() => undefined);
    });
    return () => opened.close();
  }, [isReady, client, sessionId]);
  return store?.sessionId === sessionId ? store : undefined;
}

export function useConversationState(store: ConversationStore): ConversationState {
  return useSyncExternalStore(store.subscribe, store.state);
}
