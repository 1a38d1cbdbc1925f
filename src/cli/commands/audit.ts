import type { Command } from 'commander'
import { AuditLogDocument, type AuditRowFragment, VerifyAuditDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes } from '../frame/exit.ts'
import { readCount, readWhole } from '../reading/numbers.ts'
import { readFirstNodes } from '../reading/pages.ts'
import { addOutputOption, createRowPrinter, type OutputOptions, printObject } from '../showing/output.ts'
import { formatSheet, formatTime } from '../showing/render.ts'

interface ListOptions extends OutputOptions {
  operation?: string
  object?: string
  limit: number
}

interface VerifyOptions extends OutputOptions {
  from?: number
  to?: number
}

export function registerAuditCommand(program: Command, cli: Cli): void {
  const audit = program.command('audit').description('show and verify the audit log')
  addOutputOption(audit.command('ls', { isDefault: true }))
    .description('list the newest entries')
    .option('--operation <operation>', 'only this operation, such as job.approve')
    .option('--object <id>', 'only entries about this object')
    .option('-n, --limit <count>', 'maximum number of entries', readCount, 20)
    .action((options: ListOptions) => listEntries(cli, options))
  addOutputOption(audit.command('verify'))
    .description('verify the hashes of the log')
    .option('--from <seq>', 'first SEQ to verify', readWhole)
    .option('--to <seq>', 'last SEQ to verify', readWhole)
    .action((options: VerifyOptions) => verifyLog(cli, options))
}

const print = createRowPrinter<AuditRowFragment>([
  { title: 'SEQ', cell: ({ seq }) => String(seq) },
  { title: 'AT', cell: ({ at }) => formatTime(at) ?? '-' },
  { title: 'WHO', cell: ({ actorName }) => actorName },
  { title: 'FROM', cell: ({ ip }) => ip ?? '-' },
  { title: 'OPERATION', cell: ({ operation }) => operation },
  { title: 'OBJECT', cell: ({ objectId }) => objectId ?? '-' },
])

async function listEntries(cli: Cli, { output, operation, object, limit }: ListOptions): Promise<void> {
  const filter = { operations: operation ? [operation] : undefined, objectIds: object ? [object] : undefined }
  const entries = await readFirstNodes(
    limit,
    async (page) => (await cli.connection().request(AuditLogDocument, { ...page, filter })).auditLog,
  )
  await print(cli, entries, output)
}

async function verifyLog(cli: Cli, { output, from: fromSeq, to: toSeq }: VerifyOptions): Promise<void> {
  const { verifyAudit } = await cli.connection().request(VerifyAuditDocument, { fromSeq, toSeq })
  const { ok } = verifyAudit
  const lines = [
    ['verdict', ok ? 'unchanged' : 'CHANGED'],
    ['range', `${verifyAudit.fromSeq} … ${verifyAudit.toSeq}`],
    ['newest', String(verifyAudit.headSeq)],
    ['problem', verifyAudit.message],
  ] as const
  await printObject(cli, verifyAudit, output, () => formatSheet(cli.terminal, lines))
  if (!ok) cli.exitWith(exitCodes.unexpected)
}
