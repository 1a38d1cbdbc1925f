import type { Command } from 'commander'
import {
  CancelJobDocument,
  QueueDocument,
  type QueueEntryFragment,
  QueueStatusDocument,
  type QueueStatusSubscription,
} from '../../client/generated/graphql.ts'
import { findConsolePage, openBrowser } from '../browser.ts'
import type { Cli } from '../cli.ts'
import { isTable } from '../output.ts'
import type { Screen } from '../screen.ts'
import { type Effect, type KeyPress, TopView } from '../top-view.ts'
import { followLog } from '../watch.ts'
import { addQueueOptions, printQueue, type QueueOptions, queueVariables } from './queue.ts'

export function registerTopCommand(program: Command, cli: Cli): void {
  addQueueOptions(program.command('top'), 100)
    .summary('watch the queue live, and act on its jobs by keys')
    .description('watch the queue live until q or Ctrl-C; in a pipe, print one snapshot after another')
    .action(async (options: QueueOptions) => {
      // The live view retries forever, so check first that a server is reachable.
      const variables = queueVariables(options)
      const { queue } = await cli.connection().request(QueueDocument, variables, { attempts: 2 })
      const pool = queue?.pool.name ?? variables.pool
      const leave = new AbortController()
      const updates = cli.connection().subscribe(QueueStatusDocument, { ...variables, pool }, { signal: leave.signal })
      cli.leaveOnInterrupt('detached; all jobs continue')
      const screen = isTable(options.output) ? cli.terminal.openScreen() : null
      if (screen) {
        const next = await watchByKeys(cli, screen, updates)
        leave.abort()
        if (next.kind === 'LOG') await followLog(cli, next.job.id)
        return
      }
      const { output } = options
      for await (const { queueStatus } of updates) {
        await printQueue(cli, queueStatus, output)
        if (output.format !== 'json' && output.format !== 'jsonl')
          await cli.terminal.write(output.format === 'yaml' ? '---\n' : '\n')
      }
    })
}

type Updates = AsyncIterable<QueueStatusSubscription>

/** Returns what ends the view: the log of a job, or a wish to leave. */
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
    for await (const { queueStatus } of updates) {
      view.show(queueStatus)
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

async function openJob(cli: Cli, { id }: QueueEntryFragment): Promise<string> {
  const address = await findConsolePage(cli, `/jobs/${id}`)
  await openBrowser(cli, address)
  return address
}

async function cancelJob(cli: Cli, { id, name }: QueueEntryFragment): Promise<string> {
  const { cancelJob: answer } = await cli
    .connection()
    .request(CancelJobDocument, { input: { jobId: id } }, { attempts: 4 })
  return answer.__typename === 'CancelJobSuccess' ? `cancelling ${name ?? id}` : answer.message
}
