import { test } from 'vitest';
import { outputShapeOf, verifyOutputSchema } from './agents/answer/output-format.js';
import { fillSchema } from './models/offline/fill-schema.js';
const many = (n: number, f: (i: number) => unknown, p = 'p') => Object.fromEntries(Array.from({ length: n }, (_, i) => [`${p}${i}`, f(i)]));
const big = (unit: string) => `[${Array(Math.floor(999_000 / (unit.length + 1))).fill(unit).join(',')}]`;
const cases: Record<string, [any, string?]> = {
  'props 500x3': [{ type: 'object', properties: many(3, () => ({ type: 'object', properties: many(500, () => ({ type: 'string' })) })) }, '{}'],
  'nodes nested': [{ type: 'object', properties: many(60, () => ({ type: 'object', properties: many(30, () => ({ type: 'string' })) })) }, '{}'],
  'required 500 names x 30': [{ anyOf: Array.from({ length: 25 }, () => ({ required: Object.keys(many(500, () => 1)) })) }, '{}'],
  'leaf inlined': [{ $defs: { x: { type: 'object', properties: many(490, () => ({})) } }, properties: many(490, () => ({ $ref: '#/$defs/x' })) }, '{}'],
  'ref chain 900': [{ $defs: many(900, (i) => (i === 899 ? {} : { $ref: `#/$defs/p${i + 1}`, title: 'x' })), $ref: '#/$defs/p0' }, '{}'],
  'ref chain props 600': [{ $defs: many(600, (i) => (i === 599 ? {} : { type:'object', properties: { a: { $ref: `#/$defs/p${i + 1}` } } })), $ref: '#/$defs/p0' }, '{"a":{"a":{}}}'],
  'anyof wide 1900': [{ items: { anyOf: Array.from({ length: 1900 }, () => ({ minLength: 5000000 })) } }, JSON.stringify(['x'.repeat(900000)])],
  'anyof wide many': [{ items: { anyOf: Array.from({ length: 1900 }, () => ({ type: 'array' })) } }, big('1')],
  'anyof 90': [{ type: 'array', items: { allOf: Array.from({ length: 90 }, () => ({ minLength: 3 })) } }, big('"1"')],
  'unique': [{ type: 'array', uniqueItems: true }, `[${Array.from({ length: 90000 }, (_, i) => `{"a":${i}}`).join(',')}]`],
  'enum 1000': [{ type: 'array', items: { enum: Array.from({ length: 1000 }, (_, i) => i) } }, `[${Array(49000).fill('999').join(',')}]`.slice(0, 99999 * 4)],
  'defaults': [{ type: 'array', items: { type: 'object', properties: many(90, () => ({ default: 'abcdefghij'.repeat(5) })), required: Object.keys(many(90, () => 1)) } }, big('{}')],
  'defaults 90': [{ type: 'array', items: { type: 'object', properties: many(9, () => ({ default: 'abcdefg' })), required: Object.keys(many(9, () => 1)) } }, big('{}')],
  'default grows': [{ properties: { a: { $ref: '#', default: {} }, b: { $ref: '#', default: {} } }, required: ['a', 'b'] }, '{}'],
  'allOf props chain': [{ $defs: many(30, (i) => ({ allOf: [0, 1].map(() => ({ properties: { a: { $ref: `#/$defs/p${Math.min(i + 1, 29)}x`.replace('x', '') } } })) })), $ref: '#/$defs/p0' }],
  'circle of circles': [{ $defs: many(30, (i) => ({ properties: { a: { allOf: [{ $ref: `#/$defs/p${i}` }, ...(i < 29 ? [{ $ref: `#/$defs/p${i + 1}` }] : [])] } } })), $ref: '#/$defs/p0' }],
  'two circles': [{ $defs: many(2, (i) => ({ properties: { a: { allOf: [{ $ref: `#/$defs/p${i}` }, ...(i < 1 ? [{ $ref: `#/$defs/p${i + 1}` }] : [])] } } })), $ref: '#/$defs/p0' }, '{}'],
  'ref sibling': [{ properties: { a: { $ref: '#' } }, $ref: '#/$defs/u', $defs: { u: { properties: { a: { $ref: '#' } } } } }],
  'async': [{ $async: true, type: 'object' }],
  'id long': [{ $id: `http://${'a.'.repeat(30000)}`, type: 'object' }, '{}'],
  'id uri': [{ $id: `http://a/${'%'.repeat(30000)} `, type: 'object' }, '{}'],
  'unknown id': [{ foo: { $id: '#/$defs/x', $anchor: 'x' }, $defs: { x: { type: 'object' } }, $ref: '#/$defs/x' }, '{}'],
  'dep required': [{ dependentRequired: many(19, () => Object.keys(many(90, () => 1))) }, '{}'],
  'not nest': [(() => { let s: any = {}; for (let i = 0; i < 30; i++) s = { not: s, if: {} }; return s; })(), '{}'],
  'contains': [{ contains: { contains: { contains: { const: 1 } } }, minContains: 99999999 }, big('[1]')],
  'multi anyOf null union': [{ type: 'object', properties: many(480, () => ({ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] })) }, '{}'],
  'enums': [{ type: 'object', properties: many(60, () => ({ enum: Array.from({ length: 100 }, (_, i) => `v${i}`) })) }, '{}'],
  'deep': [JSON.parse('{"items":'.repeat(33) + '{}' + '}'.repeat(33))],
  'fill strings': [{ type: 'array', minItems: 1000, items: { type: 'array', minItems: 1000, items: { type: 'string', minLength: 100000 } } }],
  'fill unique enum': [{ type: 'array', minItems: 1000, items: { type: 'array', minItems: 1000, uniqueItems: true, items: { enum: Array.from({ length: 1000 }, (_, i) => i) } } }],
  'fill unique objects': [{ type: 'array', minItems: 1000, uniqueItems: true, items: { type: 'array', minItems: 900, uniqueItems: true, items: { type: 'object', required: Object.keys(many(20, () => 1)) } } }],
  'fill patterns': [{ type: 'object', required: Object.keys(many(400, () => 1)), properties: many(400, () => ({ type: 'string', pattern: '^(a?){40}a{40}$' })) }],
  'fill patterns 2': [{ type: 'object', required: Object.keys(many(400, () => 1)), properties: many(400, () => ({ type: 'string', pattern: `^${'(a|a)'.repeat(60)}b$` })) }],
  'fill patterns 3': [{ type: 'object', required: Object.keys(many(400, () => 1)), properties: many(400, () => ({ type: 'string', pattern: `^${'a?'.repeat(60)}${'a'.repeat(60)}$` })) }],
  'fill patterns 4': [{ type: 'object', required: Object.keys(many(400, () => 1)), properties: many(400, () => ({ type: 'string', pattern: '^\\w*\\w*\\w*!$' })) }],
  'fill names': [{ type: 'object', required: Object.keys(many(490, () => 1, 'a '.repeat(50))), properties: many(490, () => ({ type: 'string' }), 'a '.repeat(50)) }],
};
for (const [name, [schema, answer]] of Object.entries(cases)) {
  test(name, async () => {
    const t = performance.now();
    let verdict = 'ok';
    const options = { stream: false, outputSchema: schema };
    try { await verifyOutputSchema(options); } catch (e) { verdict = (e as Error).message.slice(0, 110); }
    const t1 = performance.now();
    let out = '';
    if (verdict === 'ok' && answer) { const r = await outputShapeOf(options)!.read(answer); out = 'faults' in r ? r.faults[0]!.slice(0, 50) : 'content'; }
    const t2 = performance.now();
    let filled = 0;
    if (verdict === 'ok') filled = JSON.stringify(fillSchema(schema, `${'a'.repeat(50)} ${'a '.repeat(1900)}`)).length;
    const t3 = performance.now();
    console.log(`${name}: ${verdict} ${(t1 - t).toFixed()}ms; read ${out} ${(t2 - t1).toFixed()}ms; fill ${filled} ${(t3 - t2).toFixed()}ms`);
  }, 20000);
}
