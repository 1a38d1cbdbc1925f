import type { Command } from 'commander'
import { AuditLogDocument, type AuditRowFragment, VerifyAuditDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../cli.ts'
import { exitCodes } from '../exit.ts'
import { readCount, readWhole } from '../numbers.ts'
import { addOutputOption, type OutputOptions, printObject, rowPrinter } from '../output.ts'
import { readFirstNodes } from '../pages.ts'
import { sheet, timeText } from '../render.ts'

interface ListOptions extends OutputOptions {
  action?: string
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
    .option('--action <action>', 'only this action, such as job.approve')
    .option('--object <id>', 'only entries about this object')
    .option('-n, --limit <count>', 'maximum number of entries', readCount, 20)
    .action((options: ListOptions) => list(cli, options))
  addOutputOption(audit.command('verify'))
    .description('verify the hashes of the log')
    .option('--from <seq>', 'first SEQ to verify', readWhole)
    .option('--to <seq>', 'last SEQ to verify', readWhole)
    .action((options: VerifyOptions) => verify(cli, options))
}

const print = rowPrinter<AuditRowFragment>([
  { title: 'SEQ', cell: ({ seq }) => String(seq) },
  { title: 'AT', cell: ({ at }) => timeText(at) ?? '-' },
  { title: 'WHO', cell: ({ actorName }) => actorName },
  { title: 'FROM', cell: ({ ip }) => ip ?? '-' },
  { title: 'ACTION', cell: ({ action }) => action },
  { title: 'OBJECT', cell: ({ objectId }) => objectId ?? '-' },
])

async function list(cli: Cli, { output, action, object, limit }: ListOptions): Promise<void> {
  const filter = { actions: action ? [action] : undefined, objectIds: object ? [object] : undefined }
  const entries = await readFirstNodes(
    limit,
    async (page) => (await cli.connection().request(AuditLogDocument, { ...page, filter })).auditLog,
  )
  await print(cli, entries, output)
}

async function verify(cli: Cli, { output, from: fromSeq, to: toSeq }: VerifyOptions): Promise<void> {
  const { verifyAudit } = await cli.connection().request(VerifyAuditDocument, { fromSeq, toSeq })
  const { ok } = verifyAudit
  const lines = [
    ['verdict', ok ? 'unchanged' : 'CHANGED'],
    ['range', `${verifyAudit.fromSeq} … ${verifyAudit.toSeq}`],
    ['newest', String(verifyAudit.headSeq)],
    ['problem', verifyAudit.message],
  ] as const
  await printObject(cli, verifyAudit, output, () => sheet(cli.terminal, lines))
  if (!ok) cli.exitWith(exitCodes.unexpected)
}
