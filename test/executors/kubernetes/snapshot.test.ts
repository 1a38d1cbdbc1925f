import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { RunSpec } from '../../../src/executors/executor.ts'
import { makePod } from '../../../src/executors/kubernetes/pod.ts'
import { makeCommandScript } from '../../../src/executors/kubernetes/script.ts'
import { makeFetchConfiguration } from '../../../src/executors/kubernetes/snapshot.ts'
import { makeDirectory } from '../../support/directory.ts'
import { makeRun } from '../runs.ts'
import { makeOpener } from '../snapshot-files.ts'

/** The init containers that bring a snapshot to a pod. Their scripts run on this machine. */

const directory = makeDirectory()
const openSnapshot = makeOpener({ 'src/run': { mode: 0o750, text: 'as it was' }, latest: { link: 'src/run' } })
const asked: (string | undefined)[] = []
let failures = 0
const server = createServer((request, response) => {
  asked.push(`${request.url} ${request.headers.authorization}`)
  if (failures-- > 0) return void response.destroy()
  Readable.from(openSnapshot()).pipe(response)
}).listen(0, '127.0.0.1')
afterAll(async () => {
  server.close()
})

beforeEach(async () => {
  asked.splice(0)
  failures = 0
  await rm(directory, { recursive: true })
  await mkdir(join(directory, 'snapshot'), { recursive: true })
})

interface Described {
  spec: {
    containers: Record<string, unknown>[]
    initContainers?: { name: string; image: string; command: string[]; volumeMounts: { subPath?: string }[] }[]
  }
}

function describePod(run: RunSpec, snapshotImage?: string): Described {
  const secret = { metadata: { name: 's', uid: 'u', resourceVersion: '1' } }
  const made = { owner: 'us', image: 'i', snapshotImage, mounts: [], nodes: [], nowMs: 0 }
  return makePod({ ...made, run, secret }, 0) as Described
}

const run = () => {
  const { port } = server.address() as AddressInfo
  return makeRun(
    {},
    { openSnapshot, injected: { BERTH_URL: `http://127.0.0.1:${port}/`, BERTH_TOKEN: 'secret "token"' } },
  )
}

async function runContainers(environment: Record<string, string> = {}): Promise<void> {
  const its = run()
  await writeFile(join(directory, 'fetch'), makeFetchConfiguration(its))
  for (const { command } of describePod(its).spec.initContainers ?? []) {
    const [shell = '', ...words] = command.map((word) =>
      word.replaceAll('/berth/', `${directory}/`).replaceAll('/dev/termination-log', `${directory}/message`),
    )
    await promisify(execFile)(shell, words, { env: { PATH: process.env['PATH'] ?? '', ...environment } })
  }
}

test('the files of a snapshot are fetched with the token of the run, and unpacked with their modes and links', async () => {
  failures = 1
  await runContainers()
  const expected = expect.stringMatching(/^\/download\/jobs\/job_\d+\/snapshot Bearer secret "token"$/)
  expect(asked).toEqual([expected, expected])
  const files = join(directory, 'snapshot/files')
  expect(await readFile(join(files, 'latest'), 'utf8')).toBe('as it was')
  expect((await stat(join(files, 'src/run'))).mode % 0o1000).toBe(0o750)
  await expect(stat(join(directory, 'snapshot/archive'))).rejects.toThrow('ENOENT')
})

test('an image without curl is reported as the cause of the failure', async () => {
  await expect(runContainers({ PATH: directory })).rejects.toThrow()
  expect(await readFile(join(directory, 'message'), 'utf8')).toBe('its image has no curl\n')
})

test('the description of the pod contains no token, and the job begins in the folder of the files', () => {
  const { spec } = describePod(run(), 'curl:1')
  expect(JSON.stringify(spec)).not.toContain('secret "token"')
  expect(spec.initContainers?.map(({ name, image }) => [name, image])).toEqual([
    ['fetch', 'curl:1'],
    ['unpack', 'i'],
  ])
  expect(spec.containers[0]).toMatchObject({
    workingDir: '/berth-work',
    volumeMounts: expect.arrayContaining([{ name: 'snapshot', mountPath: '/berth-work', subPath: 'files' }]),
  })
  // The container that fetches does not use the job's image, and gets no other value of the Secret.
  expect(spec.initContainers?.[0]?.volumeMounts.map(({ subPath }) => subPath)).toEqual([undefined, 'fetch'])
  expect(describePod(makeRun({})).spec.initContainers).toBeUndefined()
})

test('workdir is relative to the folder of the files', () => {
  expect(makeCommandScript(makeRun({ command: ['true'], workdir: 'src' }, { openSnapshot }), {})).toContain(
    "cd -- 'src' ||",
  )
})
