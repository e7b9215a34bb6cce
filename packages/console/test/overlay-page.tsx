import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Button, IconButton } from '../src/ui/button.js';
import { Dialog } from '../src/ui/overlay/dialog.js';
import { Menu } from '../src/ui/overlay/menu.js';
import { showTooltips } from '../src/ui/overlay/tooltip-layer.js';
import { Tabs } from '../src/ui/tabs.js';

/** The page of overlays.test.ts. */
function Page() {
  const [chosen, setChosen] = useState<string[]>([]);
  const [tab, setTab] = useState('a');
  const [open, setOpen] = useState(false);
  const choose = (name: string) => setChosen((before) => [...before, name]);
  const items = [
    { label: 'Rename', onSelect: () => choose('rename') },
    { label: 'Copy', disabled: true, onSelect: () => choose('copy') },
    'line' as const,
    { label: 'Delete', destructive: true, onSelect: () => setOpen(true) },
  ];
  return (
    <>
      <Menu items={items}>
        <IconButton label="More">…</IconButton>
      </Menu>
      <Tabs
        label="Parts"
        value={tab}
        onChange={setTab}
        tabs={['a', 'b', 'c'].map((id) => ({ id, label: `Tab ${id}`, content: `Content ${id}` }))}
      />
      <output>{chosen.join(' ')}</output>
      <div style={{ position: 'fixed', bottom: 0, right: 0 }}>
        <Menu items={items}>
          <Button>In the corner</Button>
        </Menu>
      </div>
      <Dialog open={open} title="Sure?" onClose={() => setOpen(false)}>
        <Menu items={items}>
          <Button>In the dialog</Button>
        </Menu>
      </Dialog>
    </>
  );
}

showTooltips();
createRoot(document.body.appendChild(document.createElement('main'))).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
