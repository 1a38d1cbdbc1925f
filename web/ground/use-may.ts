import type { Permission } from '../generated/graphql.ts'
import { useStart } from './server-facts.ts'

/** The permissions of the viewer with the token in use. */
export function useMay(): (...wanted: readonly Permission[]) => boolean {
  const { viewer } = useStart()
  return (...wanted) => wanted.some((each) => viewer.permissions.includes(each))
}
