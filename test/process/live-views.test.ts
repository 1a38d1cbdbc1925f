import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { CommandLine, type RunningProcess } from '../support/command-line.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'

/** Live views on a terminal, with a server that is killed and restarted. Its pool has no leader. */
let server: BerthProcess
const dataDir = makeDirectory()
let port: number
let berth: CommandLine
let env: Record<string, string>

const enter = '\u001b[?1049h\u001b[?25l\u001b[H\u001b[J'
const leave = '\u001b[?25h\u001b[?1049l'

/** Escape sequences that clear more than a line. */
const clears = ['J', '0J', '1J', '2J', '3J', '?1049h'].map((code) => `\u001b[${code}`)

const start = () => {
  const config = { BERTH_CONFIG: join(dataDir, 'berth.yaml'), BERTH_ROLES: 'api' }
  return startBerthProcess({ dataDir, port, env: { DATABASE_URL: database.url, ...config } })
}
const submit = async (name: string) =>
  (await berth.run(['submit', '--name', name, '--mem', '1', '-o', 'ids', '--', 'true'], { env })).stdout.trim()

const database = await openDatabase()
beforeAll(async () => {
  const pools = 'pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 32, memoryGib: 64 }] }]\n'
  await writeFile(join(dataDir, 'berth.yaml'), pools)
  port = await freePort()
  server = await start()
  berth = new CommandLine(dataDir)
  env = { BERTH_URL: server.url }
})
afterAll(() => server?.end())

/** `script` runs the command as its only child. */
async function terminate({ child: { pid } }: RunningProcess): Promise<void> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  process.kill(Number(children), 'SIGTERM')
}

const interrupt = async ({ child }: RunningProcess) => void child.stdin?.write('\u0003')

const ends = [
  { verb: ['ls', '-w'], end: interrupt, code: 130 },
  { verb: ['ls', '-w'], end: terminate, code: 143 },
  { verb: ['top'], end: interrupt, code: 0 },
  { verb: ['top'], end: terminate, code: 143 },
]

it('live views of the command line reconnect after kill -9 of the server, and restore the screen', async () => {
  const before = await submit('before')
  const views = ends.map(({ verb, ...end }) => ({ ...end, verb, view: berth.startOnTerminal(verb, { env }) }))
  await Promise.all(views.map(({ view }) => view.find(/before .*QUEUED/)))

  await server.end('SIGKILL')
  const since = /not live since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: /
  await Promise.all(views.map(({ view }) => view.find(since)))

  server = await start()
  await submit('after')
  await Promise.all(views.map(({ view }) => view.find(/after .*QUEUED/)))
  await berth.run(['cancel', before], { env })
  await Promise.all(views.map(({ verb, view }) => view.find(verb[0] === 'ls' ? /before .*CANCELLED/ : /, 1 waiting/)))

  for (const { verb, view, end, code } of views) {
    await end(view)
    const ended = await view.ended
    expect({ verb, code: ended.code }).toEqual({ verb, code })
    const [, frames = ''] = ended.stdout.split(enter)
    expect(clears.filter((clear) => frames.includes(clear))).toEqual([])
    expect(frames.split(leave)).toHaveLength(2)
  }
})
