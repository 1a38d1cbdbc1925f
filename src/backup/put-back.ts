import { createViewer, type Viewer } from '../domain/access.ts'
import { chainAll } from '../domain/audit/audit-chain.ts'
import { type Verification, verifyAudit } from '../domain/audit/audit-verify.ts'
import { sequenceAll } from '../domain/jobs/sequence.ts'
import { type SelfCheck, selfCheck } from '../domain/selfcheck/selfcheck.ts'
import type { Address } from '../platform/connection.ts'
import { adoptDirectoryId } from '../platform/data-directory.ts'
import { openDb } from '../platform/db.ts'
import { exitWritten } from '../platform/output.ts'
import { refuseForeignFile } from './archive-reader.ts'
import { type Task, withDatabase } from './database.ts'
import { createProgressLine, formatSeconds } from './progress-line.ts'
import { restoreBackup } from './restore.ts'

/** `berth restore FILE` */
export async function restore(task: Task): Promise<void> {
  const { file, log, clock, config, signal } = task
  // Checks the file before a data directory and its PostgreSQL are created.
  await refuseForeignFile(file)
  const line = createProgressLine(clock)
  const beganMs = clock.monotonicMs()
  const { manifest, checked } = await withDatabase(task, { make: true }, async (address) => {
    const restored = await restoreBackup({ file, address, log, signal, onProgress: line.show })
    return { manifest: restored, checked: await checkData(address, task) }
  }).finally(line.clear)
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  process.stdout.write(
    `restored ${rows} rows from the backup of ${manifest.takenAt} in ${formatSeconds(clock.monotonicMs() - beganMs)}\n`,
  )
  await giveDirectoryId(config.dataDir, manifest.directoryId)
  process.stdout.write(describeCheck(checked))
  if (!checked.ok) await exitWritten(1)
}

async function giveDirectoryId(dataDir: string, id: string | null) {
  if (id === null) return
  const kept = await adoptDirectoryId(dataDir, id)
  if (kept !== id)
    process.stderr.write(
      `berth: ${dataDir} keeps its id ${kept}; the backup has the id ${id}, to which pools of one machine may be bound\n`,
    )
}

export interface Checked {
  ok: boolean
  data: SelfCheck
  audit: Verification
}

const operator: Viewer = createViewer({ id: 'user_restore', name: 'restore', level: 'ADMIN', allow: [], deny: [] })

/** Long, because a rule of the self-check reads whole tables, and no server uses the database yet. */
const checkMsMax = 4 * 3_600_000

/** Numbers the last events and chains the last audit entries of the snapshot, then checks all data. */
export async function checkData(address: Address, { log }: Pick<Task, 'log'>): Promise<Checked> {
  const db = openDb({ address, connectionsMax: 2, log, applicationName: 'berth restore' })
  try {
    await sequenceAll({ db })
    await chainAll({ db })
    const data = await selfCheck({ db }, operator, { statementMsMax: checkMsMax })
    const audit = await verifyAudit({ db }, operator)
    return { ok: data.ok && audit.ok, data, audit }
  } finally {
    await db.close()
  }
}

export function describeCheck({ data, audit }: Checked): string {
  const findings = data.findings.map(
    ({ rule, objectId, message }) => `self-check: ${rule}: ${objectId ?? '-'}: ${message}\n`,
  )
  return [
    data.ok ? 'self-check: no problem found\n' : findings.join(''),
    audit.ok ? `audit log: intact up to entry ${audit.headSeq}\n` : `audit log: ${audit.message}\n`,
  ].join('')
}
