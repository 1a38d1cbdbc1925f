import { randomBytes } from 'node:crypto'
import { describe, expect, it, test } from 'vitest'
import { type HoldingRun, readHoldingRuns } from '../../src/domain/jobs/runs.ts'
import { createSecretKeys, seal, Unreadable, unseal } from '../../src/domain/secret-keys.ts'
import { reencryptSecrets } from '../../src/domain/secrets/rotation.ts'
import { forgetRunSecrets } from '../../src/domain/secrets/run-secrets.ts'
import { deleteSecret, setSecret } from '../../src/domain/secrets/secrets.ts'
import type { LogChunk } from '../../src/executors/executor.ts'
import { type Append, createAppender, makeEmptyLog } from '../../src/logs/append.ts'
import { pumpLog } from '../../src/scheduler/log-pump.ts'
import { openRedaction } from '../../src/scheduler/log-redaction.ts'
import { createReporter } from '../../src/scheduler/reports.ts'
import { makeRunSpec, readRunAids } from '../../src/scheduler/run-spec.ts'
import { openTestDomain } from '../support/domain.ts'
import { createLeader } from '../support/leader.ts'

const { database, it: world } = await openTestDomain()
const { domain, admin } = world
const { sql } = database.db
const leader = await createLeader(domain, 'sim')
const reporter = createReporter(domain, leader, 3)

const set = (name: string, value: string) => setSecret(domain, admin, { name, value })

async function start(jobId: string): Promise<HoldingRun> {
  await leader.tick()
  const run = (await readHoldingRuns(sql, leader)).find((each) => each.jobId === jobId)
  if (!run) throw new Error('The run was not started')
  return run
}
const startNew = async (secrets: string[], more: object = {}) => start(await world.submit({ secrets, ...more }))

const inject = async (run: HoldingRun, by = domain) =>
  makeRunSpec(run, await readRunAids(by, run, 'http://127.0.0.1'), { inherited: false, graceMs: 0 }).injected

const end = ({ runId, jobId, number }: HoldingRun, exitCode = 0) => {
  const observation = { state: 'ended', exitCode, signal: null, stopped: false } as const
  return reporter({ runId, jobId, number, report: { kind: 'seen', observation } })
}

describe('a run', () => {
  it('gets the values of its secrets in its environment, beside the variables of Berth', async () => {
    await set('A', 'first value')
    await set('B', 'two\nlines\n')
    const run = await startNew(['A', 'B'])
    expect(await inject(run)).toMatchObject({ A: 'first value', B: 'two\nlines\n', BERTH_JOB_ID: run.jobId })
    expect((await database.db.prisma.secret.findFirstOrThrow({ where: { name: 'A' } })).lastUsedAt).not.toBeNull()
    await end(run)
  })

  it('is refused if its secrets together are too long', async () => {
    const names = ['LONG_A', 'LONG_B', 'LONG_C']
    for (const name of names) await set(name, 'x'.repeat(50_000))
    const run = await startNew(names)
    await expect(inject(run)).rejects.toThrow('have 3 lines and 150000 bytes together, the maximum is 256 and 131072')
    await end(run)
  })

  it('keeps the values of its first start, and a retry gets the new values', async () => {
    await set('A', 'first value')
    const run = await startNew(['A'], { retry: { maxAttempts: 2 } })
    expect((await inject(run))['A']).toBe('first value')
    await set('A', 'second value')
    expect((await inject(run))['A']).toBe('first value')
    expect(await end(run, 1)).toBe('QUEUED')
    await database.moveTime(1_000)
    const again = await start(run.jobId)
    expect((await inject(again))['A']).toBe('second value')
    await end(again)
  })

  it('prefers the secret of the user to that of the team', async () => {
    const ann = await world.user('ann', 'RESEARCHER')
    await sql.query(`INSERT INTO team (id, name, account) VALUES ('team_1', 'ml', 'ml')`)
    await sql.query(`INSERT INTO team_member (team_id, user_id) VALUES ('team_1', $1)`, [ann.userId])
    await setSecret(domain, admin, { name: 'TEAM', value: 'of the team', teamId: 'team_1' })
    const spec = { secrets: ['TEAM'], team: 'ml' }
    const first = await start(await world.submit(spec, ann))
    expect((await inject(first))['TEAM']).toBe('of the team')
    await setSecret(domain, ann, { name: 'TEAM', value: 'of the user' })
    const second = await start(await world.submit(spec, ann))
    expect((await inject(second))['TEAM']).toBe('of the user')
    await deleteSecret(domain, ann, { name: 'TEAM' })
    const third = await start(await world.submit(spec, ann))
    await sql.query('DELETE FROM team_member WHERE user_id = $1', [ann.userId])
    await expect(inject(third)).rejects.toThrow('The secret TEAM was deleted, or the user of the job may not use it')
    for (const run of [first, second, third]) await end(run)
  })

  it('fails at its start if a secret was deleted', async () => {
    await set('GONE', 'some value')
    const run = await startNew(['GONE'])
    await deleteSecret(domain, admin, { name: 'GONE' })
    await expect(inject(run)).rejects.toMatchObject({ name: 'StartFailed', reason: 'BAD_SPEC' })
    await end(run)
  })

  it('cannot be started by a server without the key', async () => {
    await set('A', 'first value')
    const run = await startNew(['A'])
    const other = { ...domain, secretKeys: createSecretKeys([randomBytes(32)]) }
    await expect(inject(run, other)).rejects.toMatchObject({ name: 'StartFailed', reason: 'START_FAILED' })
    expect((await inject(run))['A']).toBe('first value')
    await end(run)
  })

  it('has no stored values after its end', async () => {
    await forgetRunSecrets(sql)
    expect(await database.db.prisma.runSecret.count()).toBe(0)
  })
})

