import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { buildSchema, findBreakingChanges, findDangerousChanges } from 'graphql'
import { printPublishedSchema } from './print.ts'

/**
 * `node src/graphql/published/schema-check.ts [REVISION]`: what the schema would break for clients of the one that is committed there
 * (default: HEAD). Exit code 1 where it breaks something; dangerous changes are only printed.
 */

export interface SchemaChanges {
  breaking: string[]
  dangerous: string[]
}

/** A client that selects all of `before` must still be understood. */
export function findSchemaChanges(before: string): SchemaChanges {
  const [old, now] = [buildSchema(before), buildSchema(printPublishedSchema())]
  const told = (changes: readonly { type: string; description: string }[]) =>
    changes.map(({ type, description }) => `${type}: ${description}`)
  return { breaking: told(findBreakingChanges(old, now)), dangerous: told(findDangerousChanges(old, now)) }
}

/** schema.graphql as it was committed; null: there is no repository, or not such a revision. */
export function readCommittedSchema(revision: string): string | null {
  const cwd = join(import.meta.dirname, '../../..')
  try {
    return execFileSync('git', ['show', `${revision}:schema.graphql`], { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    if (error instanceof Error && ('status' in error || 'code' in error)) return null
    throw error
  }
}

if (import.meta.main) {
  const [revision = 'HEAD'] = process.argv.slice(2)
  const before = readCommittedSchema(revision)
  if (before === null) throw new Error(`There is no schema.graphql at ${revision}`)
  const { breaking, dangerous } = findSchemaChanges(before)
  for (const line of dangerous) process.stdout.write(`dangerous  ${line}\n`)
  for (const line of breaking) process.stdout.write(`breaking   ${line}\n`)
  process.stdout.write(`${breaking.length} breaking and ${dangerous.length} dangerous changes since ${revision}\n`)
  process.exitCode = breaking.length > 0 ? 1 : 0
}
