import type { Command } from 'commander'
import { JobsDocument, WhoAmIDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { countWordsBeforeSeparator } from '../frame/command-path.ts'
import { usageError } from '../frame/exit.ts'
import { readJobs } from './pages.ts'

/** Commands accept the name of an own job, or the end of its id, instead of the whole id. */

/** Arguments that name jobs. `other` is the second job of `diff`. */
const jobArguments = ['job', 'other']
/** Commands for jobs of other users, which accept only ids. */
const withIdsAlone = ['approve', 'reject']
const endLengthMin = 3
/** Number of newest jobs that are searched for the end of an id. */
const jobsMax = 500

/** Makes each command that takes jobs replace names by ids before its action. */
export function addJobNames(command: Command, cli: Cli): void {
  for (const each of command.commands) addJobNames(each, cli)
  const takesJobs = command.registeredArguments.some((argument) => jobArguments.includes(argument.name()))
  if (!takesJobs || withIdsAlone.includes(command.name())) return
  command.hook('preAction', async (_, called) => {
    const given = countWordsBeforeSeparator(called)
    for (const [i, argument] of called.registeredArguments.entries()) {
      if (i >= given || !jobArguments.includes(argument.name())) continue
      const words: string | string[] | undefined = called.processedArgs[i]
      if (words === undefined) continue
      called.processedArgs[i] = Array.isArray(words)
        ? await Promise.all(words.map((word) => resolveJob(cli, word)))
        : await resolveJob(cli, words)
    }
  })
}

/** Returns the id of the newest own job with the name `word`, or of the only one whose id ends so; otherwise `word`. */
export async function resolveJob(cli: Cli, word: string): Promise<string> {
  if (word.startsWith('job_') || /[*?^]/.test(word)) return word
  const { request } = cli.connection()
  const users = [(await request(WhoAmIDocument, {}, { attempts: 2 })).viewer.user.id]
  const named = await request(JobsDocument, { first: 1, filter: { users, name: word } })
  const [newest] = named.jobs.nodes
  if (newest) return newest.id
  if (word.length < endLengthMin || !/^[0-9a-z]+$/i.test(word)) return word
  const own = await readJobs(cli, jobsMax, { filter: { users } })
  const found = own.map(({ id }) => id).filter((id) => id.endsWith(word.toLowerCase()))
  const [only] = found
  if (found.length > 1)
    throw usageError(`the ids of ${found.length} jobs end with ${word}`, `use one of ${found.join(', ')}`)
  return only ?? word
}
