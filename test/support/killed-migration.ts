import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { root } from './sources.ts'

export interface KilledMigration {
  url: string
  /** The directory of the migrations. */
  directory: string
  /** The message to the database at which the process is killed: its number, or a part of its text. */
  at: number | string
  /** true: this message still reaches the database. */
  delivered: boolean
}

/** Kills only this process; the database continues. */
const program = `
  const [directory, platform] = process.argv.slice(1)
  const { migrate } = await import(platform + '/migrate.ts')
  const { createLog } = await import(platform + '/log.ts')
  await migrate(process.env.DATABASE_URL, createLog('silent'), directory)
`

/**
 * Migrates in a separate process, which is killed with KILL when it sends a certain message. Returns "ended" if the
 * migration ended first.
 */
export async function killMigration({ url, directory, at, delivered }: KilledMigration): Promise<'killed' | 'ended'> {
  let messages = 0
  const isTheLast = (data: Buffer) => (typeof at === 'number' ? ++messages === at : data.includes(at))
  const target = new URL(url)
  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    near.on('error', () => far.end()).on('close', () => far.end())
    far.on('error', () => near.destroy()).pipe(near)
    near.on('data', (data) => {
      if (!isTheLast(data)) return void far.write(data)
      child.kill('SIGKILL')
      if (delivered) far.write(data)
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address()
  if (typeof address !== 'object' || address === null) throw new Error('The proxy has no port')
  const throughProxy = Object.assign(new URL(url), { port: String(address.port) }).href
  const args = ['--input-type=module', '-e', program, directory, join(root, 'src/platform')]
  // Not an argument, because every account can read the command line of a process.
  const env = { ...process.env, DATABASE_URL: throughProxy }
  const child = spawn(process.execPath, args, { stdio: 'inherit', env })
  const [code, signal] = await once(child, 'exit')
  proxy.close()
  if (signal === null && code !== 0) throw new Error(`The migration ended with ${code}`)
  return signal === 'SIGKILL' ? 'killed' : 'ended'
}
