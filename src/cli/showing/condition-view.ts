import type { ConditionsQuery } from '../../client/generated/graphql.ts'
import { printable, type Style, styled, type Terminal } from '../frame/terminal.ts'

type Condition = ConditionsQuery['system']['conditions'][number]

const styles: Readonly<Record<Condition['severity'], Style>> = { PAGE: 'red', TICKET: 'yellow', INFO: 'dim' }

/** The conditions as text, one paragraph each. `at`: the time of the data. */
export const formatConditions = (terminal: Terminal, conditions: readonly Condition[], at: string): string =>
  conditions.map((condition) => formatCondition(terminal, condition, at)).join('\n')

function formatCondition(terminal: Terminal, condition: Condition, at: string): string {
  const { name, severity, meaning, since, evidence, cause, remedy, nextCommands } = condition
  const lines = [
    `${styled(terminal, styles[severity], severity)}  ${name}  since ${since} (${formatAge(Date.parse(at) - Date.parse(since))})`,
    `  ${meaning}`,
    ...evidence.map((text) => `  - ${printable(text)}`),
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
