import type { LinkProps } from '@tanstack/react-router';
import Activity from 'lucide-react/icons/activity';
import Blocks from 'lucide-react/icons/blocks';
import BookOpen from 'lucide-react/icons/book-open';
import Brain from 'lucide-react/icons/brain';
import CalendarClock from 'lucide-react/icons/calendar-clock';
import ChartColumn from 'lucide-react/icons/chart-column';
import FlaskConical from 'lucide-react/icons/flask-conical';
import GraduationCap from 'lucide-react/icons/graduation-cap';
import ListTree from 'lucide-react/icons/list-tree';
import MessageSquare from 'lucide-react/icons/message-square';
import Settings from 'lucide-react/icons/settings';
import ShieldCheck from 'lucide-react/icons/shield-check';
import Workflow from 'lucide-react/icons/workflow';
import type { ComponentType } from 'react';

export interface Destination {
  readonly to: NonNullable<LinkProps['to']>;
  readonly label: string;
  readonly icon: ComponentType<{ className?: string; 'aria-hidden'?: boolean }>;
  /** Opens it after `g`. */
  readonly letter: string;
  /** Any of them suffices; none: everyone may open it. */
  readonly scopes: readonly string[];
}

const reading = ['agents', 'teams', 'workflows'].flatMap((kind) => [`${kind}:read`, `${kind}:run`]);

export const groups: readonly { readonly title: string; readonly entries: readonly Destination[] }[] = [
  {
    title: '',
    entries: [
      { to: '/', label: 'Chat', icon: MessageSquare, letter: 'c', scopes: reading },
      { to: '/approvals', label: 'Approvals', icon: ShieldCheck, letter: 'a', scopes: ['approvals:read'] },
    ],
  },
  {
    title: 'Observe',
    entries: [
      { to: '/runs', label: 'Runs', icon: Activity, letter: 'r', scopes: reading },
      { to: '/traces', label: 'Traces', icon: ListTree, letter: 't', scopes: ['traces:read'] },
      { to: '/metrics', label: 'Metrics', icon: ChartColumn, letter: 'm', scopes: ['metrics:read'] },
      { to: '/evals', label: 'Evals', icon: FlaskConical, letter: 'e', scopes: ['evals:read'] },
    ],
  },
  {
    title: 'Build',
    entries: [
      { to: '/workflows', label: 'Workflows', icon: Workflow, letter: 'w', scopes: ['workflows:read'] },
      { to: '/components', label: 'Components', icon: Blocks, letter: 'o', scopes: ['components:read'] },
      { to: '/schedules', label: 'Schedules', icon: CalendarClock, letter: 's', scopes: ['schedules:read'] },
    ],
  },
  {
    title: 'Data',
    entries: [
      { to: '/memory', label: 'Memory', icon: Brain, letter: 'y', scopes: ['memories:read'] },
      { to: '/learnings', label: 'Learnings', icon: GraduationCap, letter: 'l', scopes: ['learnings:read'] },
      { to: '/knowledge', label: 'Knowledge', icon: BookOpen, letter: 'k', scopes: ['knowledge:read'] },
    ],
  },
];

export const settingsEntry: Destination = {
  to: '/settings',
  label: 'Settings',
  icon: Settings,
  letter: ',',
  scopes: [],
};

export const destinations: readonly Destination[] = [
  ...groups.flatMap(({ entries }) => entries),
  settingsEntry,
];
