import type { Command } from 'commander'
import { type JobState, JobsDocument } from '../../client/generated/graphql.ts'
import { readChoices } from '../choices.ts'
import type { Cli } from '../cli.ts'
import { readCount } from '../numbers.ts'
import { addOutputOption, type OutputOptions, printJobs } from '../output.ts'
import { readFirstNodes } from '../pages.ts'
import { stateStyles } from '../render.ts'

interface LsOptions extends OutputOptions {
  state?: JobState[]
  name?: string
  text?: string
  node?: string
  tag?: string[]
  limit: number
}

export function registerLsCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('ls'))
    .description('list jobs, newest first')
    .option('-s, --state <state...>', 'only jobs in these states', readState)
    .option('--name <glob>', 'only jobs whose name matches this glob, such as "train-*"')
    .option('--text <text>', 'only jobs with this text in their name or a label, or at the beginning of their id')
    .option('--node <name>', 'only jobs that hold resources on this node')
    .option('--tag <tag...>', 'only jobs with all of these tags')
    .option('-n, --limit <count>', 'maximum number of jobs', readCount, 20)
    .action(async ({ state: states, name, text, node, tag, limit, output }: LsOptions) => {
      const labels = tag?.map((key) => ({ key, value: '' }))
      const filter = { states, name: name || undefined, text, node, labels }
      const read = cli.connection().request
      const jobs = await readFirstNodes(limit, async (page) => (await read(JobsDocument, { ...page, filter })).jobs)
      await printJobs(cli, jobs, output)
    })
}

const readState = readChoices(Object.keys(stateStyles) as JobState[])
