import Plus from 'lucide-react/icons/plus';
import { useMemo, useState } from 'react';
import { useMay } from '../../connection/use-connection.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { Button } from '../../ui/button.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { MemoriesTab } from './memories-tab.js';
import { MemoryDialog } from './memory-dialog.js';
import { UsersTab } from './users-tab.js';

export function MemoryPage() {
  const mayWrite = useMay()('memories:write');
  const [search, change] = useSearchState();
  const [adding, setAdding] = useState(false);
  const commands = useMemo(
    () =>
      mayWrite
        ? [{ id: 'memory-new', title: 'New memory', group: 'Memory', run: () => setAdding(true) }]
        : [],
    [mayWrite],
  );
  useCommands(commands);
  return (
    <Page>
      <PageHeader
        title="Memory"
        description="What agents remember about people, from one session to the next."
        actions={
          mayWrite && (
            <Button variant="primary" onClick={() => setAdding(true)}>
              <Plus aria-hidden className="size-4" />
              New memory
            </Button>
          )
        }
      />
      <Tabs
        label="Views of the memory"
        value={search.tab === 'users' ? 'users' : 'memories'}
        onChange={(id) => change({ tab: id === 'users' ? id : undefined })}
        tabs={[
          { id: 'memories', label: 'Memories', content: <MemoriesTab /> },
          { id: 'users', label: 'Users', content: <UsersTab /> },
        ]}
      />
      {adding && <MemoryDialog userId={search.user} onClose={() => setAdding(false)} />}
    </Page>
  );
}
