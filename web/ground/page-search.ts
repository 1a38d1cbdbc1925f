import { useNavigate, useSearch } from '@tanstack/react-router'

const useAnySearch = () => useSearch({ strict: false })

/** The search parameters of all routes. */
export type PageSearch = ReturnType<typeof useAnySearch>

/** Returns the search parameters of the current route, and `change`, which sets some of them; undefined removes one. */
export function usePageSearch() {
  const search = useAnySearch()
  const navigate = useNavigate()
  const change = (next: PageSearch, replace = false) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...next }), replace })
  return { search, change }
}
