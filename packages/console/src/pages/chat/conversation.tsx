import { ApiError, type Kind } from '@runyard/client';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { useComponents } from '../../data/components.js';
import { useNamesUser } from '../../data/named-user.js';
import { useReachable } from '../../data/reachability.js';
import { problemsIn, SchemaForm, startValue } from '../../ui/forms/schema-form.js';
import { toast } from '../../ui/overlay/toasts.js';
import { explained } from '../../ui/states.js';
import { Announcer } from './announcer.js';
import { type Chat, ChatContext } from './chat-context.js';
import { useAttachments, useDrop } from './composer/attachments.js';
import { Composer } from './composer/composer.js';
import { RunSettingsButton, settingsFields, useRunSettings } from './composer/run-settings.js';
import type { ConversationStore, Outgoing } from './conversation/conversation-store.js';
import { draftOf, keepDraft } from './conversation/drafts.js';
import { newId } from './conversation/new-id.js';
import { isWorking, type Turn } from './conversation/turn.js';
import { sendWhenOpened, useConversationState } from './conversation/use-conversation.js';
import { Intro } from './intro.js';
import { Log } from './log.js';
import { objectIn } from './run/read-fields.js';
import type { ComponentDetail } from './use-component.js';

export interface ConversationProps {
  readonly kind: Kind;
  readonly id: string;
  readonly store: ConversationStore;
  readonly dbId: string | undefined;
  readonly draftKey: string;
  readonly detail: ComponentDetail | undefined;
  /** Why the component could not be read. */
  readonly detailError: unknown;
  readonly runId: string | undefined;
  /** The first message was sent. */
  onBegin(): void;
  /** Opens another session. */
  onBranch(sessionId: string): void;
}

