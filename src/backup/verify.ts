import type pg from 'pg'
import { recordVerification } from '../domain/backup-record.ts'
import type { Address } from '../platform/connection.ts'
import { exitWritten } from '../platform/output.ts'
import { pgSql } from '../platform/tx.ts'
import { refuseForeignFile } from './archive-reader.ts'
import { quote } from './catalog.ts'
import { type Task, withConnection, withDatabase } from './database.ts'
import { findChangedLogs } from './log-hashes.ts'
import type { Manifest } from './manifest.ts'
import { createProgressLine, formatSeconds } from './progress-line.ts'
import { checkData, describeCheck } from './put-back.ts'
import { restoreBackup } from './restore.ts'
import { withTemporaryPostgres } from './temporary-postgres.ts'

/** `berth backup verify FILE`: restores the backup into a temporary PostgreSQL and checks the result. */
export async function verify(task: Task): Promise<void> {
  const { file } = task
  await refuseForeignFile(file)
  const { manifest, tookMs, troubles, checks } = await restoreOnTrial(task)
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  process.stdout.write(`${file}: ${rows} rows of ${manifest.takenAt}, restored in ${formatSeconds(tookMs)}\n${checks}`)
  for (const trouble of troubles) process.stdout.write(`${trouble}\n`)
  if (troubles.length > 0) return exitWritten(1)
  process.stdout.write(`logs: ${manifest.logs.length} logs have the recorded hashes\n`)
  await remember(task, manifest, tookMs)
}

interface Outcome {
  manifest: Manifest
  tookMs: number
  checks: string
  troubles: string[]
}

export function restoreOnTrial(task: Pick<Task, 'file' | 'log' | 'clock' | 'signal'>): Promise<Outcome> {
  const { file, log, clock, signal } = task
  const line = createProgressLine(clock)
  return withTemporaryPostgres(task, async (address) => {
    const beganMs = clock.monotonicMs()
    const manifest = await restoreBackup({ file, address, log, signal, onProgress: line.show })
    const tookMs = clock.monotonicMs() - beganMs
    const checked = await checkData(address, task)
    const troubles = await compare(address, manifest)
    if (!checked.ok) troubles.push('the restored data has problems')
    return { manifest, tookMs, checks: describeCheck(checked), troubles }
  }).finally(line.clear)
}

function compare(address: Address, manifest: Manifest): Promise<string[]> {
  return withConnection({ address, name: 'berth verify' }, async (client) => [
    ...(await compareCounts(client, manifest)),
    ...(await compareAudit(client, manifest)),
    ...(await compareLogs(client, manifest)),
  ])
}

/** Tables that a restore empties: questions to leaders are not restored. */
const emptied = ['question']

async function compareCounts(client: pg.Client, { tables }: Manifest): Promise<string[]> {
  const troubles: string[] = []
  for (const { name, rows } of tables) {
    const { rows: counted } = await client.query<{ count: string }>(`SELECT count(*) AS count FROM ${quote(name)}`)
    const [found, expected] = [Number(counted[0]?.count), emptied.includes(name) ? 0 : rows]
    if (found !== expected) troubles.push(`table ${name}: ${found} rows, and the backup names ${expected}`)
  }
  return troubles
}

async function compareAudit(client: pg.Client, { auditHead: { seq, hash } }: Manifest): Promise<string[]> {
  if (seq === 0) return []
  const { rows } = await client.query<{ hash: string }>('SELECT hash FROM audit_entry WHERE seq = $1', [seq])
  return rows[0]?.hash === hash ? [] : [`audit log: entry ${seq} is not the head that the backup names`]
}

async function compareLogs(client: pg.Client, { logs }: Manifest): Promise<string[]> {
  const changed = await findChangedLogs(client, logs)
  return changed.map((runId) => `logs: the output of ${runId} differs from its recorded hash`)
}

/** A failure is only reported, because this machine may have no database of the installation. */
async function remember(task: Task, { takenAt }: Manifest, restoredMs: number): Promise<void> {
  try {
    await withDatabase(task, { make: false }, (address) =>
      withConnection({ address, name: 'berth verify' }, (client) =>
        recordVerification(pgSql(client), { takenAt: new Date(takenAt), restoredMs }),
      ),
    )
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(`berth: the installation does not learn of this verification: ${reason}\n`)
  }
}
