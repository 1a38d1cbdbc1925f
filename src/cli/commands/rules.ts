import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type ApprovalConditionInput,
  type ApprovalRuleRowFragment,
  ApprovalRuleRowFragmentDoc,
  ApprovalRulesDocument,
  CreateApprovalRuleDocument,
  DeleteApprovalRuleDocument,
  type Executor,
  UpdateApprovalRuleDocument,
  type UserLevel,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { runForEach } from '../frame/each.ts'
import { usageError } from '../frame/exit.ts'
import { levels, readChoice, readChoices, readExecutorChoice } from '../reading/choices.ts'
import { readCurrency } from '../reading/currency.ts'
import { readAmount, readWhole } from '../reading/numbers.ts'
import { readEveryNode } from '../reading/pages.ts'
import { addOutputOption, createRowPrinter, isTable, type Output, type OutputOptions } from '../showing/output.ts'
import { formatMoney } from '../showing/render.ts'

/** Flags of a rule. Flags for the condition have the names of the fields of ApprovalConditionInput. */
interface RuleFlags {
  costAbove?: number
  hardware?: string
  executor?: Executor
  levelNotIn?: UserLevel[]
  jobsPerDayAbove?: number
  firstJob?: true
  jobName?: string
  priority?: number
  disable?: true
  enable?: true
  exempt?: UserLevel[]
  requires?: UserLevel
  expires?: number
}

export function registerRulesCommand(program: Command, cli: Cli): void {
  const rules = program.command('rules').description('manage approval rules')
  addOutputOption(rules.command('ls', { isDefault: true }))
    .description('list rules in order of evaluation')
    .action(async ({ output }: OutputOptions) => print(cli, await readRules(cli), output))
  withFlags(addOutputOption(rules.command('create').argument('<name>'), [ApprovalRuleRowFragmentDoc]))
    .description('create a rule with one condition')
    .action(async (name: string, { output, ...flags }: OutputOptions & RuleFlags) => {
      const condition = toCondition(flags)
      if (!condition) throw usageError('the rule has no condition', 'pass one, for example --cost-above 50')
      const input = { name, condition, ...toRuleFields(flags) }
      await print(cli, [(await mutate(cli, CreateApprovalRuleDocument, input)).rule], output)
    })
  withFlags(addOutputOption(rules.command('update').argument('<rule>'), [ApprovalRuleRowFragmentDoc]))
    .description('change a rule; omitted fields stay')
    .option('--rename <name>', 'another name')
    .action(async (id: string, { output, rename, ...flags }: OutputOptions & RuleFlags & { rename?: string }) => {
      const input = { approvalRuleId: id, name: rename, condition: toCondition(flags), ...toRuleFields(flags) }
      await print(cli, [(await mutate(cli, UpdateApprovalRuleDocument, input)).rule], output)
    })
  rules
    .command('rm')
    .argument('<rule...>')
    .description('remove rules')
    .action(async (ids: string[]) => {
      await runForEach(cli, ids, async (approvalRuleId) => {
        const { deletedId } = await mutate(cli, DeleteApprovalRuleDocument, { approvalRuleId })
        await cli.terminal.write(`${deletedId}\n`)
      })
    })
}

function withFlags(command: Command): Command {
  return command
    .option('--cost-above <cost>', 'condition: the job costs more than this', readAmount)
    .option('--hardware <glob>', 'condition: the requested GPU or CPU model matches this glob')
    .option('--executor <name>', 'condition: the job runs on this executor', readExecutorChoice)
    .option('--level-not-in <level...>', 'condition: the user has another level than these', readChoices(levels))
    .option(
      '--jobs-per-day-above <count>',
      'condition: more than this number of jobs of the user in 24 hours',
      readWhole,
    )
    .option('--first-job', 'condition: the first job of the user')
    .option('--job-name <pattern>', 'condition: the job name matches this glob, or ^regular expression$')
    .option('--priority <number>', 'rules with a higher priority are evaluated first', readInteger)
    .addOption(new Option('--disable', 'disable the rule').conflicts('enable'))
    .option('--enable', 'enable the rule')
    .option('--exempt <level...>', 'user levels that the rule does not apply to', readChoices(levels))
    .option('--requires <level>', 'lowest user level that may decide', readChoice(levels))
    .option('--expires <seconds>', 'time until an undecided request expires', readWhole)
}

function toCondition(flags: RuleFlags): ApprovalConditionInput | undefined {
  const { costAbove, hardware, executor, levelNotIn, jobsPerDayAbove, firstJob, jobName } = flags
  const named = { costAbove, hardware, executor, levelNotIn, jobsPerDayAbove, firstJob, name: jobName }
  const given = Object.entries(named).filter(([, value]) => value !== undefined)
  if (given.length > 1) throw usageError('the rule has more than one condition', 'create one rule for each condition')
  // The cast is safe, because `given` has exactly one key of the condition with its type.
  return given.length === 0 ? undefined : (Object.fromEntries(given) as ApprovalConditionInput)
}

const toRuleFields = ({ priority, disable, enable, exempt, requires, expires }: RuleFlags) => ({
  priority,
  enabled: disable || enable ? !disable : undefined,
  exemptLevels: exempt,
  requiredLevel: requires,
  expiresAfterSeconds: expires,
})

function readInteger(given: string): number {
  if (!/^-?\d{1,9}$/.test(given)) throw new InvalidArgumentError('Expected an integer.')
  return Number(given)
}

async function print(cli: Cli, rules: readonly ApprovalRuleRowFragment[], output: Output): Promise<void> {
  const hasCost = isTable(output) && rules.some(({ condition }) => condition.costAbove !== null)
  const currency = hasCost ? await readCurrency(cli) : null
  const printRows = createRowPrinter<ApprovalRuleRowFragment>([
    { title: 'ID', cell: ({ id }) => id },
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'PRIORITY', cell: ({ priority }) => String(priority) },
    { title: 'WHEN', cell: ({ condition }) => conditionText(condition, currency) },
    { title: 'EXEMPT', cell: ({ exemptLevels }) => exemptLevels.join(',') || '-' },
    { title: 'NEEDS', cell: ({ requiredLevel }) => requiredLevel },
    { title: 'FOR', cell: ({ expiresAfterSeconds }) => `${expiresAfterSeconds} s` },
    { title: 'STATE', cell: ({ enabled }) => (enabled ? 'enabled' : 'disabled') },
  ])
  await printRows(cli, rules, output)
}

const conditionText = (condition: ApprovalRuleRowFragment['condition'], currency: string | null): string =>
  Object.entries(condition)
    .filter(([, value]) => value !== null)
    .map(
      ([name, value]) => `${name} ${name === 'costAbove' ? formatMoney({ amount: Number(value), currency }) : value}`,
    )
    .join()

const readRules = (cli: Cli): Promise<ApprovalRuleRowFragment[]> =>
  readEveryNode(async (page) => (await cli.connection().request(ApprovalRulesDocument, page)).approvalRules)
