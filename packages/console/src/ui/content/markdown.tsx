import type { MarkedToken, Token, Tokens } from 'marked';
import { Fragment, memo, type ReactNode, useState } from 'react';
import { OuterLink } from '../link.js';
import { CodeBlock } from './code-block.js';
import { decodeEntities, MarkdownSource, safeImage, safeLink } from './markdown-source.js';

/** Markdown of a model, a tool or a person. HTML in it is shown as text: nothing of it becomes part of the page. */
export function Markdown({ text }: { readonly text: string }) {
  const [source] = useState(() => new MarkdownSource());
  return (
    <div className="markdown min-w-0 leading-relaxed [overflow-wrap:anywhere]">
      {source.blocks(text).map((token, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a text that grows keep their places.
        <Block key={at} token={token} />
      ))}
    </div>
  );
}

/** Drawn again only when its text has changed. */
const Block = memo(
  ({ token }: { readonly token: Token }) => <BlockContent token={token} />,
  (before, after) => before.token.type === after.token.type && before.token.raw === after.token.raw,
);

const headings = ['h3', 'h3', 'h4', 'h5', 'h6', 'h6'] as const;

function BlockContent({ token: given }: { readonly token: Token }): ReactNode {
  // the union of the library has an open member, which hides the others
  const token = given as MarkedToken;
  switch (token.type) {
    case 'heading': {
      const Heading = headings[token.depth - 1] ?? 'h6';
      return (
        <Heading className="mt-4 mb-1.5 font-semibold first:mt-0">
          <Inline tokens={token.tokens} />
        </Heading>
      );
    }
    case 'paragraph':
      return (
        <p className="my-2 whitespace-pre-wrap first:mt-0 last:mb-0">
          <Inline tokens={token.tokens} />
        </p>
      );
    case 'text':
      return <Inline tokens={token.tokens ?? [token]} />;
    case 'code':
      return <CodeBlock code={token.text} language={token.lang?.split(/\s/)[0]} />;
    case 'blockquote':
      return (
        <blockquote className="my-2 border-l-2 border-line-strong pl-3 text-muted">
          <Blocks tokens={token.tokens} />
        </blockquote>
      );
    case 'list':
      return <List list={token} />;
    case 'table':
      return <Table table={token} />;
    case 'hr':
      return <hr className="my-4 border-line" />;
    case 'space':
    case 'def':
      return null;
    default:
      return <p className="my-2 whitespace-pre-wrap">{given.raw}</p>;
  }
}

function Blocks({ tokens }: { readonly tokens: readonly Token[] | undefined }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: they keep their places.
  return (tokens ?? []).map((token, at) => <BlockContent key={at} token={token} />);
}

function List({ list }: { readonly list: Tokens.List }) {
  const items = list.items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they keep their places.
    <li key={at} className={item.task ? 'list-none' : undefined}>
      {item.task && (
        <input
          type="checkbox"
          className="mr-1.5 -ml-5 align-middle"
          checked={item.checked ?? false}
          readOnly
          disabled
          aria-label={item.checked ? 'done' : 'open'}
        />
      )}
      <Blocks tokens={item.tokens.filter(({ type }) => type !== 'checkbox')} />
    </li>
  ));
  const className = 'my-2 ml-5 space-y-1';
  return list.ordered ? (
    <ol start={Number(list.start) || 1} className={`${className} list-decimal`}>
      {items}
    </ol>
  ) : (
    <ul className={`${className} list-disc`}>{items}</ul>
  );
}

function Table({ table }: { readonly table: Tokens.Table }) {
  const aligned = (at: number) => ({ textAlign: table.align[at] ?? ('left' as const) });
  return (
    <div tabIndex={0} className="my-2 overflow-x-auto rounded-lg border border-line">
      <table className="w-full border-collapse text-sm wrap-break-word">
        <thead className="bg-sunken">
          <tr>
            {table.header.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: they keep their places.
              <th key={at} scope="col" style={aligned(at)} className="px-3 py-1.5 font-semibold">
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they keep their places.
            <tr key={at} className="border-t border-line">
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: they keep their places.
                <td key={column} style={aligned(column)} className="px-3 py-1.5">
                  <Inline tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inline({ tokens }: { readonly tokens: readonly Token[] | undefined }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: they keep their places.
  return (tokens ?? []).map((token, at) => <Fragment key={at}>{inline(token)}</Fragment>);
}

function inline(given: Token): ReactNode {
  // as above
  const token = given as MarkedToken;
  switch (token.type) {
    case 'strong':
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case 'del':
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      );
    case 'codespan':
      return <code className="rounded bg-sunken px-1 py-0.5 font-mono text-[0.85em]">{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <SafeLink href={token.href} tokens={token.tokens} />;
    case 'image':
      return <SafeImage href={token.href} text={token.text} />;
    case 'text':
      return token.tokens ? <Inline tokens={token.tokens} /> : decodeEntities(token.text);
    case 'escape':
      return token.text;
    default:
      return given.raw;
  }
}

function SafeLink({ href, tokens }: { readonly href: string; readonly tokens: readonly Token[] }) {
  const address = safeLink(href);
  if (address === undefined) return <Inline tokens={tokens} />;
  return (
    <OuterLink href={address}>
      <Inline tokens={tokens} />
    </OuterLink>
  );
}

function SafeImage({ href, text }: { readonly href: string; readonly text: string }) {
  const shown = safeImage(href);
  if (shown) return <img src={shown} alt={text} className="my-2 max-h-96 max-w-full rounded-lg" />;
  const address = safeLink(href);
  return address ? <OuterLink href={address}>{text || address}</OuterLink> : text;
}
