import { sizes } from './limits.js';

// biome-ignore lint/suspicious/noExplicitAny: what was sent is checked here.
type Sent = any;

const longestId = 255;

/** What Block Kit refuses in the blocks of a message; empty if nothing. */
export function faultsInBlocks(blocks: Sent): string[] {
  if (!Array.isArray(blocks)) return ['blocks is not a list'];
  const ids = blocks.map((block) => block?.block_id).filter((id) => id !== undefined);
  const markdown = blocks
    .filter(({ type }) => type === 'markdown')
    .reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
  return [
    ...over('blocks', blocks.length, sizes.blocks),
    ...over('text of the markdown blocks', markdown, sizes.markdownText),
    ...(new Set(ids).size === ids.length ? [] : ['two blocks have the same block_id']),
    ...ids.flatMap((id) => over(`block_id ${id}`, id.length, longestId)),
    ...blocks.flatMap(faultsInBlock),
    ...repeated(blocks.flatMap(actionsOf)),
  ];
}

function faultsInBlock(block: Sent, at: number): string[] {
  const within = (faults: string[]) => faults.map((fault) => `blocks[${at}] (${block?.type}): ${fault}`);
  switch (block?.type) {
    case 'section':
      return within([
        ...(block.text === undefined && block.fields === undefined ? ['neither text nor fields'] : []),
        ...text('text', block.text, 3_000),
        ...(block.fields ?? []).flatMap((field: Sent) => text('field', field, 2_000)),
        ...over('fields', block.fields?.length ?? 0, 10),
        ...element(block.accessory),
      ]);
    case 'header':
      return within(plain('text', block.text, 150));
    case 'divider':
      return [];
    case 'markdown':
      return within(typeof block.text === 'string' && block.text !== '' ? [] : ['no text']);
    case 'context':
      return within([
        ...count('elements', block.elements, 10),
        ...block.elements.flatMap((one: Sent) => text('element', one, 3_000)),
      ]);
    case 'actions':
      return within([...count('elements', block.elements, 25), ...block.elements.flatMap(element)]);
    case 'input':
      return within([
        ...plain('label', block.label, 2_000),
        ...(block.hint === undefined ? [] : plain('hint', block.hint, 2_000)),
        ...(block.element === undefined ? ['no element'] : element(block.element)),
      ]);
    case 'card':
      return within([
        ...([block.hero_image, block.title, block.actions, block.body].every((one) => one === undefined)
          ? ['none of hero_image, title, actions and body']
          : []),
        ...text('title', block.title, 150),
        ...text('subtitle', block.subtitle, 150),
        ...text('body', block.body, 200),
        ...(block.actions ?? []).flatMap((one: Sent) =>
          one.type === 'button' ? element(one) : ['an action that is no button'],
        ),
      ]);
    case 'plan':
      return within([
        ...(typeof block.title === 'string' ? [] : ['no title']),
        ...over('tasks', block.tasks?.length ?? 0, sizes.tasks),
      ]);
    case 'task_card':
      return within(typeof block.task_id === 'string' && typeof block.title === 'string' ? [] : ['no title']);
    default:
      return within(['the double does not know this type of block']);
  }
}

function element(one: Sent): string[] {
  if (one === undefined) return [];
  const id = one.action_id === undefined ? [] : over('action_id', one.action_id.length, 255);
  switch (one.type) {
    case 'button':
      return [
        ...id,
        ...plain('text of a button', one.text, 75),
        ...over('value of a button', one.value?.length ?? 0, 2_000),
        ...(one.style === undefined || ['primary', 'danger'].includes(one.style) ? [] : ['unknown style']),
      ];
    case 'plain_text_input':
      return [
        ...id,
        ...placeholder(one),
        ...over('max_length', one.max_length ?? 0, 3_000),
        ...over('initial_value', one.initial_value?.length ?? 0, one.max_length ?? 3_000),
      ];
    case 'number_input':
      return [
        ...id,
        ...placeholder(one),
        ...(typeof one.is_decimal_allowed === 'boolean' ? [] : ['no is_decimal_allowed']),
      ];
    case 'static_select':
    case 'multi_static_select':
      return [...id, ...placeholder(one), ...count('options', one.options, 100), ...options(one, 75)];
    case 'checkboxes':
    case 'radio_buttons':
      return [...id, ...count('options', one.options, 10), ...options(one, 75)];
    default:
      return [`the double does not know the element ${one.type}`];
  }
}

function options(
  { options: given, initial_option: chosen, initial_options: several }: Sent,
  longest: number,
) {
  const known = given.map((one: Sent) => JSON.stringify(one));
  return [
    ...given.flatMap((one: Sent) => [
      ...text('option', one.text, longest),
      ...(typeof one.value === 'string' && one.value !== '' ? [] : ['an option without a value']),
      ...over('value of an option', one.value?.length ?? 0, 150),
    ]),
    ...[chosen, ...(several ?? [])]
      .filter((one) => one !== undefined && !known.includes(JSON.stringify(one)))
      .map(() => 'an initial option that is no option'),
  ];
}

function placeholder({ placeholder: given }: Sent): string[] {
  return given === undefined ? [] : plain('placeholder', given, 150);
}

function text(name: string, given: Sent, longest: number): string[] {
  if (given === undefined) return [];
  if (!['plain_text', 'mrkdwn'].includes(given.type)) return [`${name} is no text object`];
  if (typeof given.text !== 'string' || given.text === '') return [`${name} is empty`];
  return over(name, given.text.length, longest);
}

function plain(name: string, given: Sent, longest: number): string[] {
  return given?.type === 'plain_text' ? text(name, given, longest) : [`${name} is no plain_text`];
}

function count(name: string, list: Sent, most: number): string[] {
  if (!Array.isArray(list) || list.length === 0) return [`no ${name}`];
  return over(name, list.length, most);
}

function over(name: string, is: number, most: number): string[] {
  return is > most ? [`${name}: ${is}, at most ${most}`] : [];
}

/** An action_id is unique in its block. */
function actionsOf({ type, elements, actions, element: input }: Sent, at: number): string[] {
  const within = type === 'card' ? actions : type === 'actions' ? elements : [input];
  return (within ?? [])
    .filter((one: Sent) => one?.action_id !== undefined)
    .map((one: Sent) => `${at} ${one.action_id}`);
}

function repeated(names: readonly string[]): string[] {
  return new Set(names).size === names.length ? [] : ['two elements of a block have the same action_id'];
}
