import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  CreateQuotaDocument,
  type CreateQuotaInput,
  DeleteQuotaDocument,
  QuotaAction,
  type QuotaRowFragment,
  QuotaScope,
  QuotasDocument,
  QuotaType,
  QuotaUsageDocument,
  type QuotaUsageRowFragment,
  UpdateQuotaDocument,
  type UpdateQuotaInput,
} from '../../client/generated/graphql.ts'
import { type Cli, type OutputOptions, rowPrinter, successOf, withOutput } from '../cli.ts'
import { forEachGiven } from '../each.ts'
import { readAmount } from '../numbers.ts'
import { everyNode } from '../pages.ts'

export function addQuota(program: Command, cli: Cli): void {
  const quota = program.command('quota').description('manage quotas on submissions')
  withOutput(quota.command('usage', { isDefault: true }))
    .description('show your quotas and your usage')
    .action(async ({ output }: OutputOptions) => {
      const { viewer } = await cli.connection().request(QuotaUsageDocument, {})
      await printUsage(cli, viewer.quotas, output)
    })
  withOutput(quota.command('ls'))
    .description('list quotas')
    .action(async ({ output }: OutputOptions) => print(cli, await readQuotas(cli), output))
  withOutput(quota.command('create'))
    .description('create a quota')
    .addOption(word('--type <type>', 'what the quota counts', QuotaType).makeOptionMandatory())
    .addOption(word('--action <action>', 'what happens when the quota is exceeded', QuotaAction).default('BLOCK'))
    .addOption(word('--scope <scope>', 'whose usage is limited', QuotaScope).default('GLOBAL'))
    .option('--key <name>', 'name of the level, user, team or account')
    .requiredOption('--limit <amount>', 'highest allowed value', readAmount)
    .action(async ({ output, ...input }: OutputOptions & CreateQuotaInput) => {
      const { createQuota } = await cli.connection().request(CreateQuotaDocument, { input })
      await print(cli, [successOf(createQuota, 'CreateQuotaSuccess').quota], output)
    })
  withOutput(quota.command('update').argument('<quota>'))
    .description('change a quota')
    .addOption(word('--action <action>', 'what happens when the quota is exceeded', QuotaAction))
    .option('--limit <amount>', 'highest allowed value', readAmount)
    .action(async (id: string, { output, ...change }: OutputOptions & Omit<UpdateQuotaInput, 'id'>) => {
      const { updateQuota } = await cli.connection().request(UpdateQuotaDocument, { input: { id, ...change } })
      await print(cli, [successOf(updateQuota, 'UpdateQuotaSuccess').quota], output)
    })
  quota
    .command('rm')
    .argument('<quota...>')
    .description('remove quotas')
    .action(async (ids: string[]) => {
      await forEachGiven(cli, ids, async (id) => {
        const { deleteQuota } = await cli.connection().request(DeleteQuotaDocument, { input: { id } })
        await cli.terminal.write(`${successOf(deleteQuota, 'DeleteSuccess').id}\n`)
      })
    })
}

/** An option with one of these values, in upper or lower case. */
function word(flags: string, description: string, values: Readonly<Record<string, string>>): Option {
  const words = Object.values(values)
  return new Option(flags, `${description}: ${words.join(', ')}`).argParser((given) => {
    const known = words.find((each) => each === given.toUpperCase().replaceAll('-', '_'))
    if (!known) throw new InvalidArgumentError(`Use ${words.join(', ')}.`)
    return known
  })
}

const print = rowPrinter<QuotaRowFragment>([
  { title: 'ID', cell: ({ id }) => id },
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'ACTION', cell: ({ action }) => action },
  { title: 'SCOPE', cell: ({ scope, key }) => (key === null ? scope : `${scope} ${key}`) },
  { title: 'LIMIT', cell: ({ limit }) => String(limit) },
])

const printUsage = rowPrinter<QuotaUsageRowFragment>([
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'ACTION', cell: ({ action }) => action },
  { title: 'OF', cell: ({ scope }) => scope },
  { title: 'USED', cell: ({ used }) => String(used), style: ({ warning }) => (warning ? 'yellow' : 'green') },
  { title: 'LIMIT', cell: ({ limit }) => String(limit) },
])

const readQuotas = ({ connection }: Cli): Promise<QuotaRowFragment[]> =>
  everyNode(async (page) => (await connection().request(QuotasDocument, page)).quotas)