describe('an encrypted value', () => {
  const [old, current] = [randomBytes(32), randomBytes(32)]
  const keys = createSecretKeys([old])

  it('cannot be decrypted in another row, after a change, or with another key', () => {
    const sealed = seal(keys, 'secret user_1 A', 'value')
    expect(unseal(keys, 'secret user_1 A', sealed)).toBe('value')
    expect(() => unseal(keys, 'secret user_1 B', sealed)).toThrow(Unreadable)
    for (let at = 0; at < sealed.data.length; at++) {
      const data = Uint8Array.from(sealed.data)
      data[at] = (data[at] ?? 0) ^ 1
      expect(() => unseal(keys, 'secret user_1 A', { ...sealed, data })).toThrow(Unreadable)
    }
    expect(() => unseal(createSecretKeys([current]), 'secret user_1 A', sealed)).toThrow(Unreadable)
  })

  it('is encrypted with the new key as soon as the server has both keys', async () => {
    const before = { ...domain, secretKeys: keys }
    await sql.query('DELETE FROM secret')
    await sql.query('DELETE FROM run_secret')
    await setSecret(before, admin, { name: 'A', value: 'first value' })
    const run = await startNew(['A'])
    expect((await inject(run, before))['A']).toBe('first value')
    const rotating = { ...domain, secretKeys: createSecretKeys([current, old]) }
    expect((await inject(run, rotating))['A']).toBe('first value')
    expect(await reencryptSecrets(rotating)).toBe(2)
    expect(await reencryptSecrets(rotating)).toBe(0)
    const after = { ...domain, secretKeys: createSecretKeys([current]) }
    expect((await inject(run, after))['A']).toBe('first value')
    await expect(inject(run, before)).rejects.toMatchObject({ reason: 'START_FAILED' })
    await end(run)
  })

  it('is encrypted with the new key however many there are', async () => {
    await sql.query('DELETE FROM secret')
    const eve = await world.user('eve', 'RESEARCHER')
    const before = { ...domain, secretKeys: keys }
    for (let n = 0; n < 100; n++) await setSecret(before, admin, { name: `A_${n}`, value: 'mine' })
    for (const name of ['A', 'B']) await setSecret(before, eve, { name, value: 'hers' })
    expect(await reencryptSecrets({ ...domain, secretKeys: createSecretKeys([current, old]) })).toBe(102)
  })
})

// ── the log ──

const value = 'the-s3cr3t-value'
const output = `begin ${value} the-s3cr3t- middle ${value}${value}\nend the-s3cr3t-val`
const redacted = 'begin •••••• the-s3cr3t- middle ••••••\nend the-s3cr3t-val'

/** An executor whose positions are offsets into the output of each stream. */
async function* readFrom(from: unknown, signal: AbortSignal, chunkBytes: number): AsyncGenerator<LogChunk> {
  const at = { STDOUT: 0, STDERR: 0, ...(from as object | null) }
  while (!signal.aborted && at.STDOUT + at.STDERR < 2 * output.length) {
    const stream = at.STDOUT <= at.STDERR ? 'STDOUT' : 'STDERR'
    const bytes = Buffer.from(output).subarray(at[stream], at[stream] + chunkBytes)
    at[stream] += bytes.length
    yield { stream, bytes, next: { ...at } }
  }
}

