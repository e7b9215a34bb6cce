import Download from 'lucide-react/icons/download';
import Minus from 'lucide-react/icons/minus';
import Plus from 'lucide-react/icons/plus';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../../../ui/button.js';
import { Menu } from '../../../ui/overlay/menu.js';
import { toast } from '../../../ui/overlay/toasts.js';
import { saveFile } from '../../../ui/save-file.js';
import type { Executions } from '../executions.js';
import { GraphView } from './graph-view.js';
import type { Graph } from './layout.js';
import { pngOf, svgOf } from './picture.js';

export interface GraphPanelProps {
  readonly graph: Graph;
  readonly name: string;
  readonly executions: Executions;
  readonly isEnded: boolean;
  readonly selected: string | undefined;
  onSelect(path: string): void;
}

const smallest = 0.25;
const largest = 2;

/** The graph in a frame that scrolls, with what zooms and saves it. */
export function GraphPanel({ graph, name, ...rest }: GraphPanelProps) {
  const frame = useRef<HTMLDivElement>(null);
  const drawing = useRef<SVGSVGElement>(null);
  const [room, setRoom] = useState(0);
  /** Undefined fits the width. */
  const [chosen, choose] = useState<number>();
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const fitting = room === 0 ? 1 : Math.max(smallest, Math.min(1, room / graph.width));
  const scale = chosen ?? fitting;
  const zoom = (factor: number) => choose(Math.max(smallest, Math.min(largest, scale * factor)));
  const running = [...rest.executions].find(([, list]) => list.at(-1)?.status === 'running')?.[0];
  useEffect(() => {
    // what runs now stays in view
    const node = graph.nodes.find(({ path }) => path === running);
    const element = frame.current;
    if (!node || !element) return;
    const top = node.y * scale;
    if (top < element.scrollTop || top > element.scrollTop + element.clientHeight - 80)
      element.scrollTop = top - element.clientHeight / 3;
  }, [running, graph, scale]);
  const save = async (type: 'svg' | 'png') => {
    if (drawing.current === null) return;
    const background = getComputedStyle(document.documentElement).getPropertyValue('--surface');
    try {
      const picture =
        type === 'svg' ? svgOf(drawing.current, background) : await pngOf(drawing.current, background);
      saveFile(`${name}.${type}`, picture);
    } catch (error) {
      toast({ title: error instanceof Error ? error.message : String(error), tone: 'danger' });
    }
  };
  return (
    <section className="min-w-0 rounded-lg border border-line bg-surface" aria-label="Graph">
      <div className="flex h-10 items-center gap-1 border-b border-line px-2">
        <IconButton size="small" label="Zoom out" onClick={() => zoom(1 / 1.25)}>
          <Minus aria-hidden className="size-4" />
        </IconButton>
        <span className="w-12 text-center text-xs text-muted">{Math.round(scale * 100)} %</span>
        <IconButton size="small" label="Zoom in" onClick={() => zoom(1.25)}>
          <Plus aria-hidden className="size-4" />
        </IconButton>
        <Button size="small" variant="ghost" onClick={() => choose(undefined)}>
          Fit
        </Button>
        <span className="flex-1" />
        <Menu
          items={[
            { label: 'Save as SVG', onSelect: () => void save('svg') },
            { label: 'Save as PNG', onSelect: () => void save('png') },
          ]}
        >
          <Button size="small" variant="ghost">
            <Download aria-hidden className="size-3.5" />
            Picture
          </Button>
        </Menu>
      </div>
      <div ref={frame} className="max-h-[max(24rem,calc(100dvh-15rem))] overflow-auto">
        <GraphView ref={drawing} graph={graph} name={name} scale={scale} {...rest} />
      </div>
    </section>
  );
}
