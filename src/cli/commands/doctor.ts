import type { Command } from 'commander'
import { RequestFailed } from '../../client/connection/failure.ts'
import {
  ConditionsDocument,
  type ConditionsQuery,
  SelfCheckDocument,
  type SelfCheckQuery,
} from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes } from '../frame/exit.ts'
import { explainOutage, readReadiness, type ServerReadiness } from '../frame/readiness.ts'
import { applyStyle, type Style, sanitizeText, type Terminal } from '../frame/terminal.ts'
import { addOutputOption, type OutputOptions, printObject } from '../showing/output.ts'
import { type Column, table } from '../showing/render.ts'

type Check = SelfCheckQuery['selfCheck']
type Condition = ConditionsQuery['system']['conditions'][number]

const columns: readonly Column<Check['findings'][number]>[] = [
  { title: 'RULE', cell: ({ rule }) => rule },
  { title: 'OBJECT', cell: ({ objectId }) => objectId ?? '-' },
  { title: 'FOUND', cell: ({ message }) => message },
]

const executorColumns: readonly Column<ConditionsQuery['system']['executors'][number]>[] = [
  { title: 'POOL', cell: ({ pool }) => pool.name },
  { title: 'EXECUTOR', cell: ({ name }) => name },
  { title: 'VERSION', cell: ({ backendVersion }) => backendVersion ?? '-' },
  { title: 'AVAILABLE', cell: ({ available }) => (available ? 'yes' : 'no') },
  { title: 'MESSAGE', cell: ({ message }) => message ?? '-' },
]

/** A server evaluates the conditions every 10 s. After this time without an evaluation the command warns. */
const outdatedMs = 60_000

export function registerDoctorCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('doctor'))
    .summary('check the server for problems')
    .description(
      'show the conditions that an operator should know, since when, and what to do; check the data of the server, the leaders of its pools and its executors; exits with 1 if a condition of severity PAGE holds or the check finds a problem',
    )
    .action(async ({ output }: OutputOptions) => {
      try {
        await runChecks(cli, output)
      } catch (error) {
        if (!isOutage(error)) throw error
        await reportOutage(cli, output, error)
      }
    })
}

const isOutage = (error: unknown): error is RequestFailed =>
  error instanceof RequestFailed && (error.code === 'UNREACHABLE' || error.code === 'UNAVAILABLE')

async function runChecks(cli: Cli, output: OutputOptions['output']): Promise<void> {
  const { pools, system } = await cli.connection().request(ConditionsDocument, {}, { attempts: 4 })
  const check = await checkData(cli)
  const { executors, conditions, conditionsAt, at } = system
  const leaderless = pools.nodes.filter(({ leader }) => leader === null)
  const readiness = await readReadiness(cli.server().url)
  const findings = [...(check?.findings ?? []), ...leaderless.map(leaderFinding), ...findUnready(readiness)]
  const ok = findings.length === 0 && conditions.every(({ severity }) => severity !== 'PAGE')
  const isOutdated = conditionsAt === null || Date.parse(at) - Date.parse(conditionsAt) > outdatedMs
  const text = () =>
    [
      conditions.length > 0 ? formatConditions(cli.terminal, conditions, at) : '',
      findings.length > 0 ? table(cli.terminal, findings, columns) : ok ? 'no problem found\n' : '',
      table(cli.terminal, executors, executorColumns),
      isOutdated ? outdatedAdvice(conditionsAt) : '',
      check === null ? 'the check of the data needs the permission job.view.all\n' : '',
    ]
      .filter((part) => part !== '')
      .join('\n')
  await printObject(cli, { ok, at, conditions, conditionsAt, findings, executors }, output, text)
  for (const { name } of leaderless) cli.terminal.say(leaderAdvice(name))
  if (!ok) cli.exitWith(exitCodes.unexpected)
}

/** Runs the self-check; null: the caller lacks the permission to see all jobs. */
async function checkData(cli: Cli): Promise<Check | null> {
  try {
    return (await cli.connection().request(SelfCheckDocument, {}, { attempts: 4 })).selfCheck
  } catch (error) {
    if (error instanceof RequestFailed && error.code === 'FORBIDDEN') return null
    throw error
  }
}

async function reportOutage(cli: Cli, output: OutputOptions['output'], error: RequestFailed): Promise<void> {
  const { url } = cli.server()
  const readiness = await readReadiness(url)
  const outage = explainOutage(url, readiness, error.message)
  await printObject(cli, { ok: false, url, readiness, ...outage }, output, () =>
    [`${outage.problem}\n`, ...outage.nextCommands.map((command) => `  $ ${command}\n`)].join(''),
  )
  cli.exitWith(exitCodes.unexpected)
}

/** Reports a database that is not ready. A full disk stops writes, so the server cannot store this as a condition. */
const findUnready = (readiness: ServerReadiness | null) =>
  readiness === null || readiness.database === 'ok'
    ? []
    : [{ rule: 'the database takes writes', objectId: null, message: readiness.warnings.join('; ') }]

const leaderFinding = ({ id, name }: { id: string; name: string }) => ({
  rule: 'every pool has a leader',
  objectId: id,
  message: `Pool ${name} has no leader: its queued jobs do not start`,
})

const leaderAdvice = (pool: string) =>
  `berth: pool ${pool} needs a server with the role scheduler and this pool in its configuration (a local pool: on its machine, with its dataDir); see the log of that server, or start it with "berth serve"`

const outdatedAdvice = (conditionsAt: string | null) =>
  `no server has evaluated the conditions ${conditionsAt === null ? 'yet' : `since ${conditionsAt}`}; see the log of the servers\n`

const styles: Readonly<Record<Condition['severity'], Style>> = { PAGE: 'red', TICKET: 'yellow', INFO: 'dim' }

/** Formats each condition as a paragraph. `at`: the time when they were read. */
const formatConditions = (terminal: Terminal, conditions: readonly Condition[], at: string): string =>
  conditions.map((condition) => formatCondition(terminal, condition, at)).join('\n')

function formatCondition(terminal: Terminal, condition: Condition, at: string): string {
  const { name, severity, meaning, since, evidence, cause, remedy, nextCommands } = condition
  const lines = [
    `${applyStyle(terminal, styles[severity], severity)}  ${name}  since ${since} (${formatAge(Date.parse(at) - Date.parse(since))})`,
    `  ${meaning}`,
    ...evidence.map((text) => `  - ${sanitizeText(text)}`),
    `  Cause: ${cause}`,
    `  What to do: ${remedy}`,
    ...nextCommands.map((command) => `    $ ${command}`),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

function formatAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return `${Math.max(0, Math.round(ms / 1_000))} s`
  if (minutes < 120) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1_440)} d`
}
