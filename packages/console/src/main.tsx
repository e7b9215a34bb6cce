import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './data/query-client.js';
import { router } from './router.js';
import { showTooltips } from './ui/overlay/tooltip-layer.js';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element #root.');
showTooltips();
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
