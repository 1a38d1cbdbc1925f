import { closeInheritedFiles } from './inherited-files.ts'
import { PipeStock } from './pipes.ts'
import { type ShimOrder, spawnShim } from './spawn.ts'
import { encodeFailure, type SpawnerMessage } from './spawner-messages.ts'

/**
 * The program of spawner.ts. It ignores the signals that end programs: a service manager may send them to the server and
 * to this process together, and the server starts runs until it has stopped. It exits when the server disconnects.
 */
closeInheritedFiles()
const [, , spoolDir = ''] = process.argv
const pipes = new PipeStock(spoolDir)

const send = (message: SpawnerMessage) => {
  if (process.connected) process.send?.(message, () => undefined)
}

process.on('message', async ({ number, order }: { number: number; order: ShimOrder }) => {
  const onExit = () => send({ ended: order.files.runId })
  const failure = await spawnShim(order, { pipes, onExit }).then(() => null, encodeFailure)
  send({ order: number, failure })
})
process.on('disconnect', () => process.exit())
// On SIGUSR1 Node would open its debugger.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => undefined)
