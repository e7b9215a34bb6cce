/** An element of an XML text, without its namespace prefix. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: string;
  readonly children: XmlElement[];
  /** The text directly in it, with its entities decoded. */
  text: string;
}

/** More than a page of any listing has. */
const mostElements = 500_000;
const deepest = 32;

/** An XML text that is not read: it is broken, or made to cost more than it shows. */
export class XmlRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'XmlRefused';
  }
}

/**
 * Reads an answer in XML. It knows no DTD, so that no entity can be defined, and neither files nor addresses can be
 * named. The time grows with the length of the text only.
 */
export function parseXml(xml: string): XmlElement {
  const root: XmlElement = { name: '', attributes: '', children: [], text: '' };
  const open: XmlElement[] = [root];
  let count = 0;
  let position = xml.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (position < xml.length) {
    const parent = open[open.length - 1] ?? root;
    const tag = xml.indexOf('<', position);
    const end = tag < 0 ? xml.length : tag;
    if (end > position) parent.text += decoded(xml.slice(position, end));
    if (tag < 0) break;
    if (xml.startsWith('<!--', tag)) position = behind(xml, '-->', tag + 4);
    else if (xml.startsWith('<![CDATA[', tag)) {
      position = behind(xml, ']]>', tag + 9);
      parent.text += xml.slice(tag + 9, position - 3);
    } else if (xml.startsWith('<?', tag)) position = behind(xml, '?>', tag + 2);
    else if (xml.startsWith('<!', tag)) throw new XmlRefused('The XML declares a document type.');
    else {
      position = behind(xml, '>', tag);
      const inner = xml.slice(tag + 1, position - 1);
      if (inner.startsWith('/')) {
        if (open.length === 1 || parent.name !== localName(inner.slice(1).trim()))
          throw new XmlRefused('The XML has an end tag without its start tag.');
        open.pop();
        continue;
      }
      if (++count > mostElements) throw new XmlRefused(`The XML has more than ${mostElements} elements.`);
      const isEmpty = inner.endsWith('/');
      const [name = '', attributes = ''] = divided(isEmpty ? inner.slice(0, -1) : inner);
      const element: XmlElement = { name: localName(name), attributes, children: [], text: '' };
      parent.children.push(element);
      if (isEmpty) continue;
      if (open.length > deepest) throw new XmlRefused(`The XML is nested deeper than ${deepest} levels.`);
      open.push(element);
    }
  }
  const [element] = root.children;
  if (open.length > 1 || element === undefined) throw new XmlRefused('The XML is not complete.');
  return element;
}

export function childrenOf(element: XmlElement | undefined, name: string): readonly XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((child) => child.name === name);
}

/** The text of the first child with this name; undefined when there is none. */
export function textOf(element: XmlElement | undefined, name: string): string | undefined {
  return childOf(element, name)?.text;
}

function behind(xml: string, end: string, from: number): number {
  const found = xml.indexOf(end, from);
  if (found < 0) throw new XmlRefused('The XML is not complete.');
  return found + end.length;
}

function divided(tag: string): readonly string[] {
  const space = tag.search(/\s/);
  return space < 0 ? [tag] : [tag.slice(0, space), tag.slice(space + 1)];
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

const predefined: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** A text with its entities decoded: those that XML defines by itself. */
export function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w{1,32}));/g, (_, decimal, hex, name) => {
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const character =
      name !== undefined
        ? predefined[name]
        : code > 0 && code <= 0x10ffff
          ? String.fromCodePoint(code)
          : undefined;
    if (character === undefined) throw new XmlRefused('The XML uses an entity that it cannot define.');
    return character;
  });
}
