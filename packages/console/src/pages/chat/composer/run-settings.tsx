import SlidersHorizontal from 'lucide-react/icons/sliders-horizontal';
import { useState } from 'react';
import { store, stored } from '../../../connection/storage.js';
import { useNamesUser } from '../../../data/named-user.js';
import { Button, IconButton } from '../../../ui/button.js';
import { Field } from '../../../ui/forms/field.js';
import { Input } from '../../../ui/forms/inputs.js';
import { JsonField } from '../../../ui/forms/schema-form.js';
import { Dialog } from '../../../ui/overlay/dialog.js';
import { objectIn } from '../run/read-fields.js';
import type { Fields } from '../run/run-view.js';

/** What is sent with every message of the chat. */
export interface RunSettings {
  readonly userId: string;
  readonly sessionState: Fields | undefined;
  readonly dependencies: Fields | undefined;
}

export function useRunSettings() {
  return useState<RunSettings>(() => ({
    userId: stored('local', 'chat user') ?? '',
    sessionState: undefined,
    dependencies: undefined,
  }));
}

/** The fields of a request. A token names its own user. */
export function settingsFields({ userId, sessionState, dependencies }: RunSettings, namesUser: boolean) {
  return {
    ...(namesUser && userId && { user_id: userId }),
    ...(sessionState && { session_state: sessionState }),
    ...(dependencies && { dependencies }),
  };
}

export function RunSettingsButton({
  settings,
  onChange,
}: {
  readonly settings: RunSettings;
  onChange(settings: RunSettings): void;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const namesUser = useNamesUser();
  const isSet = Object.keys(settingsFields(settings, namesUser)).length > 0;
  return (
    <>
      <IconButton label="Settings of the runs" className="relative" onClick={() => setIsOpen(true)}>
        <SlidersHorizontal aria-hidden className="size-4" />
        {isSet && <span className="absolute top-1 right-1 size-1.5 rounded-full bg-accent" />}
      </IconButton>
      <Dialog
        open={isOpen}
        title="Settings of the runs"
        onClose={() => setIsOpen(false)}
        footer={
          <Button variant="primary" onClick={() => setIsOpen(false)}>
            Done
          </Button>
        }
      >
        <div className="flex flex-col gap-4">
          <p className="text-muted">They are sent with the next messages of this chat.</p>
          {namesUser && (
            <Field label="User" hint="Whose memories and sessions these are. The browser remembers it.">
              <Input
                value={settings.userId}
                autoComplete="off"
                onChange={({ target }) => {
                  store('local', 'chat user', target.value || undefined);
                  onChange({ ...settings, userId: target.value });
                }}
              />
            </Field>
          )}
          <JsonField
            label="Session state (JSON object)"
            hint="Merged into the state of the session."
            value={settings.sessionState}
            onChange={(value) => onChange({ ...settings, sessionState: givenObject(value) })}
          />
          <JsonField
            label="Dependencies (JSON object)"
            hint="Values for {key} in the instructions."
            value={settings.dependencies}
            onChange={(value) => onChange({ ...settings, dependencies: givenObject(value) })}
          />
        </div>
      </Dialog>
    </>
  );
}

function givenObject(value: unknown): Fields | undefined {
  const fields = objectIn(value);
  return Object.keys(fields).length > 0 ? fields : undefined;
}
