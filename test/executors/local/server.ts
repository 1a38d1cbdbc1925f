import { createLocalExecutor } from '../../../src/executors/local/local.ts'
import { machineParts, read } from '../runs.ts'

/** A process that starts and stops runs on request, reports their first output, and waits to be killed. */
const [, , spoolDir = ''] = process.argv
const options = {
  spoolDir,
  environment: process.env,
  deadlineSlackSeconds: 0,
  ...machineParts,
}
const executor = await createLocalExecutor(options)
type Stop = { stop: string; graceMs: number }
process.on('message', async (run: Parameters<typeof executor.start>[0] | Stop) => {
  if ('stop' in run) {
    await executor.stop(run.stop, run.graceMs)
    process.send?.('stopped')
    return
  }
  const handle = await executor.start(run)
  process.send?.(await read(executor, handle, { enough: ({ out }) => out.length > 1_000 }))
})
process.send?.('ready')
