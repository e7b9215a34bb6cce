import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

type Values = Readonly<Record<string, string | undefined>>;

/** Filters and choices of a page, kept in its address: a link or a reload shows the same. Undefined removes one. */
export function useSearchState(): readonly [values: Values, change: (changed: Values) => void] {
  const values: Values = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = useCallback(
    (changed: Values) =>
      void navigate({ to: '.', search: (before) => ({ ...before, ...changed }), replace: true }),
    [navigate],
  );
  return [values, change];
}
