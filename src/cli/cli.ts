import type { ProblemFragment } from '../client/generated/graphql.ts'
import type { Client } from '../client/jobs/client.ts'
import { stopForProblem } from './exit.ts'
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
  /** Asks a yes-or-no question; null: stdin or stderr is a pipe. */
  ask: ((question: string) => Promise<boolean>) | null
}

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
