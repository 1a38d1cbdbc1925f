import { type Command, Option } from 'commander'
import type { ProblemFragment } from '../client/generated/graphql.ts'
import type { Client } from '../client/jobs/client.ts'
import { stopForProblem } from './exit.ts'
import { type Column, type Format, formats, jobColumns, structured, table } from './render.ts'
import type { Terminal } from './terminal.ts'

/** The environment of a command. Only main.ts reads the process. */
export interface Cli {
  terminal: Terminal
  connection: () => Client
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  readStdin: () => Promise<string>
  /** Makes Ctrl-C print this text and end the command; work on the server continues. */
  leaveOnInterrupt: (farewell: string) => void
  exitWith: (code: number) => void
}

export interface OutputOptions {
  output: Format
}

export function addOutputOption(command: Command): Command {
  return command.addOption(new Option('-o, --output <format>', 'output format').choices(formats).default('table'))
}

export const rowPrinter =
  <Row>(columns: readonly Column<Row>[]) =>
  ({ terminal }: Cli, rows: readonly Row[], format: Format): Promise<void> =>
    terminal.write(format === 'table' ? table(terminal, rows, columns) : structured(rows, format))

export const printJobs = rowPrinter(jobColumns)

/**
 * Returns the success of a mutation's result; throws a Stop for a problem. `nextIfMissing` tells the user what to do
 * after NOT_FOUND.
 */
export function expectSuccess<Answer extends { __typename: string }, Name extends Answer['__typename']>(
  answer: Answer,
  name: Name,
  nextIfMissing?: string,
): Extract<Answer, { __typename: Name }> {
  if (answer.__typename === name) return answer as Extract<Answer, { __typename: Name }>
  throw stopForProblem(answer as unknown as ProblemFragment, nextIfMissing)
}
