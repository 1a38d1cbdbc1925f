import { type Command, InvalidArgumentError } from 'commander'
import type { MetricInput } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { usageError } from '../frame/exit.ts'
import { addRetryTimeoutOption, callAsRun, type RetryTimeoutOptions } from '../reading/inside.ts'
import { readWhole } from '../reading/numbers.ts'

interface Options extends RetryTimeoutOptions {
  message?: string
  metric?: MetricInput[]
  step?: number
}

export function registerProgressCommand(program: Command, cli: Cli): void {
  addRetryTimeoutOption(program.command('progress'))
    .description('report the progress of this job')
    .argument('[fraction]', 'from 0 to 1', readFraction)
    .option('-m, --message <text>', 'current activity')
    .option('--metric <name=number>', 'a number such as loss=0.3; repeatable', readMetric)
    .option('--step <n>', 'step of the numbers; default: the step after the newest one', readWhole)
    .action(async (fraction: number | undefined, options: Options) => {
      const { message, metric, step } = options
      if (fraction === undefined && message === undefined && metric === undefined)
        throw usageError('the progress is missing', 'pass a fraction, --message or --metric')
      if (step !== undefined && metric === undefined)
        throw usageError('--step has no number to count', 'add --metric, such as --metric loss=0.3')
      const metrics = metric?.map((each) => ({ ...each, step }))
      await callAsRun(cli, options, (inside) => inside.reportProgress({ fraction, message, metrics }))
    })
}

function readFraction(text: string): number {
  const fraction = Number(text)
  if (text.trim() === '' || !(fraction >= 0 && fraction <= 1))
    throw new InvalidArgumentError('Expected a number from 0 to 1.')
  return fraction
}

function readMetric(text: string, before: MetricInput[] = []): MetricInput[] {
  const [, name, number = ''] = /^([^=]+)=(.+)$/.exec(text) ?? []
  const value = Number(number)
  if (name === undefined || number.trim() === '' || !Number.isFinite(value))
    throw new InvalidArgumentError('Expected a name and a number, such as loss=0.3.')
  return [...before, { name, value }]
}
