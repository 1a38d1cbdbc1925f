import { fork } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createTarDecoder } from 'modern-tar'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type UploadProgress, uploadSnapshot } from '../../src/client/files/index.ts'
import { createClient } from '../../src/client/jobs/client.ts'
import type { Domain } from '../../src/domain/domain.ts'
import { readArchive } from '../../src/domain/snapshots/archive.ts'
import { sweepSnapshots } from '../../src/domain/snapshots/removal.ts'
import type { Db } from '../../src/platform/db.ts'
import { type Api, connectApi } from '../support/api.ts'
import { KillableServer } from '../support/killable-server.ts'
import { makeBlob, makeFileList, sha256 } from '../support/snapshots.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/** `kill -9` of a client, the server or its database during an upload, and an upload over a connection that is cut. */

const kills = isWhole ? { client: 50, server: 50, database: 50 } : { client: 3, server: 1, database: 1 }
const largeFiles = 10
const largeBytes = 600_000
const uploadMsMax = 120_000

let server: KillableServer
let api: Api

beforeAll(async () => {
  server = await KillableServer.start()
  api = connectApi(server.url)
})
afterAll(async () => {
  await api.close()
  await server.end()
})

async function withFiles<T>(work: (folder: string, files: Record<string, Buffer>) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(server.dataDir, 'here-'))
  const files: Record<string, Buffer> = {}
  for (let n = 0; n < largeFiles; n++) files[`large-${n}`] = randomBytes(largeBytes)
  for (let n = 0; n < largeFiles; n++) files[`small-${n}`] = randomBytes(100)
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  try {
    return await work(folder, files)
  } finally {
    await rm(folder, { recursive: true })
  }
}

interface Upload {
  /** Resolves when this many bytes are sent, or the upload has ended. */
  sent(bytes: number): Promise<unknown>
  kill(): void
  ended: Promise<unknown>
}

/** Starts a client process. */
function forkUpload(folder: string): Upload {
  const file = join(import.meta.dirname, '../support/upload-process.ts')
  const child = fork(file, [server.url, folder], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let bytes = 0
  child.on('message', (told: { bytes?: number }) => {
    bytes = told.bytes ?? bytes
  })
  return {
    sent: (wanted) => untilSent(() => child.exitCode !== null || bytes >= wanted),
    kill: () => void child.kill('SIGKILL'),
    ended: once(child, 'exit'),
  }
}

const untilSent = (isSent: () => boolean) =>
  until(async () => isSent() || null, { what: 'bytes are sent', timeoutMs: uploadMsMax })

/** Runs the client in this process, which takes less time. */
function startUpload(folder: string): Upload {
  let sent = 0
  const onProgress = ({ step, bytes }: UploadProgress) => {
    if (step === 'SENDING') sent = bytes
  }
  const client = createClient({ url: server.url })
  const ended = uploadSnapshot(client, folder, { onProgress })
    .then(({ id }) => id)
    .catch(() => null)
    .finally(() => client.close())
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  return { sent: (wanted) => untilSent(() => isOver || sent >= wanted), kill: () => undefined, ended }
}

/** The hashes of the files of a snapshot, read like an executor. */
async function readHashes(db: Db, id: string): Promise<Record<string, string>> {
  const tar = Readable.toWeb(
    Readable.from(readArchive(db.sql, id, { mtime: new Date() })),
  ) as ReadableStream<Uint8Array>
  const entries = tar.pipeThrough(createTarDecoder() as never) as unknown as AsyncIterable<{
    header: { name: string }
    body: AsyncIterable<Uint8Array>
  }>
  const hashes: Record<string, string> = {}
  for await (const { header, body } of entries) {
    const parts: Uint8Array[] = []
    for await (const part of body) parts.push(part)
    hashes[header.name] = sha256(Buffer.concat(parts))
  }
  return hashes
}

const hashesOf = (files: Record<string, Buffer>) =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [name, sha256(content)]))

/** Sends the folder until the snapshot is complete; returns its id. */
async function finish(folder: string): Promise<string> {
  for (let n = 0; n < 5; n++) {
    const id = await startUpload(folder).ended
    if (typeof id === 'string') return id
  }
  throw new Error('The upload failed five times')
}

