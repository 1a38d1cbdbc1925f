import type { Permission } from '../generated/graphql.ts'
import { useStart } from './server-facts.ts'

/** Returns a function that tells whether the viewer has one of the `wanted` permissions with the current token. */
export function useMay(): (...wanted: readonly Permission[]) => boolean {
  const { viewer } = useStart()
  return (...wanted) => wanted.some((each) => viewer.permissions.includes(each))
}
