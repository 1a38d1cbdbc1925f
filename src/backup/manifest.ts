import { z } from 'zod'

/**
 * The file `manifest.json` of a backup. A backup is a tar with these files, in this order:
 *
 *   tables/<table>/<number>.copy   rows as `COPY … TO STDOUT` writes them
 *   manifest.json
 *   SHA256SUMS                     of all files before, as `sha256sum` writes it
 */
export const manifestName = 'manifest.json'
export const sumsName = 'SHA256SUMS'
export const formatVersion = 1

const count = z.number().int().nonnegative()
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
/** Names are quoted in statements, so they must not contain quotes. */
const identifier = z.string().regex(/^[a-z_][a-z0-9_]*$/)

const part = z.object({ name: z.string(), rows: count, bytes: count, sha256 })
const table = z.object({ name: identifier, columns: z.array(identifier), rows: count, parts: z.array(part) })

export const manifestSchema = z.object({
  format: z.literal('berth-backup'),
  formatVersion: count,
  berthVersion: z.string(),
  /** Time of the snapshot by the clock of the database. */
  takenAt: z.iso.datetime(),
  postgresVersion: z.string(),
  migrations: z.array(z.object({ name: z.string(), checksum: sha256 })).min(1),
  feedHead: count,
  auditHead: z.object({ seq: count, hash: sha256 }),
  /** Id of the data directory of this machine, or else of the only directory to which pools are bound. */
  directoryId: z.string().nullable(),
  withLogs: z.boolean(),
  withFiles: z.boolean().default(true),
  /** Hashes of the stored output of some runs, computed by the database. */
  logs: z.array(z.object({ runId: z.string(), sha256 })),
  sequences: z.array(z.object({ name: identifier, lastValue: z.string().regex(/^\d+$/), isCalled: z.boolean() })),
  tables: z.array(table),
})

export type Manifest = z.output<typeof manifestSchema>
export type TableEntry = Manifest['tables'][number]
export type PartEntry = TableEntry['parts'][number]

/** The backup cannot be taken, read or restored; the message has the reason. */
export class BackupRefused extends Error {
  override name = 'BackupRefused'
}
