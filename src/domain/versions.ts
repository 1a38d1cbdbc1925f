import { z } from 'zod'
import { VersionConflict } from './errors.ts'

/**
 * Versions of the objects that people edit. Triggers increment a version with each change
 * (prisma/migrations). An edit that states the version it is based on never overwrites another change.
 */

export const versionInput = z.int().min(1, 'must be at least 1').nullish()

export type ExpectedVersion = number | null | undefined

/** `object`: the kind of the object for the message, such as "quota". */
export function demandUnchanged(object: string, { version }: { version: number }, expected: ExpectedVersion): void {
  if (expected !== null && expected !== undefined && expected !== version)
    throw new VersionConflict(object, { expected, actual: version })
}

export interface Target {
  id: string
  expectedVersion?: ExpectedVersion
}
