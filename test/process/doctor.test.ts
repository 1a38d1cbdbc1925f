import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { data } from '../support/client.ts'
import { CommandLine } from '../support/command-line.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { createDoor, type Door } from '../support/outage.ts'
import { until } from '../support/until.ts'

/** `berth doctor` with real servers: one serves the API and reaches the database through a proxy, another one leads. */
let door: Door
const directory = makeDirectory()
let api: BerthProcess
const servers: BerthProcess[] = []

const database = await openDatabase()
beforeAll(async () => {
  door = await createDoor(database.url)
  api = await start('api', door.url)
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.end('SIGKILL')))
  await door.shut()
})

async function start(roles: string, url = database.url): Promise<BerthProcess> {
  const env = { DATABASE_URL: url, BERTH_ROLES: roles }
  const server = await startBerthProcess({ dataDir: directory, env })
  servers.push(server)
  return server
}

const runDoctor = (url: string) => new CommandLine(directory, { BERTH_URL: url }).berth('doctor')

async function readConditions(): Promise<string[]> {
  const { system } = await data(api.url, '{ system { conditions { name } } }')
  return system.conditions.map(({ name }: { name: string }) => name)
}

const minuteMs = 60_000

test('berth doctor reports a killed leader within a minute, and its recovery within a minute', async () => {
  const leader = await start('api,scheduler')
  const isHealthy = async () => (await runDoctor(api.url)).code === 0
  await until(isHealthy, { what: 'the doctor finds no problem' })
  await leader.end('SIGKILL')
  await until(async () => (await readConditions()).includes('NO_LEADER'), {
    what: 'NO_LEADER holds',
    timeoutMs: minuteMs,
  })
  const doctor = await runDoctor(api.url)
  expect(doctor.stdout).toContain('PAGE  NO_LEADER')
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(
    /^PAGE {2}NO_LEADER {2}since \S+Z \(\d+ s\)\n {2}A pool has no leader: .*\n {2}- pool local\n/,
  )
  expect(doctor.stdout).toContain('    $ berth serve --config FILE\n')
  await start('api,scheduler')
  const isOver = async () => !(await readConditions()).includes('NO_LEADER') && (await isHealthy())
  await until(isOver, { what: 'NO_LEADER is over', timeoutMs: minuteMs })
})

test('berth doctor says whether the database or the server is down', async () => {
  await door.shut()
  const away = await runDoctor(api.url)
  expect(away.code).toBe(1)
  expect(away.stdout).toContain(`The server at ${api.url} is up, but it cannot reach its database`)
  expect(away.stdout).toContain('  $ pg_isready -d "$DATABASE_URL"\n')
  await door.open()
  await api.end('SIGKILL')
  const gone = await runDoctor(api.url)
  expect(gone.code).toBe(1)
  expect(gone.stdout).toContain(`No Berth server answers at ${api.url}: `)
  expect(gone.stdout).toContain('  $ systemctl status berth\n')
})
