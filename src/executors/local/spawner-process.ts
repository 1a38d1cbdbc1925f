import { closeSync, readdirSync, readFileSync } from 'node:fs'
import { PipeStock } from './pipes.ts'
import { type ShimOrder, spawnShim } from './spawn.ts'
import { encodeFailure, type SpawnerMessage } from './spawner-messages.ts'

/**
 * The program of the spawner (spawner.ts). It ignores signals, because a service manager may send them to it together
 * with the server.
 */

const closeOnExec = 0o2000000
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
// On SIGUSR1 Node would open its debugger to every account.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => undefined)

/**
 * Closes the files that this process inherited from the program that started the server, such as a lock of the service
 * manager; otherwise jobs would inherit them. Node marks inherited files as close-on-exec only up to the first unused
 * number above 15.
 */
function closeInheritedFiles(): void {
  if (process.platform !== 'linux') return
  for (const name of readdirSync('/proc/self/fdinfo')) {
    const file = Number(name)
    if (file > 2 && isInheritable(file)) closeSync(file)
  }
}

function isInheritable(file: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // The descriptor by which the directory is read is closed by now.
    return false
  }
}
