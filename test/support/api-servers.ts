import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BerthProcess, startBerthProcess } from './berth-process.ts'
import { mutate, type Person, personWith } from './people.ts'

/** Several API processes over one database with users, without a scheduler. */
export interface ApiServers {
  readonly urls: readonly string[]
  readonly admin: Person
  /** Creates a RESEARCHER with a token. */
  addMember(name: string): Promise<Member>
  /** Kills one process with KILL. */
  kill(index: number): Promise<void>
  end(): Promise<void>
}

export interface Member {
  readonly id: string
  readonly name: string
  readonly token: string
}

const secret = 'bootstrap-secret-of-the-servers'
const pools = 'pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 32, memoryGib: 64 }] }]\n'

export interface ApiServersOptions {
  databaseUrl: string
  /** An empty folder. */
  dataDir: string
  count: number
}

export async function startApiServers({ databaseUrl, dataDir, count }: ApiServersOptions): Promise<ApiServers> {
  const config = join(dataDir, 'berth.yaml')
  await writeFile(config, pools)
  const env = {
    DATABASE_URL: databaseUrl,
    BERTH_CONFIG: config,
    BERTH_ROLES: 'api',
    BERTH_BOOTSTRAP_TOKEN: secret,
  }
  const running: BerthProcess[] = []
  const end = async () => {
    await Promise.all(running.map((server) => server.end()))
  }
  try {
    for (let n = 0; n < count; n++) running.push(await startBerthProcess({ dataDir, env }))
  } catch (error) {
    await end()
    throw error
  }
  const urls = running.map(({ url }) => url)
  const admin = personWith(urls[0] ?? '', secret)
  const kill = async (index: number) => {
    await running[index]?.end('SIGKILL')
  }
  return { urls, admin, end, kill, addMember: (name) => addMember(admin, name) }
}

async function addMember(admin: Person, name: string): Promise<Member> {
  const { user } = await mutate(admin, 'createUser', { input: { name, level: 'RESEARCHER' }, wanted: 'user { id }' })
  const input = { name: 'token', userId: user.id }
  const { secret: token } = await mutate(admin, 'createToken', { input, wanted: 'secret' })
  return { id: user.id, name, token }
}
