import { type Command, InvalidArgumentError } from 'commander'
import { type JobFilter, type JobRowFragment, type JobState, JobsDocument } from '../../client/generated/graphql.ts'
import { addOutputOption, type Cli, type OutputOptions, printJobs } from '../cli.ts'
import { readCount } from '../numbers.ts'
import { readFirstNodes } from '../pages.ts'
import { stateStyles } from '../render.ts'

interface LsOptions extends OutputOptions {
  state?: JobState[]
  name?: string
  tag?: string[]
  limit: number
}

export function registerLsCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('ls'))
    .description('list jobs, newest first')
    .option('-s, --state <state...>', 'only jobs in these states', readState)
    .option('--name <glob>', 'only jobs whose name matches this glob, such as "train-*"')
    .option('--tag <tag...>', 'only jobs with all of these tags')
    .option('-n, --limit <count>', 'maximum number of jobs', readCount, 20)
    .action(async (options: LsOptions) => printJobs(cli, await listJobs(cli, options), options.output))
}

function listJobs(cli: Cli, { state, name, tag, limit }: LsOptions): Promise<JobRowFragment[]> {
  const filter: JobFilter = {
    ...(state ? { states: state } : {}),
    ...(name ? { name } : {}),
    ...(tag ? { labels: tag.map((key) => ({ key, value: '' })) } : {}),
  }
  return readFirstNodes(limit, async (page) => (await cli.connection().request(JobsDocument, { ...page, filter })).jobs)
}

function readState(given: string, before: JobState[] = []): JobState[] {
  const names = Object.keys(stateStyles) as JobState[]
  const state = names.find((name) => name === given.toUpperCase())
  if (!state) throw new InvalidArgumentError(`States are ${names.join(', ')}.`)
  return [...before, state]
}
