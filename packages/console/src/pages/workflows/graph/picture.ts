/** What a picture takes from the style sheet of the page. */
const copied = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'font-family',
  'font-size',
  'font-weight',
] as const;

/** The drawing as a file of its own, with the colours that it has on the page. */
export function svgOf(drawing: SVGSVGElement, background: string): Blob {
  const copy = drawing.cloneNode(true);
  if (!(copy instanceof SVGSVGElement)) throw new Error('The copy of a drawing is a drawing.');
  const { width, height } = drawing.viewBox.baseVal;
  const originals = drawing.querySelectorAll('*');
  copy.querySelectorAll('*').forEach((element, at) => {
    const original = originals[at];
    if (!original) return;
    const style = getComputedStyle(original);
    for (const name of copied) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ['class', 'role', 'tabindex', 'aria-pressed', 'aria-label'])
      element.removeAttribute(name);
  });
  copy.removeAttribute('class');
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  ground.setAttribute('width', '100%');
  ground.setAttribute('height', '100%');
  ground.setAttribute('fill', background);
  copy.prepend(ground);
  return new Blob([new XMLSerializer().serializeToString(copy)], { type: 'image/svg+xml' });
}

/** Twice as large, so that it stays sharp. Browsers have a limit for the size of pictures. */
const pixels = 2;
const mostPixels = 16_000;

export async function pngOf(drawing: SVGSVGElement, background: string): Promise<Blob> {
  const { width, height } = drawing.viewBox.baseVal;
  const scale = Math.min(pixels, mostPixels / Math.max(width, height));
  const address = URL.createObjectURL(svgOf(drawing, background));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const picture = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (picture === null) throw new Error('The browser could not draw the picture. Save it as SVG instead.');
    return picture;
  } finally {
    URL.revokeObjectURL(address);
  }
}
