import type { ComponentType } from '@runyard/client';

type Control = 'text' | 'area' | 'lines' | 'flag' | 'number' | 'choice' | 'tools' | 'knowledge' | 'members';

/** A key of a configuration that the form shows. docs/components.md has all of them. */
export interface FormField {
  readonly key: string;
  readonly label: string;
  readonly control: Control;
  readonly hint?: string;
  readonly options?: readonly string[];
  readonly wide?: boolean;
}

interface FieldGroup {
  readonly title: string;
  readonly fields: readonly FormField[];
}

const identity: FieldGroup = {
  title: 'Identity',
  fields: [
    { key: 'name', label: 'Name', control: 'text', hint: 'Empty: the name of the component.' },
    { key: 'model', label: 'Model', control: 'text', hint: 'Such as openai:gpt-5-mini, or offline.' },
    { key: 'description', label: 'Description', control: 'area', wide: true },
    { key: 'role', label: 'Role', control: 'text', hint: 'What it does in a team.', wide: true },
  ],
};

const behaviour: FieldGroup = {
  title: 'Behaviour',
  fields: [
    { key: 'instructions', label: 'Instructions', control: 'lines', wide: true },
    { key: 'expected_output', label: 'Expected output', control: 'area', wide: true },
    { key: 'markdown', label: 'Answers in Markdown', control: 'flag' },
    { key: 'reasoning', label: 'Reasons before it answers', control: 'flag' },
    { key: 'add_datetime_to_context', label: 'Knows the date and time', control: 'flag' },
    { key: 'followups', label: 'Suggests what to ask next', control: 'flag' },
  ],
};

const abilities: FieldGroup = {
  title: 'Tools and knowledge',
  fields: [
    { key: 'tools', label: 'Tools', control: 'tools', wide: true },
    { key: 'tool_call_limit', label: 'Most tool calls in a run', control: 'number' },
    { key: 'knowledge', label: 'Knowledge', control: 'knowledge', wide: true },
    { key: 'search_knowledge', label: 'Searches when the model decides to', control: 'flag' },
    { key: 'add_knowledge_to_context', label: 'Searches before each answer', control: 'flag' },
  ],
};

const memory: FieldGroup = {
  title: 'Memory and history',
  fields: [
    { key: 'add_history_to_context', label: 'Sees earlier runs of the session', control: 'flag' },
    { key: 'num_history_runs', label: 'How many of them', control: 'number' },
    { key: 'enable_user_memories', label: 'Remembers facts about users', control: 'flag' },
    { key: 'enable_agentic_memory', label: 'Decides itself what to remember', control: 'flag' },
    { key: 'enable_session_summaries', label: 'Summarises sessions', control: 'flag' },
    { key: 'retries', label: 'Retries of a failed model call', control: 'number' },
  ],
};

const teamGroup: FieldGroup = {
  title: 'Team',
  fields: [
    { key: 'members', label: 'Members', control: 'members', wide: true },
    {
      key: 'mode',
      label: 'Mode',
      control: 'choice',
      options: ['coordinate', 'route', 'broadcast', 'tasks'],
    },
    { key: 'max_iterations', label: 'Most iterations', control: 'number' },
  ],
};

const workflowGroup: FieldGroup = {
  title: 'Workflow',
  fields: [
    { key: 'name', label: 'Name', control: 'text' },
    { key: 'agent_id', label: 'Agent in front of it', control: 'text', hint: 'The id of an agent.' },
    { key: 'description', label: 'Description', control: 'area', wide: true },
    { key: 'max_parallel', label: 'Most steps at the same time', control: 'number' },
    { key: 'add_workflow_history_to_steps', label: 'Steps see earlier runs', control: 'flag' },
  ],
};

export function formFields(type: ComponentType): readonly FieldGroup[] {
  if (type === 'workflow') return [workflowGroup];
  return [identity, ...(type === 'team' ? [teamGroup] : []), behaviour, abilities, memory];
}
