import { z } from 'zod'
import { VersionConflict } from './errors.ts'

/**
 * Versions of the objects that people edit. Triggers raise a version with each change of any writer
 * (prisma/migrations). An edit with the version that its editor has read never overwrites the change of another.
 */

export const versionInput = z.int().min(1, 'must be at least 1').nullish()

export type ExpectedVersion = number | null | undefined

/** `object`: its kind, for the message: "quota". */
export function demandUnchanged(object: string, { version }: { version: number }, expected: ExpectedVersion): void {
  if (expected !== null && expected !== undefined && expected !== version)
    throw new VersionConflict(object, { expected, actual: version })
}

/** An object to delete, or to change. */
export interface Target {
  id: string
  expectedVersion?: ExpectedVersion
}
