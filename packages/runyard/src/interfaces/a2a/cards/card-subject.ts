import type { Component } from '../../../capabilities/components/service.js';
import { ComponentFactory } from '../../../core/factories/component-factory.js';
import type { RunKind } from '../../../core/runs/run.js';

/** Something that a component can do, as a card shows it. */
export interface Skill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** What a card says about a component, in whatever form. */
export interface CardSubject {
  readonly kind: RunKind;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly Skill[];
}

/** A card is no catalogue: what is beyond this is left out. */
const mostSkills = 100;
const longestDescription = 2_000;

/** `extended`: with the tools, members and steps, which only those see who may read the component. */
export function cardSubject(component: Component, kind: RunKind, extended: boolean): CardSubject {
  const { id, name, settings } = component;
  const description = shortened(settings.description ?? '');
  const whole: Skill = { id, name, description: description || name, tags: ['runyard', kind] };
  const skills = extended ? [whole, ...partsOf(component)].slice(0, mostSkills) : [whole];
  return { kind, id, name, description, version: versionOf(component), skills };
}

function versionOf(component: Component): string {
  const origin = component instanceof ComponentFactory ? undefined : component.origin;
  return origin === undefined ? '1.0.0' : `${origin.version}.0.0`;
}

function partsOf(component: Component): Skill[] {
  if (component instanceof ComponentFactory) return [];
  if (component.kind === 'workflow')
    return component.nodes.map(({ name, description }) => part('step', name, name, description));
  if (component.kind === 'team')
    return component.members.map(({ id, name, settings: { role, description } }) =>
      part('member', id, name, description ?? role),
    );
  return Array.from(component.tools.values(), ({ definition: { name, description } }) =>
    part('tool', name, name, description),
  );
}

function part(type: string, id: string, name: string, description: string | undefined): Skill {
  return { id: `${type}:${id}`, name, description: shortened(description || name), tags: [type] };
}

function shortened(text: string): string {
  return text.length > longestDescription ? `${text.slice(0, longestDescription - 1)}…` : text;
}
