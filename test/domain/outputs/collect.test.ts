import { randomBytes } from 'node:crypto'
import { unpackTar } from 'modern-tar'
import { describe, expect, it } from 'vitest'
import type { Domain } from '../../../src/domain/domain.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { collectOutputs } from '../../../src/domain/outputs/collect.ts'
import type { OutputSource } from '../../../src/domain/outputs/found.ts'
import type { OutputLimits } from '../../../src/domain/outputs/selection.ts'
import {
  filesPerPage,
  packFilesOfJob,
  readFileContent,
  readFilesOfJob,
} from '../../../src/domain/outputs/stored-files.ts'
import { sweepSnapshots } from '../../../src/domain/snapshots/removal.ts'
import type { Sql, Tx } from '../../../src/platform/tx.ts'
import { openTestDomain } from '../../support/domain.ts'

const { it: world } = await openTestDomain({ singleUser: false })
const { domain } = world
const { sql } = domain.db
const wide: OutputLimits = { bytesMax: 2 ** 30, filesMax: 1_000, userBytesMax: 2 ** 30 }

let users = 0

/** A run that has ended, of a new user. */
async function endedRun(outputs = ['*']): Promise<{ jobId: string; runId: string }> {
  const jobId = await world.submit({ outputs }, await world.user(`out-${++users}`, 'RESEARCHER'))
  const move = { jobId, run: 1, reason: null } as const
  const [started] = await transition(sql, [{ ...move, from: 'QUEUED', to: 'STARTING' }], domain.time.nowMs())
  await transition(sql, [{ ...move, from: 'STARTING', to: 'RUNNING' }], domain.time.nowMs())
  const [ended] = await transition(sql, [{ ...move, from: 'RUNNING', to: 'SUCCEEDED' }], domain.time.nowMs())
  return { jobId, runId: ended?.runId ?? started?.runId ?? '' }
}

type Files = Record<string, Buffer>

const sourceOf = (files: Files): OutputSource =>
  async function* source(pick) {
    for (const [path, content] of Object.entries(files))
      if (pick({ path, type: 'FILE', size: content.length })) yield { path, content: inPieces(content) }
  }

async function* inPieces(content: Buffer) {
  for (let at = 0; at < content.length; at += 70_001) yield content.subarray(at, at + 70_001)
}

async function readBack(jobId: string): Promise<Files> {
  const found: Files = {}
  for (const file of await readFilesOfJob(sql, jobId)) {
    const pieces: Buffer[] = []
    for await (const piece of readFileContent(domain, file, 0)) pieces.push(piece)
    found[file.path] = Buffer.concat(pieces)
  }
  return found
}

async function told(jobId: string): Promise<string[]> {
  const rows = await sql.query<{ message: string }>(
    `SELECT message FROM event WHERE job_id = $1 AND type = 'ARTIFACT_PUBLISHED' ORDER BY seq`,
    [jobId],
  )
  return rows.map(({ message }) => message)
}

/**
 * A domain whose statements fail from a given one on, as if the server had been killed; open transactions are rolled
 * back.
 */
function dieAfter(statements: number): Domain {
  let left = statements
  const counted = <T extends Sql>(inner: T): T =>
    Object.create(inner, {
      query: {
        value: async (...statement: Parameters<Sql['query']>) => {
          if (left-- <= 0) throw new Error('killed')
          return inner.query(...statement)
        },
      },
    })
  const db = Object.create(domain.db, {
    sql: { value: counted(sql) },
    transaction: { value: (work: (tx: Sql) => Promise<unknown>) => domain.db.transaction((tx) => work(counted(tx))) },
    locking: { value: (work: (tx: Tx) => Promise<unknown>) => domain.db.locking((tx) => work(counted(tx))) },
  })
  return { ...domain, db }
}

