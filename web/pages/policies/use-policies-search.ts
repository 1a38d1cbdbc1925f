import { useNavigate, useSearch } from '@tanstack/react-router'

/** The search part of the URL of the policies. */
export interface PoliciesSearch {
  open?: string | undefined
  pool?: string | undefined
  scope?: string | undefined
  type?: string | undefined
  action?: string | undefined
  key?: string | undefined
}

export function usePoliciesSearch() {
  const search: PoliciesSearch = useSearch({ from: '/policies/$part' })
  const navigate = useNavigate({ from: '/policies/$part' })
  const change = (next: PoliciesSearch, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace })
  return { search, change }
}
