import type { RequestOptions } from '../../client/connection/connection.ts'
import type { ProblemFragment, TypedDocumentString } from '../../client/generated/graphql.ts'
import type { Client } from '../../client/jobs/client.ts'
import type { ContextFiles } from '../login/context-files.ts'
import type { ServerChoice } from '../login/server-choice.ts'
import type { KeyPress } from '../showing/top-view.ts'
import type { Env } from './env.ts'
import { createStop } from './exit.ts'
import type { Stdio } from './stdio.ts'
import type { Terminal } from './terminal.ts'

/** The environment of a command. Only main.ts uses the process itself. */
export interface Cli {
  terminal: Terminal
  contexts: ContextFiles
  /** Sets the context, as the flag --context does; undefined: the environment or the current context decides. */
  useContext: (name: string | undefined) => void
  server: () => ServerChoice
  connection: () => Client
  env: Env
  cwd: string
  readStdin: () => Promise<string>
  /** Returns the streams that a session uses. */
  stdio: () => Stdio
  /** Makes Ctrl-C print this text and end the command; work on the server continues. */
  leaveOnInterrupt: (farewell: string) => void
  exitWith: (code: number) => void
  /** Replaces this process with a Node program. */
  becomeProgram: (args: readonly string[], env: Env) => void
  /** Aborts when the command ends. */
  ended: AbortSignal
  /** Asks a yes-or-no question; null: stdin or stderr is a pipe. */
  ask: ((question: string) => Promise<boolean>) | null
  /** Reports each key until the returned function is called; null: stdin is a pipe. */
  readKeys: ((onKey: (key: KeyPress) => void) => () => void) | null
  /** Asks for a text without showing it; null: stdin or stderr is a pipe. */
  askSecret: ((question: string) => Promise<string>) | null
}

type SuccessOf<Result> = Extract<Result, { __typename: `${string}Success` }>

/**
 * Sends a mutation with its input, and returns its success; throws a Stop for a problem. `nextIfMissing` tells the user
 * what to do after NOT_FOUND.
 */
export async function mutate<Answer extends object, Input>(
  cli: Cli,
  document: TypedDocumentString<Answer, { input: Input }>,
  input: Input,
  { nextIfMissing, ...options }: RequestOptions & { nextIfMissing?: string } = {},
): Promise<SuccessOf<Answer[keyof Answer]>> {
  const [result] = Object.values(await cli.connection().request(document, { input }, options))
  if (result.__typename.endsWith('Success')) return result
  throw createStop(result, nextIfMissing)
}

/** Returns the result if its type is `name`; throws a Stop for a problem. */
export function expectSuccess<Answer extends { __typename: string }, Name extends Answer['__typename']>(
  answer: Answer,
  name: Name,
): Extract<Answer, { __typename: Name }> {
  if (answer.__typename === name) return answer as Extract<Answer, { __typename: Name }>
  throw createStop(answer as unknown as ProblemFragment)
}
