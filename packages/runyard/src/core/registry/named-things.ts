import { nearestName } from '../nearest-name.js';

/** Something that a configuration may name. */
export interface Registered<Thing> {
  readonly name: string;
  readonly thing: Thing;
  /** Where the code says it: `registry.tools`, or `agent 'bank'`. */
  readonly places: readonly string[];
  readonly explicit: boolean;
}

export interface Place {
  readonly text: string;
  /** Whether the application registered it for configurations: this decides between things of one name. */
  readonly explicit: boolean;
}

interface Entry<Thing> {
  readonly thing: Thing;
  readonly places: string[];
  explicit: boolean;
}

/** Things of one kind by name. The same thing may be found in several places. */
export class NamedThings<Thing> {
  private readonly byName = new Map<string, Entry<Thing>[]>();

  /** `what` as in `tool`. */
  constructor(readonly what: string) {}

  add(name: string, thing: Thing, place: Place): void {
    if (name === '') return;
    const entries = this.byName.get(name) ?? [];
    const known = entries.find((entry) => entry.thing === thing);
    if (known === undefined) entries.push({ thing, places: [place.text], explicit: place.explicit });
    else {
      known.explicit ||= place.explicit;
      if (!known.places.includes(place.text)) known.places.push(place.text);
    }
    this.byName.set(name, entries);
  }

  /** What a name stands for: what is registered under it, else what components use. Several: the name is ambiguous. */
  find(name: string): readonly Registered<Thing>[] {
    return preferred(this.named(name));
  }

  /** All that have this name. */
  named(name: string): readonly Registered<Thing>[] {
    return (this.byName.get(name) ?? []).map((entry) => ({ name, ...entry }));
  }

  /** Why a name does not stand for one thing; undefined when it does. */
  faultOf(name: string): string | undefined {
    const found = this.find(name);
    if (found.length === 1) return undefined;
    if (found.length > 1) return ambiguous(`the ${this.what} '${name}'`, found);
    const near = nearestName(name, [...this.byName.keys()]);
    return `names the ${this.what} '${name}', which is not registered.${near === undefined ? '' : ` Did you mean '${near}'?`}`;
  }

  /** The name that stands for this thing alone. */
  nameOf(thing: Thing): string | undefined {
    for (const name of this.byName.keys()) {
      const found = this.find(name);
      if (found.length === 1 && found[0]?.thing === thing) return name;
    }
    return undefined;
  }

  /** Why no name stands for a thing of the code, in words after its place. */
  whyUnnamed(thing: Thing): string {
    for (const { name, thing: known } of this.all()) {
      if (known !== thing) continue;
      const other = this.find(name).find((one) => one.thing !== thing);
      return `is the ${this.what} '${name}', but ${other?.places[0]} has another one of this name. Use the same object in both places, or rename one.`;
    }
    return `is a ${this.what} without a name in the registry. Register it with new Runyard({ registry }).`;
  }

  /** All of them, also those that share a name. */
  *all(): Generator<Registered<Thing>, void, void> {
    for (const name of this.byName.keys()) yield* this.named(name);
  }
}

/** What the application registered decides between things of one name. */
export function preferred<Thing>(found: readonly Registered<Thing>[]): readonly Registered<Thing>[] {
  const explicit = found.filter((one) => one.explicit);
  return explicit.length > 0 ? explicit : found;
}

/** `what` as in `the tool 'search'`. */
export function ambiguous(what: string, found: readonly Registered<unknown>[]): string {
  const places = found.map((one) => one.places[0]).join(' and ');
  return `names ${what}, which is ambiguous: ${places} have different ones of this name. Register the one that is meant with new Runyard({ registry }), or rename one.`;
}