test.each(Object.entries(kills))(
  'a kill of the %s during an upload leaves no incomplete snapshot, and the upload continues (kills: %s)',
  { timeout: 7_200_000 },
  async (what, times) => {
    for (let kill = 0; kill < times; kill++)
      await withFiles(async (folder, files) => {
        const upload = what === 'client' ? forkUpload(folder) : startUpload(folder)
        await upload.sent(randomInt(largeFiles * largeBytes))
        if (what === 'client') upload.kill()
        else await server.kill(what as 'server' | 'database')
        await upload.ended
        await server.withDatabase(async ({ sql }) => {
          const missing = await sql.query(`SELECT s.id FROM snapshot s, unnest(s.blobs) AS named(id)
            LEFT JOIN blob b ON b.id = named.id AND b.complete
            LEFT JOIN LATERAL (SELECT max(start_offset) AS last FROM blob_chunk c WHERE c.blob_id = b.id) c ON true
            WHERE s.completed_at IS NOT NULL AND (b.id IS NULL OR c.last + 262144 < b.bytes OR c.last IS NULL)`)
          expect(missing).toEqual([])
        })
        const id = await finish(folder)
        const jobId = await api.submit({ command: ['true'], snapshot: id })
        await server.withDatabase(async (db) => {
          expect(await readHashes(db, id)).toEqual(hashesOf(files))
          await expectNoOrphans(db, id)
          expect(await readHashes(db, id)).toEqual(hashesOf(files))
        })
        await api.ask('mutation ($id: ID!) { cancelJob(input: { jobId: $id }) { __typename } }', { id: jobId })
      })
  },
)

/** A sweep a week later keeps only snapshots that jobs use. */
async function expectNoOrphans(db: Db, id: string): Promise<void> {
  await sweepSnapshots({ db } as Domain)
  await db.sql.query(
    `UPDATE snapshot SET unused_since = unused_since - interval '8 days' WHERE unused_since IS NOT NULL`,
  )
  await sweepSnapshots({ db } as Domain)
  const orphans = await db.sql.query('SELECT id FROM blob WHERE NOT complete OR snapshot_id IS NULL')
  const [blobs] = await db.sql.query(
    'SELECT count(*)::int AS kept FROM snapshot s, unnest(s.blobs) AS named(id) JOIN blob b ON b.id = named.id WHERE s.id = $1',
    [id],
  )
  expect({ orphans, blobs }).toEqual({ orphans: [], blobs: { kept: 2 * largeFiles } })
}

test('an interrupted upload continues with the files that are still missing', { timeout: 300_000 }, async () => {
  await withFiles(async (folder, files) => {
    const client = createClient({ url: server.url })
    const ordered = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))
    const list = makeFileList(Object.fromEntries(ordered))
    const announce = async (): Promise<{ missing: string[]; uploadUrl: string }> => {
      const { createSnapshot } = await api.ask<{ createSnapshot: { uploadUrl: string } }>(
        `mutation ($input: CreateSnapshotInput!) {
          createSnapshot(input: $input) { ... on CreateSnapshotSuccess { uploadUrl } } }`,
        { input: list.announced },
      )
      const answer = await fetch(`${server.url}${createSnapshot.uploadUrl}`, { method: 'PUT', body: list.text })
      return (await answer.json()) as { missing: string[]; uploadUrl: string }
    }
    const { missing, uploadUrl } = await announce()
    expect(missing).toHaveLength(Object.keys(files).length)
    const put = request(`${server.url}${uploadUrl}`, { method: 'PUT' })
    put.on('error', () => undefined)
    const [[, first = Buffer.alloc(0)] = [], [, second = Buffer.alloc(0)] = []] = ordered
    put.write(Buffer.concat([makeBlob(first), makeBlob(second).subarray(0, largeBytes / 2)]))
    await until(async () => (await announce()).missing.length === missing.length - 1, { what: 'a file has arrived' })
    put.destroy()
    const snapshot = await uploadSnapshot(client, folder)
    await client.close()
    expect(snapshot).toMatchObject({ hash: list.announced.hash, newFiles: missing.length - 1 })
    expect(await server.withDatabase((db) => readHashes(db, snapshot.id))).toEqual(hashesOf(files))
  })
})