/** A conversation with its composer. */
export function Conversation(props: ConversationProps) {
  const { kind, id, store, dbId, draftKey, detail, runId, onBegin, onBranch } = props;
  const { client } = useConnection();
  const state = useConversationState(store);
  const [text, setText] = useState(() => draftOf(draftKey));
  const attachments = useAttachments();
  const form = useInputForm(detail);
  const [settings, setSettings] = useRunSettings();
  const namesUser = useNamesUser();
  const reason = useReason(props, form.problem);
  const field = useRef<HTMLTextAreaElement>(null);
  const section = useRef<HTMLDivElement>(null);
  const { turns } = state;
  const last = turns.at(-1);
  const working = turns.some(isWorking);
  const drop = useDrop(attachments.add);

  useEffect(() => {
    // a keyboard that covers the screen is not opened unasked
    if (matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);

  const options = useMemo(
    () => ({ ...settingsFields(settings, namesUser), ...form.fields }),
    [settings, namesUser, form.fields],
  );
  const post = useCallback(
    (outgoing: Outgoing) => {
      store.send(outgoing).catch(() => undefined);
      onBegin();
    },
    [store, onBegin],
  );
  const write = (next: string) => {
    setText(next);
    keepDraft(draftKey, next);
  };
  const latest = useRef({ draftKey, text });
  latest.current = { draftKey, text };
  const send = () => {
    post({
      message: form.message ?? text,
      files: attachments.files,
      options,
      // until then, a reload brings the message back; what was typed since then stays
      onStored: () => keepDraft(draftKey, latest.current.draftKey === draftKey ? latest.current.text : ''),
    });
    setText('');
    attachments.clear();
  };
  const stop = useCallback(() => {
    store.stop().catch((error) => toast({ title: explained(error).detail, tone: 'danger' }));
  }, [store]);
  const isReadOnly = reason !== undefined && !form.isProblem(reason);
  const chat = useMemo<Chat>(
    () => ({
      ...{ kind, componentId: id, dbId, store, isReadOnly },
      say: (message) => post({ message, files: [], options }),
      again: (turn) => {
        const outgoing = { message: turn.input.message, files: turn.input.files, options };
        if (turn.phase === 'failed') store.resend(turn.key, outgoing).catch(() => undefined);
        else post(outgoing);
      },
      branch: async (turn: Turn, message: string) => {
        const outgoing = { message, files: turn.input.files, options };
        if (kind === 'workflow') {
          // each run of a workflow stands for itself
          post(outgoing);
          return;
        }
        const copy = await client[`${kind}s`]
          .forkSession(id, store.sessionId, { before_run_id: turn.view.runId })
          .catch((error: unknown) => {
            // nothing was said before it
            if (error instanceof ApiError && error.errorCode === 'nothing_to_fork') return undefined;
            throw error;
          });
        const sessionId = copy?.session_id ?? newId();
        sendWhenOpened(sessionId, outgoing, copy === undefined);
        onBranch(sessionId);
      },
    }),
    [kind, id, dbId, store, isReadOnly, options, post, client, onBranch],
  );
  const editLast = () => {
    const buttons = section.current?.querySelectorAll<HTMLElement>('[data-edit]');
    buttons?.item(buttons.length - 1)?.click();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && working && !event.defaultPrevented) stop();
  };
  return (
    <ChatContext value={chat}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are a shortcut for the button, files can be picked too. */}
      <div
        ref={section}
        className="relative flex min-h-0 flex-1 flex-col"
        onKeyDown={onKeyDown}
        {...drop.handlers}
      >
        <Log
          state={state}
          label={`Conversation with ${detail?.name ?? id}`}
          runId={runId}
          intro={
            <Intro
              {...{ kind, id, detail }}
              onPrompt={(prompt) => {
                write(prompt);
                field.current?.focus();
              }}
            />
          }
          onOlder={() => store.loadOlder()}
        />
        <Composer
          ref={field}
          text={text}
          onText={write}
          attachments={attachments}
          isWorking={working}
          reason={reason}
          form={form.element}
          isFormOnly={form.isMessage}
          settings={<RunSettingsButton settings={settings} onChange={setSettings} />}
          onSend={send}
          onStop={stop}
          onEditLast={editLast}
        />
        {drop.isOver && (
          <div className="pointer-events-none absolute inset-2 z-10 flex items-center justify-center rounded-xl border-2 border-dashed border-accent-text bg-canvas/90 font-medium">
            Drop the files to attach them
          </div>
        )}
      </div>
      <Announcer turn={last} />
    </ChatContext>
  );
}

/** Why nothing can be sent. */
function useReason(
  { kind, id, detailError }: ConversationProps,
  formProblem: string | undefined,
): string | undefined {
  const may = useMay();
  const isReachable = useReachable();
  const { components } = useComponents();
  const degraded = components.find((entry) => entry.kind === kind && entry.id === id)?.degraded;
  if (!isReachable) return 'The service does not respond';
  if (!may(`${kind}s:run`)) return `Your token does not allow you to run ${kind}s`;
  if (degraded !== undefined) return degraded;
  if (detailError) return explained(detailError).detail;
  return formProblem;
}

/** The form of a component whose input has a schema: of its message, or of what a factory builds it from. */
function useInputForm(detail: ComponentDetail | undefined) {
  const schema = detail?.inputSchema ?? detail?.factorySchema;
  const [value, setValue] = useState<unknown>();
  useEffect(() => {
    if (schema) setValue((before: unknown) => before ?? startValue(schema) ?? {});
  }, [schema]);
  return useMemo(() => {
    const isMessage = detail?.inputSchema !== undefined;
    const problems = schema ? [...problemsIn(schema, value)] : [];
    const [first] = problems;
    const problem = first && (first[0] === '' ? first[1] : `${first[0]}: ${first[1].toLowerCase()}`);
    return {
      isMessage,
      problem,
      isProblem: (reason: string) => reason === problem,
      message: isMessage ? objectIn(value) : undefined,
      fields: schema && !isMessage ? { factory_input: objectIn(value) } : undefined,
      element: schema && <SchemaForm schema={schema} value={value} onChange={setValue} />,
    };
  }, [detail?.inputSchema, schema, value]);
}