describe('the collection of output files', () => {
  it('stores every file once and complete, at whichever statement a server dies', async () => {
    const files = {
      a: Buffer.from('a'),
      'd/large': randomBytes(600_000),
      'd/same': Buffer.from('a'),
      empty: Buffer.alloc(0),
    }
    const { jobId, runId } = await endedRun()
    let deaths = 0
    for (; ; deaths++) {
      const outcome = await collectOutputs(dieAfter(deaths), runId, sourceOf(files), wide).then(
        () => null,
        (error: Error) => error.message,
      )
      if (outcome === null) break
      expect(outcome).toBe('killed')
      expect(await readFilesOfJob(sql, jobId)).toEqual([])
    }
    expect(deaths).toBeGreaterThan(10)
    expect(await readBack(jobId)).toEqual(files)
    expect(await told(jobId)).toEqual(['Stored 4 output files'])
    await collectOutputs(domain, runId, sourceOf({ ...files, late: Buffer.from('l') }), wide)
    expect(Object.keys(await readBack(jobId))).not.toContain('late')
  })

  it('finds the media type by the ending of the name, in either case', async () => {
    const { jobId, runId } = await endedRun()
    const names = ['loss.png', 'LOSS.PNG', 'Notes.Md', 'model.bin', 'png']
    await collectOutputs(domain, runId, sourceOf(Object.fromEntries(names.map((name) => [name, randomBytes(9)]))), wide)
    const rows = await sql.query<{ name: string; type: string }>(
      'SELECT name, media_type AS type FROM artifact WHERE job_id = $1',
      [jobId],
    )
    expect(Object.fromEntries(rows.map(({ name, type }) => [name, type]))).toEqual({
      'loss.png': 'image/png',
      'LOSS.PNG': 'image/png',
      'Notes.Md': 'text/markdown',
      'model.bin': 'application/octet-stream',
      png: 'application/octet-stream',
    })
  })

  it('keeps files that artifacts name, and deletes them with the job', async () => {
    const { jobId, runId } = await endedRun()
    const files = { kept: randomBytes(1_000) }
    await collectOutputs(domain, runId, sourceOf(files), wide)
    const age = () => sql.query("UPDATE snapshot SET unused_since = unused_since - interval '8 days'")
    await age()
    await sweepSnapshots(domain)
    await age()
    await sweepSnapshots(domain)
    expect(await readBack(jobId)).toEqual(files)
    await sql.query('DELETE FROM artifact WHERE job_id = $1', [jobId])
    await sweepSnapshots(domain)
    await age()
    await sweepSnapshots(domain)
    const [left] = await sql.query<{ blobs: number }>(
      'SELECT count(*)::int AS blobs FROM blob b JOIN job j ON j.user_id = b.user_id WHERE j.id = $1',
      [jobId],
    )
    expect(left?.blobs).toBe(0)
  })

  it('keeps the files that fit into the limits of run and user, and reports the others by name', async () => {
    const { jobId, runId } = await endedRun(['*.bin', '!no.bin'])
    const files = Object.fromEntries(['a', 'b', 'c', 'no'].map((name) => [`${name}.bin`, randomBytes(1_000)]))
    await collectOutputs(domain, runId, sourceOf(files), { bytesMax: 2_500, filesMax: 10, userBytesMax: 1_500 })
    expect(Object.keys(await readBack(jobId))).toEqual(['a.bin'])
    expect(await told(jobId)).toEqual([
      'Stored 1 output file; left out: "c.bin" has 1000 bytes and does not fit into files.outputsBytesMax, which is 2500; "b.bin" has 1000 bytes and does not fit into files.userBytesMax, which is 1500',
    ])
  })

  it('packs more files than a page has, and leaves out files whose path is below that of another file', async () => {
    const { jobId, runId } = await endedRun()
    const names = ['d-1', 'd/below', 'd.txt', 'd0', 'x', ...Array.from({ length: filesPerPage }, (_, n) => `n${n}`)]
    const files = Object.fromEntries(names.map((name) => [name, Buffer.alloc(0)]))
    await collectOutputs(domain, runId, sourceOf(files), { ...wide, filesMax: 20_000 })
    await sql.query(`UPDATE artifact SET name = 'd' WHERE job_id = $1 AND name = 'x'`, [jobId])
    const first = await readFilesOfJob(sql, jobId)
    expect(first).toHaveLength(filesPerPage)
    const pack = async (after?: string) => {
      const pieces: Buffer[] = []
      for await (const piece of packFilesOfJob(domain, jobId, { first, after })) pieces.push(piece)
      return (await unpackTar(Buffer.concat(pieces))).map(({ header }) => header.name)
    }
    const packed = await pack()
    const kept = names.filter((name) => name !== 'd/below').map((name) => (name === 'x' ? 'd' : name))
    expect(packed.toSorted()).toEqual(kept.sort())
    expect(await pack('d.txt')).toEqual(packed.slice(packed.indexOf('d.txt') + 1))
    expect(await pack(packed.at(-1))).toEqual([])
  })

  it('requires that the artifact of a file has a size', async () => {
    const { jobId, runId } = await endedRun()
    await collectOutputs(domain, runId, sourceOf({ a: Buffer.from('a') }), wide)
    const without = sql.query('UPDATE artifact SET size_bytes = NULL WHERE job_id = $1', [jobId])
    await expect(without).rejects.toThrow('artifact_size')
  })

  it('refuses files with hostile names, and reports their names', async () => {
    const { jobId, runId } = await endedRun()
    const names = ['../up', '/etc/passwd', 'a/../../b', 'new\nline', `${'d/'.repeat(200)}f`, 'good:name']
    const files = Object.fromEntries(names.map((name) => [name, Buffer.from('x')]))
    await collectOutputs(domain, runId, sourceOf(files), wide)
    expect(Object.keys(await readBack(jobId))).toEqual(['good:name'])
    for (const name of names.slice(0, 4)) expect((await told(jobId))[0]).toContain(JSON.stringify(name))
  })

  it('ends although a file changes at every read, and reports its name', async () => {
    const { jobId, runId } = await endedRun()
    const source: OutputSource = (pick) => sourceOf({ log: randomBytes(100) })(pick)
    await collectOutputs(domain, runId, source, wide)
    expect(await told(jobId)).toEqual([expect.stringMatching(/^No output files; left out: .*"log".* changed/)])
  })

  it('reports by name the files that changed, grew or vanished between the reads, and stores the others', async () => {
    const { jobId, runId } = await endedRun()
    const same = { a: randomBytes(1_000), large: randomBytes(600_000), z: randomBytes(10) }
    let reads = 0
    const source: OutputSource = (pick) => {
      const log = Buffer.alloc(50, `${++reads}`)
      const vanished = reads === 1 ? { gone: randomBytes(5) } : {}
      const grown = Buffer.alloc(300_000 * reads, 'g')
      const shrunk = Buffer.alloc(900_000 / reads, 's')
      return sourceOf({ ...same, log, grown, shrunk, ...vanished, changing: randomBytes(400_000) })(pick)
    }
    await collectOutputs(domain, runId, source, wide)
    expect(await readBack(jobId)).toEqual(same)
    const [message = ''] = await told(jobId)
    for (const name of ['log', 'grown', 'shrunk', 'gone', 'changing'])
      expect(message).toContain(`"${name}" changed while it was read`)
    expect(message).toMatch(/^Stored 3 output files; left out: /)
  })
})
