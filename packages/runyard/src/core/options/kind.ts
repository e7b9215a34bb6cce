/** What the value of an option may be. */
export interface Kind {
  /** In words, after `Give …`. */
  readonly allowed: string;
  takes(value: unknown): boolean;
  /** Looks into a value that it takes and adds what is wrong inside. */
  inside?(value: unknown, path: string, faults: string[]): void;
  /** Options without it are refused. */
  readonly required?: true;
  /** Messages do not repeat its values. */
  readonly secret?: true;
}

export type Optional = Kind & { readonly required?: never };
export type Required = Kind & { readonly required: true };

/** Of an object of options. */
export type ObjectKind = Optional & {
  /** What options say now, as an object of its own: it holds itself what they inherit or compute. */
  plain<Given extends object>(options: Given): Given;
};

/** A kind for each option of an interface: an option that is added there and forgotten here does not compile. */
export type Shape<Options> = {
  readonly [Name in keyof Options]-?: Record<never, never> extends Pick<Options, Name> ? Optional : Required;
};
