import { closeInheritedFiles } from './inherited-files.ts'
import { createPipeStock } from './pipes.ts'
import { toFailure } from './remote-error.ts'
import { type ShimOrder, spawnShim } from './spawn.ts'
import type { Told } from './spawner.ts'

/**
 * The program of spawner.ts. It ignores the signals that end programs: a service manager may send them to the server and
 * to this process together, and the server starts runs until it has stopped. It exits when the server disconnects.
 */
closeInheritedFiles()
const [, , spoolDir = ''] = process.argv
const pipes = createPipeStock(spoolDir)

const tell = (told: Told) => {
  if (process.connected) process.send?.(told, () => undefined)
}

process.on('message', async ({ number, order }: { number: number; order: ShimOrder }) => {
  const onExit = () => tell({ ended: order.files.runId })
  const failure = await spawnShim(order, { pipes, onExit }).then(() => null, toFailure)
  tell({ order: number, failure })
})
process.on('disconnect', () => process.exit())
// On SIGUSR1 Node would open its debugger.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => undefined)
