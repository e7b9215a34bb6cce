import { parseSync } from 'oxc-parser';

/** What the house rules need to know about one source file. */
export function readModule(path, text) {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0].message}`);
  const facts = { imports: [], literals: [], calls: [], lines: lineCount(text), isBarrel: isBarrel(program) };
  visit(program, (node) => collect(node, facts, text));
  return facts;
}

function collect(node, facts, text) {
  const line = () => lineCount(text.slice(0, node.start));
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
      if (node.source?.value)
        facts.imports.push({ from: node.source.value, line: line(), typeOnly: node.importKind === 'type' });
      break;
    case 'Literal':
      if (typeof node.value === 'string') facts.literals.push({ text: node.value, line: line() });
      break;
    case 'TemplateLiteral':
      facts.literals.push({ text: node.quasis.map((part) => part.value.raw).join(' ? '), line: line() });
      break;
    case 'CallExpression': {
      const name = node.callee.name ?? node.callee.property?.name;
      if (name) facts.calls.push({ name, bare: node.callee.type === 'Identifier', line: line() });
      break;
    }
  }
}

function visit(node, seen) {
  if (Array.isArray(node)) {
    for (const child of node) visit(child, seen);
  } else if (node && typeof node === 'object') {
    if (typeof node.type === 'string') seen(node);
    for (const key in node) if (typeof node[key] === 'object') visit(node[key], seen);
  }
}

/** A file that only re-exports from others. */
function isBarrel(program) {
  return (
    program.body.length > 0 &&
    program.body.every((statement) => statement.type.startsWith('Export') && statement.source)
  );
}

function lineCount(text) {
  return text.replace(/\n$/, '').split('\n').length;
}
