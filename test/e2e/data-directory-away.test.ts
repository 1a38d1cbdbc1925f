import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { connectApi, readJob } from '../support/api.ts'
import { startBerth } from '../support/berth-server.ts'
import { makeDirectory } from '../support/directory.ts'
import { readLog } from '../support/numbered-lines.ts'
import { until } from '../support/until.ts'

/** Moves the data directory of a whole server, with its database, away and back. */

const awayMs = 6_000
const config = `
pools: [{ name: local, executors: [local], scheduling: { nodeLostAfterSeconds: 1 } }]
queues: [{ name: default, pool: local }]
`

test('jobs neither end nor restart while the data directory is moved away', async () => {
  const parent = makeDirectory()
  const dataDir = join(parent, 'data')
  const away = join(parent, 'data.away')
  const file = join(parent, 'berth.yaml')
  await writeFile(file, config)
  await mkdir(dataDir, { mode: 0o711 })
  await chmod(parent, 0o711)
  const server = await startBerth({ dataDir, env: { BERTH_CONFIG: file } })
  const api = connectApi(server.url)
  const warnings = async () => {
    const { warnings: all } = (await (await fetch(`${server.url}/readyz`)).json()) as { warnings: string[] }
    return all
  }

  const script = 'echo begun >>"$0/marks"; echo one; until [ -e "$0/go" ]; do sleep 0.05; done; echo two'
  const running = await api.submit({ command: ['/bin/sh', '-c', script, parent], workdir: '/', restartable: true })
  await until(async () => (await readJob(api, running)).state === 'RUNNING', { what: 'the job runs' })
  await rename(dataDir, away)
  const missing = 'the directory of the output of jobs is missing'
  await until(async () => (await warnings()).includes(missing), { what: '/readyz reports it' })
  const waiting = await api.submit({ command: ['true'], workdir: '/' })
  await setTimeout(awayMs)
  expect((await readJob(api, running)).state).toBe('RUNNING')
  await rename(away, dataDir)
  await until(async () => (await warnings()).length === 0, { what: 'all is well' })
  await writeFile(join(parent, 'go'), '')
  for (const id of [running, waiting])
    await until(async () => (await readJob(api, id)).state === 'SUCCEEDED', { what: `${id} succeeded` })
  expect(await readFile(join(parent, 'marks'), 'utf8')).toBe('begun\n')
  expect(await readLog(api, running)).toEqual({ text: 'one\ntwo\n', gaps: [] })
  expect(server.output().match(/"msg":"The data directory is missing/g)).toHaveLength(1)

  await api.close()
  expect(await server.end()).toBe(0)
})
