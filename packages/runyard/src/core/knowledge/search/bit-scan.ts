/** What TypeScript's library for Node leaves out. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  scan(rows: number, end: number, stride: number, distances: number): void;
}

/** Planes of a query: the first counts eight times, the last once. */
export const planes = 4;
/** Bytes that are compared by one instruction; rows are padded to a multiple of it. */
export const step = 16;

// The memory: 64 KiB for the query, 64 KiB for distances, 256 KiB for rows.
const page = 2 ** 16;
const distancesAt = page;
const rowsAt = 2 * page;
/** The most bytes of rows that are compared by one call. */
export const bytesPerScan = 4 * page;

const type = { i32: 0x7f, v128: 0x7b, none: 0x40, function: 0x60 };
const local = { row: 0, end: 1, stride: 2, distance: 3, query: 4, rowEnd: 5, sum: 6, bits: 7 };
const get = (name: keyof typeof local) => [0x20, local[name]];
const set = (name: keyof typeof local) => [0x21, local[name]];
const add = [0x6a];
const isBelow = [0x49];
const repeatIf = [0x0d, 0];
const end = [0x0b];
const constant = (value: number) => [0x41, ...(value < 64 ? [value] : [(value & 127) | 128, value >> 7])];
const load = (offset: number) => [0xfd, 0x00, 4, offset];
const lane = (at: number) => [0xfd, 0x1b, at];
/** For each byte, how many bits of the row differ from a plane of the query. */
const differing = (plane: number) => [
  ...get('bits'),
  ...[...get('query'), ...load(plane * step)],
  ...[0xfd, 0x51], // v128.xor
  ...[0xfd, 0x62], // i8x16.popcnt
];
const twice = [...constant(1), 0xfd, 0x6b]; // i8x16.shl
const addBytes = [0xfd, 0x6e]; // i8x16.add

const code = [
  ...[2, 2, type.i32, 2, type.v128], // query and rowEnd, sum and bits
  ...[0x03, type.none], // loop over rows
  ...[...constant(0), ...set('query')],
  ...[...get('row'), ...get('stride'), ...add, ...set('rowEnd')],
  ...[0xfd, 0x0c, ...Array<number>(16).fill(0), ...set('sum')], // v128.const
  ...[0x03, type.none], // loop over the steps of a row
  ...[...get('row'), ...load(0), ...set('bits')],
  ...get('sum'),
  ...[...differing(0), ...twice, ...differing(1), ...addBytes],
  ...[...twice, ...differing(2), ...addBytes],
  ...[...twice, ...differing(3), ...addBytes],
  ...[0xfd, 0x7d], // i16x8.extadd_pairwise_i8x16_u
  ...[0xfd, 0x7f], // i32x4.extadd_pairwise_i16x8_u
  ...[0xfd, 0xae, 0x01], // i32x4.add
  ...set('sum'),
  ...[...get('query'), ...constant(planes * step), ...add, ...set('query')],
  ...[...get('row'), ...constant(step), ...add, ...set('row')],
  ...[...get('row'), ...get('rowEnd'), ...isBelow, ...repeatIf, ...end],
  ...get('distance'),
  ...[...get('sum'), ...lane(0), ...get('sum'), ...lane(1), ...add],
  ...[...get('sum'), ...lane(2), ...get('sum'), ...lane(3), ...add, ...add],
  ...[0x36, 2, 0], // i32.store
  ...[...get('distance'), ...constant(4), ...add, ...set('distance')],
  ...[...get('row'), ...get('end'), ...isBelow, ...repeatIf, ...end],
  ...end,
];

const sized = (bytes: readonly number[]) => [(bytes.length & 127) | 128, bytes.length >> 7, ...bytes];
const name = (text: string) => [text.length, ...Buffer.from(text)];
const section = (id: number, content: readonly number[]) => [id, ...sized(content)];

const program = [
  ...[0, ...Buffer.from('asm'), 1, 0, 0, 0],
  ...section(1, [1, type.function, 4, type.i32, type.i32, type.i32, type.i32, 0]),
  ...section(3, [1, 0]),
  ...section(5, [1, 0, 2 + bytesPerScan / page]),
  ...section(7, [2, ...name('memory'), 2, 0, ...name('scan'), 0, 0]),
  ...section(10, [1, ...sized(code)]),
];

let scanner: ReturnType<typeof assembled> | undefined;

/**
 * The distances of some rows from a query: the differing bits of each plane, times what the plane counts. It is written
 * in WebAssembly because JavaScript has no instruction that counts bits: the same work takes it eight times as long.
 * The result is valid until the next call.
 */
export function distancesOf(query: Uint8Array, rows: Uint8Array, stride: number): Int32Array {
  scanner ??= assembled();
  const { bytes, distances, scan } = scanner;
  if (query.length > page || rows.length > bytesPerScan) throw new Error('Too much for one scan.');
  if (rows.length === 0) return distances.subarray(0, 0);
  bytes.set(query, 0);
  bytes.set(rows, rowsAt);
  scan(rowsAt, rowsAt + rows.length, stride, distancesAt);
  return distances.subarray(0, rows.length / stride);
}

function assembled() {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(program)));
  // what the program above exports
  const { memory, scan } = exports as Exports;
  return {
    scan,
    bytes: new Uint8Array(memory.buffer),
    distances: new Int32Array(memory.buffer, distancesAt, page / Int32Array.BYTES_PER_ELEMENT),
  };
}
