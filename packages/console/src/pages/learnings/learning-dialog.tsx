import type { Learning } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Field } from '../../ui/forms/field.js';
import { CodeArea, Input } from '../../ui/forms/inputs.js';
import { jsonFault, jsonText, parseJsonObject } from '../../ui/forms/json-text.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';
import { toast } from '../../ui/overlay/toasts.js';
import { knownTypes } from './learning-text.js';

/** What a record belongs to. It cannot change later: the id follows from it. */
const identities = [
  ['user_id', 'User'],
  ['namespace', 'Namespace'],
  ['session_id', 'Session'],
  ['agent_id', 'Agent'],
  ['entity_type', 'Type of the entity'],
  ['entity_id', 'Id of the entity'],
] as const;

type Identity = (typeof identities)[number][0];

/** Creates a record, or changes its content and metadata. */
export function LearningDialog({ learning, onClose }: { readonly learning?: Learning; onClose(): void }) {
  const types = useId();
  const { client } = useConnection();
  const queries = useQueryClient();
  const [type, setType] = useState<string>('user_profile');
  const [identity, setIdentity] = useState<Partial<Record<Identity, string>>>({});
  const [content, setContent] = useState(learning ? jsonText(learning.content) : '{\n  "name": ""\n}');
  const [metadata, setMetadata] = useState(jsonText(learning?.metadata));
  const faults = {
    content: content.trim() === '' ? 'The content is missing.' : jsonFault(content, parseJsonObject),
    metadata: jsonFault(metadata, parseJsonObject),
  };
  const save = async () => {
    const held = { content: parseJsonObject(content) ?? {}, metadata: parseJsonObject(metadata) ?? null };
    if (learning) await client.learnings.update(learning.learning_id, held);
    else {
      const given = Object.entries(identity).filter(([, value]) => value.trim() !== '');
      await client.learnings.create({ learning_type: type.trim(), ...held, ...Object.fromEntries(given) });
    }
    await Promise.all(
      ['learnings', 'learning', 'learning-users'].map((key) =>
        queries.invalidateQueries({ queryKey: [key] }),
      ),
    );
    toast({ title: 'Saved.' });
    onClose();
  };
  return (
    <FormDialog
      title={learning ? 'Edit learning' : 'New learning'}
      onClose={onClose}
      disabled={faults.content !== undefined || faults.metadata !== undefined || type.trim() === ''}
      onSubmit={save}
    >
      {!learning && (
        <>
          <Field
            label="Type"
            hint="Those of the list are used by agents. Any other name is a type of your own."
          >
            <Input list={types} value={type} onChange={(event) => setType(event.target.value)} />
          </Field>
          <datalist id={types}>
            {knownTypes.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
          <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
            {identities.map(([key, label]) => (
              <Field key={key} label={label}>
                <Input
                  spellCheck={false}
                  value={identity[key] ?? ''}
                  onChange={(event) => setIdentity({ ...identity, [key]: event.target.value })}
                />
              </Field>
            ))}
          </div>
        </>
      )}
      <Field label="Content" hint="A JSON object." error={faults.content}>
        <CodeArea rows={8} value={content} onChange={(event) => setContent(event.target.value)} />
      </Field>
      <Field label="Metadata" hint="A JSON object, or nothing." error={faults.metadata}>
        <CodeArea rows={2} value={metadata} onChange={(event) => setMetadata(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
