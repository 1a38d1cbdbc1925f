import { requireField } from '../../client/connection/failure.ts'
import { LogSearchDocument, type LogSearchQuery, type LogStream } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { printable, styled } from '../frame/terminal.ts'

export interface SearchOptions {
  query: string
  regex: boolean
  ignoreCase: boolean
  run?: number | undefined
  streams?: LogStream[] | undefined
  /** Before each line: the job, where there are several. */
  prefix: string
}

/** Lines that report a failure, in the words of common programs. */
export const errorPattern = 'error|exception|traceback|fatal|panic|segmentation|out of memory|killed|failed'

/** Prints the lines that match as `number:text`; returns their number. */
export async function printMatches(cli: Cli, id: string, { prefix, ...search }: SearchOptions): Promise<number> {
  let count = 0
  for (let after: string | undefined; ; ) {
    const { job }: LogSearchQuery = await cli
      .connection()
      .request(LogSearchDocument, { id, after, ...search }, { attempts: 3 })
    if (!job) return count
    const { matches, cursor, isComplete } = requireField(job.logSearch)
    for (const { line, text } of matches)
      await cli.terminal.write(`${prefix}${styled(cli.terminal, 'dim', `${line}:`)}${printable(text)}\n`)
    count += matches.length
    if (isComplete) return count
    after = cursor
  }
}
