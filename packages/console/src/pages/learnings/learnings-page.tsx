import Plus from 'lucide-react/icons/plus';
import { useMemo, useState } from 'react';
import { useMay } from '../../connection/use-connection.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { Button } from '../../ui/button.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { LearningDialog } from './learning-dialog.js';
import { RecordsTab } from './records-tab.js';
import { UsersTab } from './users-tab.js';

export function LearningsPage() {
  const mayWrite = useMay()('learnings:write');
  const [search, change] = useSearchState();
  const [adding, setAdding] = useState(false);
  const commands = useMemo(
    () =>
      mayWrite
        ? [{ id: 'learning-new', title: 'New learning', group: 'Learnings', run: () => setAdding(true) }]
        : [],
    [mayWrite],
  );
  useCommands(commands);
  return (
    <Page>
      <PageHeader
        title="Learnings"
        description="What agents have learned: profiles of users, contexts of sessions, entities and decisions."
        actions={
          mayWrite && (
            <Button variant="primary" onClick={() => setAdding(true)}>
              <Plus aria-hidden className="size-4" />
              New learning
            </Button>
          )
        }
      />
      <Tabs
        label="Views of the learnings"
        value={search.tab === 'users' ? 'users' : 'records'}
        onChange={(id) => change({ tab: id === 'users' ? id : undefined })}
        tabs={[
          { id: 'records', label: 'Records', content: <RecordsTab /> },
          { id: 'users', label: 'Users', content: <UsersTab /> },
        ]}
      />
      {adding && <LearningDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}
