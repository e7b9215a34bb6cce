import type { Agent, Kind, Team, Workflow } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import type { JsonSchema } from '../../ui/forms/schema-form.js';
import { objectIn, objectsIn, textIn } from './run/read-fields.js';

/** What the chat says about the component, and how it is run. */
export interface ComponentDetail {
  readonly name: string;
  readonly description: string | undefined;
  readonly dbId: string | undefined;
  readonly model: string | undefined;
  readonly introduction: string | undefined;
  readonly tools: readonly { readonly name: string; readonly description: string | undefined }[];
  /** The names of the members of a team by their ids, those of teams within it included. */
  readonly members: ReadonlyMap<string, string>;
  /** Of a workflow. */
  readonly steps: readonly string[];
  /** Of the message, where it is an object. */
  readonly inputSchema: JsonSchema | undefined;
  /** Of what a factory builds the component from. */
  readonly factorySchema: JsonSchema | undefined;
}

export function useComponentDetail(kind: Kind, id: string) {
  const { client, address } = useConnection();
  return useQuery({
    queryKey: ['component', address, kind, id],
    queryFn: async ({ signal }): Promise<ComponentDetail> => {
      if (kind === 'agent') return detailOf(await client.agents.get(id, {}, { signal }));
      if (kind === 'team') return detailOf(await client.teams.get(id, {}, { signal }));
      return detailOf(await client.workflows.get(id, {}, { signal }));
    },
    staleTime: 30_000,
  });
}

function detailOf(component: Agent | Team | Workflow): ComponentDetail {
  const {
    name,
    description,
    db_id: dbId,
    is_factory: isFactory,
    input_schema,
    factory_input_schema,
  } = component;
  const { provider, model } = 'model' in component ? (component.model ?? {}) : {};
  const tools = 'tools' in component ? objectsIn(component.tools?.tools) : [];
  const steps = 'steps' in component ? component.steps : [];
  return {
    ...{ name, description, dbId },
    model: [provider, model].filter(Boolean).join(' '),
    introduction: 'introduction' in component ? component.introduction : undefined,
    tools: tools.map((tool) => ({ name: String(tool.name), description: textIn(tool.description) })),
    members: membersOf(component),
    steps: steps.map((step) => step.name),
    // a factory repeats the schema of what it is built from
    inputSchema: isFactory ? undefined : schemaIn(input_schema),
    factorySchema: isFactory ? schemaIn(factory_input_schema) : undefined,
  };
}

function membersOf(component: Agent | Team | Workflow): ReadonlyMap<string, string> {
  const members = 'members' in component ? (component.members ?? []) : [];
  return new Map(members.flatMap((member) => [[member.id, member.name] as const, ...membersOf(member)]));
}

function schemaIn(given: unknown): JsonSchema | undefined {
  const schema = objectIn(given);
  return Object.keys(schema).length > 0 ? schema : undefined;
}

const none: readonly string[] = [];

/** Messages to begin with, which the service has in its settings. */
export function useQuickPrompts(id: string): readonly string[] {
  const { client, address } = useConnection();
  const { data } = useQuery({
    queryKey: ['config', address],
    queryFn: ({ signal }) => client.service.getConfig({ signal }),
    staleTime: 60_000,
  });
  return data?.chat?.quick_prompts[id] ?? data?.manifest?.[id]?.quick_prompts ?? none;
}