async function readStoredOutput(runId: string): Promise<Record<string, string>> {
  const pieces = stored.get(runId) ?? []
  const join = (stream: string) =>
    Buffer.concat(
      pieces.flatMap((piece) => ('gap' in piece || piece.stream !== stream ? [] : [piece.bytes])),
    ).toString()
  return { STDOUT: join('STDOUT'), STDERR: join('STDERR') }
}

const stored = new Map<string, Append['pieces'][number][]>()
const append = createAppender(sql)
const kept: typeof append = async (head, what) => {
  const next = await append(head, what)
  const copies = what.pieces.map((piece) => ('gap' in piece ? piece : { ...piece, bytes: Buffer.from(piece.bytes) }))
  stored.set(head.runId, [...(stored.get(head.runId) ?? []), ...copies])
  return next
}

interface Pump {
  run: HoldingRun
  isFresh?: boolean
  chunkBytes: number
  /** The pump is cut after this number of chunks. */
  cutAfter?: number
}

async function pump({ run, isFresh = false, chunkBytes, cutAfter = Number.POSITIVE_INFINITY }: Pump): Promise<void> {
  const cut = new AbortController()
  async function* logs(_handle: string, from: unknown, signal: AbortSignal) {
    let given = 0
    for await (const chunk of readFrom(from, signal, chunkBytes)) {
      if (given++ === cutAfter) return cut.abort()
      yield chunk
    }
  }
  const redaction = await openRedaction(domain, run)
  const { runId } = run
  const executor = { logs }
  const parts = { sql, append: kept, executor, redaction, runId, isFresh, handle: '', onStored: () => undefined }
  await pumpLog({ ...parts, bytesMax: 2 ** 30 }, cut.signal)
}

test.each([1, 2, 3, 5, 7, 40, 1_000])('output in chunks of %i bytes is stored without secret', async (chunkBytes) => {
  await sql.query('DELETE FROM secret')
  await set('S', value)
  const run = await startNew(['S'])
  await inject(run)
  await pump({ run, isFresh: true, chunkBytes })
  expect(await readStoredOutput(run.runId)).toEqual({ STDOUT: redacted, STDERR: redacted })
  await end(run)
})

test.each([1, 2, 3, 4, 5, 6])('a pump loses no output if cut off after every %i chunks', async (cutAfter) => {
  await sql.query('DELETE FROM secret')
  await set('S', value)
  const run = await startNew(['S'])
  await inject(run)
  // The secret is changed meanwhile; the output still has the old value.
  await set('S', 'another value')
  for (let at = 0; at < 60; at++) await pump({ run, chunkBytes: 3 + (at % 5), cutAfter })
  await pump({ run, chunkBytes: 4 })
  await pump({ run, chunkBytes: 4 })
  expect(await readStoredOutput(run.runId)).toEqual({ STDOUT: redacted, STDERR: redacted })
  const [row] = await sql.query<{ position: unknown }>('SELECT position FROM run_log WHERE run_id = $1', [run.runId])
  expect(row?.position).toEqual({ at: { STDOUT: output.length, STDERR: output.length }, held: null })
  await end(run)
})

test('the stored position of a pump does not reveal the output that is held back', async () => {
  await sql.query('DELETE FROM secret')
  await set('S', value)
  const run = await startNew(['S'])
  await inject(run)
  const redaction = await openRedaction(domain, run)
  redaction?.open(makeEmptyLog(run.runId).position)
  async function* chunks(): AsyncGenerator<LogChunk> {
    yield { stream: 'STDOUT', bytes: Buffer.from('line\nthe-s3cr3t'), next: 1 }
  }
  const seen: LogChunk[] = []
  for await (const chunk of redaction?.redact(chunks(), () => true) ?? []) seen.push(chunk)
  expect(seen).toMatchObject([{ bytes: Buffer.from('line\n'), next: { at: 1, held: { data: expect.any(String) } } }])
  expect(JSON.stringify(seen)).not.toContain(Buffer.from('the-s3cr3t').toString('base64').slice(0, 10))
  await end(run)
})

test('a server without the key drops the output, and does not show it', async () => {
  await sql.query('DELETE FROM secret')
  await set('S', value)
  const run = await startNew(['S'])
  await inject(run)
  const other = { ...domain, secretKeys: createSecretKeys([randomBytes(32)]) }
  const redaction = await openRedaction(other, run)
  async function* chunks(): AsyncGenerator<LogChunk> {
    yield { stream: 'STDOUT', bytes: Buffer.from(value), next: 1 }
  }
  const seen: LogChunk[] = []
  for await (const chunk of redaction?.redact(chunks(), () => false) ?? []) seen.push(chunk)
  expect(seen).toEqual([{ gap: 'LOST', bytes: value.length, next: { at: 1, held: null } }])
  await end(run)
})
