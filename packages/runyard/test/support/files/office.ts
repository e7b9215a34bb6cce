import { strToU8, zipSync } from 'fflate';

/** An archive of the given files. */
export function zipOf(files: Readonly<Record<string, string | Uint8Array>>): Uint8Array {
  const bytes = Object.entries(files).map(([path, file]) => [
    path,
    typeof file === 'string' ? strToU8(file) : file,
  ]);
  return zipSync(Object.fromEntries(bytes));
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const relationships = 'http://schemas.openxmlformats.org/package/2006/relationships';
const document = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function relationsOf(...targets: readonly (readonly [id: string, type: string, target: string])[]): string {
  const all = targets.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${document}/${type}" Target="${target}"/>`,
  );
  return `${declaration}<Relationships xmlns="${relationships}">${all.join('')}</Relationships>`;
}

function contentTypes(...parts: readonly (readonly [path: string, type: string])[]): string {
  const all = parts.map(
    ([path, type]) =>
      `<Override PartName="${path}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`,
  );
  return `${declaration}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${all.join('')}</Types>`;
}

export function docxOf(...paragraphs: readonly string[]): Uint8Array {
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join('');
  return zipOf({
    '[Content_Types].xml': contentTypes(['/word/document.xml', 'wordprocessingml.document.main']),
    '_rels/.rels': relationsOf(['rId1', 'officeDocument', 'word/document.xml']),
    'word/document.xml': `${declaration}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
  });
}

type Cell = string | number;

export function xlsxOf(sheets: Readonly<Record<string, readonly (readonly Cell[])[]>>): Uint8Array {
  const names = Object.keys(sheets);
  const cell = (value: Cell, at: string) =>
    typeof value === 'number'
      ? `<c r="${at}"><v>${value}</v></c>`
      : `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const sheetXml = (rows: readonly (readonly Cell[])[]) =>
    `${declaration}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows
      .map(
        (row, index) =>
          `<row r="${index + 1}">${row.map((value, column) => cell(value, `${'ABCDEFGH'[column]}${index + 1}`)).join('')}</row>`,
      )
      .join('')}</sheetData></worksheet>`;
  return zipOf({
    '[Content_Types].xml': contentTypes(['/xl/workbook.xml', 'spreadsheetml.sheet.main']),
    '_rels/.rels': relationsOf(['rId1', 'officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': `${declaration}<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${document}"><sheets>${names
      .map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationsOf(
      ...names.map(
        (_, index) => [`rId${index + 1}`, 'worksheet', `worksheets/sheet${index + 1}.xml`] as const,
      ),
    ),
    ...Object.fromEntries(
      Object.values(sheets).map((rows, index) => [`xl/worksheets/sheet${index + 1}.xml`, sheetXml(rows)]),
    ),
  });
}

/** Slides in this order; their files are numbered the other way round, as after moving them. */
export function pptxOf(...slides: readonly { readonly text: string; readonly notes?: string }[]): Uint8Array {
  const shape = (text: string) =>
    `<p:sp><p:txBody>${text
      .split('\n')
      .map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`)
      .join('')}</p:txBody></p:sp>`;
  const part = (index: number) => slides.length - index;
  const files: Record<string, string> = {
    'ppt/presentation.xml': `${declaration}<p:presentation><p:sldIdLst>${slides
      .map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`)
      .join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationsOf(
      ...slides.map((_, index) => [`rId${index + 1}`, 'slide', `slides/slide${part(index)}.xml`] as const),
    ),
  };
  for (const [index, { text, notes }] of slides.entries()) {
    files[`ppt/slides/slide${part(index)}.xml`] = `${declaration}<p:sld>${shape(text)}</p:sld>`;
    if (notes === undefined) continue;
    files[`ppt/slides/_rels/slide${part(index)}.xml.rels`] = relationsOf([
      'rId1',
      'notesSlide',
      `../notesSlides/notesSlide${part(index)}.xml`,
    ]);
    files[`ppt/notesSlides/notesSlide${part(index)}.xml`] =
      `${declaration}<p:notes>${shape(notes)}</p:notes>`;
  }
  return zipOf(files);
}
