import type { z } from 'zod';

/** One setting of a service. */
export interface Setting<Schema extends z.ZodType = z.ZodType> {
  /** What it means. */
  readonly about: string;
  /** What it may be, where its schema cannot say so. */
  readonly allowed?: string;
  /** Made when a value has to be checked: a start gets few of so many settings. */
  readonly schema: () => Schema;
}

export interface SettingWithDefault<Schema extends z.ZodType = z.ZodType> extends Setting<Schema> {
  readonly default: z.output<Schema>;
}

export type SettingTable = Readonly<Record<string, Setting | SettingWithDefault>>;

/** Defines a setting. Without a default, it may be left out. */
export function setting<Schema extends z.ZodType>(
  definition: SettingWithDefault<Schema>,
): SettingWithDefault<Schema>;
export function setting<Schema extends z.ZodType>(definition: Setting<Schema>): Setting<Schema>;
export function setting(definition: Setting): Setting {
  return definition;
}

type Output<Defined> = Defined extends Setting<infer Schema> ? z.output<Schema> : never;
type Input<Defined> = Defined extends Setting<infer Schema> ? z.input<Schema> : never;

type WithDefault<Table extends SettingTable> = {
  -readonly [Name in keyof Table as Table[Name] extends SettingWithDefault ? Name : never]: Output<
    Table[Name]
  >;
};

/** The settings of a table as the service uses them. */
export type SettingsOf<Table extends SettingTable> = WithDefault<Table> & {
  -readonly [Name in keyof Table as Table[Name] extends SettingWithDefault ? never : Name]?:
    | Output<Table[Name]>
    | undefined;
};

/** The same as an application writes them. */
export type SettingsInputOf<Table extends SettingTable> = {
  -readonly [Name in keyof Table]?: Input<Table[Name]> | undefined;
};

/** The settings of a table where nothing else is given. Lists and maps are new ones. */
export function defaultsOf<Table extends SettingTable>(table: Table): WithDefault<Table> {
  const defaults: Record<string, unknown> = {};
  for (const [name, defined] of Object.entries(table))
    if ('default' in defined) defaults[name] = structuredClone(defined.default);
  // each setting with a default has its entry, which has the type of its schema
  return defaults as WithDefault<Table>;
}
