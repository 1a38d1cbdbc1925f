import { useNavigate, useSearch } from '@tanstack/react-router'

const useAnySearch = () => useSearch({ strict: false })

/** The search part of the URL of any page. */
export type PageSearch = ReturnType<typeof useAnySearch>

/** That of the page that is shown. */
export function usePageSearch() {
  const search = useAnySearch()
  const navigate = useNavigate()
  const change = (next: PageSearch, replace = false) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...next }), replace })
  return { search, change }
}
