import { type Command, Option } from 'commander'
import {
  CreateQuotaDocument,
  type CreateQuotaInput,
  DeleteQuotaDocument,
  QuotaAction,
  type QuotaRowFragment,
  QuotaRowFragmentDoc,
  QuotasDocument,
  QuotaType,
  QuotaUsageDocument,
  type QuotaUsageRowFragment,
  type ScopeKind,
  UpdateQuotaDocument,
  type UpdateQuotaInput,
} from '../../client/generated/graphql.ts'
import { toScopeInput } from '../../client/jobs/scope-input.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { runForEach } from '../frame/each.ts'
import { usageError } from '../frame/exit.ts'
import { readChoice } from '../reading/choices.ts'
import { readCurrency } from '../reading/currency.ts'
import { readAmount } from '../reading/numbers.ts'
import { readEveryNode } from '../reading/pages.ts'
import { addOutputOption, createRowPrinter, isTable, type Output, type OutputOptions } from '../showing/output.ts'
import { formatMoney, formatScope } from '../showing/render.ts'

/** Kinds of scopes that a quota can have. */
const quotaKinds = ['GLOBAL', 'LEVEL', 'USER', 'TEAM', 'ACCOUNT'] as const satisfies readonly ScopeKind[]

interface CreateOptions extends OutputOptions, Omit<CreateQuotaInput, 'scope'> {
  scope: (typeof quotaKinds)[number]
  key?: string
}

export function registerQuotaCommand(program: Command, cli: Cli): void {
  const quota = program.command('quota').description('show and manage quotas on submissions')
  addOutputOption(quota.command('usage', { isDefault: true }))
    .description('show your quotas and your usage')
    .action(async ({ output }: OutputOptions) => {
      const { viewer } = await cli.connection().request(QuotaUsageDocument, {})
      await printUsage(cli, viewer.quotas, output)
    })
  addOutputOption(quota.command('ls'))
    .description('list quotas')
    .action(async ({ output }: OutputOptions) => print(cli, await readQuotas(cli), output))
  addOutputOption(quota.command('create'), [QuotaRowFragmentDoc])
    .description('create a quota')
    .addOption(word('--type <type>', 'type of the quota', QuotaType).makeOptionMandatory())
    .addOption(word('--action <action>', 'reaction to an exceeded quota', QuotaAction).default('BLOCK'))
    .addOption(word('--scope <scope>', 'whose usage is limited', quotaKinds).default('GLOBAL'))
    .option('--key <name>', 'name of the level, user, team or account')
    .requiredOption('--limit <amount>', 'highest allowed value', readAmount)
    .action(async ({ output, scope, key, ...rule }: CreateOptions) => {
      if ((scope === 'GLOBAL') !== (key === undefined))
        throw usageError('--scope and --key go together', 'pass --scope USER --key NAME')
      const input = { ...rule, scope: scope === 'GLOBAL' ? null : toScopeInput(scope, key ?? '') }
      await print(cli, [(await mutate(cli, CreateQuotaDocument, input)).quota], output)
    })
  addOutputOption(quota.command('update').argument('<quota>'), [QuotaRowFragmentDoc])
    .description('change a quota')
    .addOption(word('--action <action>', 'reaction to an exceeded quota', QuotaAction))
    .option('--limit <amount>', 'highest allowed value', readAmount)
    .action(async (quotaId: string, { output, ...change }: OutputOptions & Omit<UpdateQuotaInput, 'quotaId'>) => {
      await print(cli, [(await mutate(cli, UpdateQuotaDocument, { quotaId, ...change })).quota], output)
    })
  quota
    .command('rm')
    .argument('<quota...>')
    .description('remove quotas')
    .action(async (ids: string[]) => {
      await runForEach(cli, ids, async (quotaId) => {
        const { deletedId } = await mutate(cli, DeleteQuotaDocument, { quotaId })
        await cli.terminal.write(`${deletedId}\n`)
      })
    })
}

function word(flags: string, description: string, values: object): Option {
  const words: string[] = Object.values(values)
  return new Option(flags, `${description}: ${words.join(', ')}`).argParser(readChoice(words))
}

type Typed = Pick<QuotaRowFragment, 'type'>
type FormatAmount = (amount: number, quota: Typed) => string

const costTypes: ReadonlySet<QuotaType> = new Set([QuotaType.CostPerDay, QuotaType.CostPerMonth])
const isCost = ({ type }: Typed) => costTypes.has(type)

async function amountsOf(cli: Cli, quotas: readonly Typed[], output: Output): Promise<FormatAmount> {
  const currency = isTable(output) && quotas.some(isCost) ? await readCurrency(cli) : null
  return (amount, quota) => (isCost(quota) ? formatMoney({ amount, currency }) : String(amount))
}

async function print(cli: Cli, quotas: readonly QuotaRowFragment[], output: Output): Promise<void> {
  const format = await amountsOf(cli, quotas, output)
  const printRows = createRowPrinter<QuotaRowFragment>([
    { title: 'ID', cell: ({ id }) => id },
    { title: 'TYPE', cell: ({ type }) => type },
    { title: 'ACTION', cell: ({ action }) => action },
    { title: 'SCOPE', cell: ({ scope: { kind, name } }) => (name === null ? kind : `${kind} ${name}`) },
    { title: 'LIMIT', cell: (row) => format(row.limit, row) },
  ])
  await printRows(cli, quotas, output)
}

async function printUsage(cli: Cli, quotas: readonly QuotaUsageRowFragment[], output: Output): Promise<void> {
  const format = await amountsOf(cli, quotas, output)
  const printRows = createRowPrinter<QuotaUsageRowFragment>([
    { title: 'TYPE', cell: ({ type }) => type },
    { title: 'ACTION', cell: ({ action }) => action },
    { title: 'OF', cell: ({ scope }) => formatScope(scope) },
    { title: 'USED', cell: (row) => format(row.used, row), style: ({ warning }) => (warning ? 'yellow' : 'green') },
    { title: 'LIMIT', cell: (row) => format(row.limit, row) },
  ])
  await printRows(cli, quotas, output)
}

const readQuotas = ({ connection }: Cli): Promise<QuotaRowFragment[]> =>
  readEveryNode(async (page) => (await connection().request(QuotasDocument, page)).quotas)
