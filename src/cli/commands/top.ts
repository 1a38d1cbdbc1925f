import type { Command } from 'commander'
import {
  CancelJobDocument,
  WorkloadDocument,
  type WorkloadEntryFragment,
  WorkloadStatusDocument,
  type WorkloadStatusSubscription,
} from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import type { Screen } from '../frame/screen.ts'
import { findConsolePage, openBrowser } from '../showing/browser.ts'
import { isTable } from '../showing/output.ts'
import { type Effect, type KeyPress, TopView } from '../showing/top-view.ts'
import { followLog } from '../showing/watch.ts'
import { addWorkloadOptions, printWorkload, toWorkloadVariables, type WorkloadOptions } from './workload.ts'

export function registerTopCommand(program: Command, cli: Cli): void {
  addWorkloadOptions(program.command('top'), 100)
    .summary('watch the workload of a pool live, and act on its jobs by keys')
    .description('watch the workload of a pool live until q or Ctrl-C; in a pipe, print one snapshot after another')
    .action(async (options: WorkloadOptions) => {
      // Checks first that the server is reachable, because the live view retries forever.
      const variables = toWorkloadVariables(options)
      const found = await cli.connection().request(WorkloadDocument, variables, { attempts: 2 })
      const pool = found.pool?.workload.pool.name ?? variables.pool
      const leave = new AbortController()
      const updates = cli
        .connection()
        .subscribe(WorkloadStatusDocument, { ...variables, pool }, { signal: leave.signal })
      cli.leaveOnInterrupt('detached; all jobs continue')
      const screen = isTable(options.output) ? cli.terminal.openScreen() : null
      if (screen) {
        const next = await watchByKeys(cli, screen, updates)
        leave.abort()
        if (next.kind === 'LOG') await followLog(cli, next.job.id)
        return
      }
      const { output } = options
      for await (const { workloadStatus } of updates) {
        await printWorkload(cli, workloadStatus, output)
        if (output.format !== 'json' && output.format !== 'jsonl')
          await cli.terminal.write(output.format === 'yaml' ? '---\n' : '\n')
      }
    })
}

type Updates = AsyncIterable<WorkloadStatusSubscription>

/** Handles keys. Returns the effect that ends the view: opening the log of a job, or quitting. */
async function watchByKeys(cli: Cli, screen: Screen, updates: Updates): Promise<Effect> {
  const view = new TopView()
  const draw = () => screen.draw(view.draw(cli.terminal))
  const ended = Promise.withResolvers<Effect>()
  const act = async (effect: Effect) => {
    if (effect.kind === 'OPEN') view.note(await openJob(cli, effect.job))
    else if (effect.kind === 'CANCEL') view.note(await cancelJob(cli, effect.job))
    else ended.resolve(effect)
  }
  const onKey = (key: KeyPress) => {
    const effect = view.press(key)
    draw()
    if (!effect) return
    act(effect).then(draw, (error: unknown) => {
      view.note(error instanceof Error ? error.message : String(error))
      draw()
    })
  }
  const follow = async (): Promise<Effect> => {
    for await (const { workloadStatus } of updates) {
      view.show(workloadStatus)
      draw()
    }
    return { kind: 'QUIT' }
  }
  const stop = cli.readKeys?.(onKey)
  try {
    return await Promise.race([ended.promise, follow()])
  } finally {
    stop?.()
    screen.close()
  }
}

async function openJob(cli: Cli, { id }: WorkloadEntryFragment): Promise<string> {
  const address = await findConsolePage(cli, `/jobs/${id}`)
  await openBrowser(cli, address)
  return address
}

async function cancelJob(cli: Cli, { id, name }: WorkloadEntryFragment): Promise<string> {
  const { cancelJob: answer } = await cli
    .connection()
    .request(CancelJobDocument, { input: { jobId: id } }, { attempts: 4 })
  return answer.__typename === 'CancelJobSuccess' ? `cancelling ${name ?? id}` : answer.message
}
