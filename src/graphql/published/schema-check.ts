import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { buildSchema, findBreakingChanges, findDangerousChanges } from 'graphql'
import { printPublishedSchema } from './print.ts'

/**
 * `node src/graphql/published/schema-check.ts [REVISION]` lists the changes since the schema of a revision (default: HEAD) that
 * break clients, and dangerous ones. Exit code 1 for breaking changes.
 */

export interface SchemaChanges {
  breaking: string[]
  dangerous: string[]
}

export function findSchemaChanges(before: string): SchemaChanges {
  const [old, now] = [buildSchema(before), buildSchema(printPublishedSchema())]
  const describe = (changes: readonly { type: string; description: string }[]) =>
    changes.map(({ type, description }) => `${type}: ${description}`)
  return { breaking: describe(findBreakingChanges(old, now)), dangerous: describe(findDangerousChanges(old, now)) }
}

/** Reads schema.graphql at a revision. null: the repository or the revision is missing. */
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
  if (before === null) throw new Error(`schema.graphql is missing at ${revision}`)
  const { breaking, dangerous } = findSchemaChanges(before)
  for (const line of dangerous) process.stdout.write(`dangerous  ${line}\n`)
  for (const line of breaking) process.stdout.write(`breaking   ${line}\n`)
  process.stdout.write(`${breaking.length} breaking and ${dangerous.length} dangerous changes since ${revision}\n`)
  process.exitCode = breaking.length > 0 ? 1 : 0
}
