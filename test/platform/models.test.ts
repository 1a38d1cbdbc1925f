import { describe, expect, test } from 'vitest'
import { openDb } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'
import { brokenConstraint, isUnavailable, readSqlState, type Tx, Unavailable } from '../../src/platform/tx.ts'
import { createDatabase, openDatabase } from '../support/database.ts'
import { createDoor } from '../support/outage.ts'
import { until } from '../support/until.ts'

const database = await openDatabase()

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

const person = (id: string) => ({ id, name: id, level: 'LEAD' }) as const
const levelOf = async (id: string) => (await database.db.prisma.user.findUnique({ where: { id } }))?.level

describe('a transaction with Prisma models', () => {
  test('runs statements and model calls that see each other, and commits both', async () => {
    const seen = await database.db.serializable(async (tx) => {
      await tx.prisma.user.create({ data: person('user_both') })
      await tx.query(`UPDATE "user" SET level = 'ADMIN' WHERE id = 'user_both'`)
      return tx.prisma.user.findUnique({ where: { id: 'user_both' } })
    })
    expect(seen?.level).toBe('ADMIN')
    expect(await levelOf('user_both')).toBe('ADMIN')
  })

  test('is SERIALIZABLE, on one connection', async () => {
    const rows = await database.db.serializable(async (tx) => {
      const first = await tx.query('SELECT pg_backend_pid() AS pid, current_setting($1) AS level', [
        'transaction_isolation',
      ])
      await tx.prisma.user.findMany()
      return [
        first,
        await tx.query('SELECT pg_backend_pid() AS pid, current_setting($1) AS level', ['transaction_isolation']),
      ]
    })
    expect(rows[0]).toEqual(rows[1])
    expect(rows[0]?.[0]).toMatchObject({ level: 'serializable' })
  })

  test('leaves no rows when it throws', async () => {
    const work = async (tx: Tx) => {
      await tx.prisma.user.create({ data: person('user_gone') })
      await tx.query(`INSERT INTO team (id, name, account) VALUES ('team_gone', 'gone', 'gone')`)
      throw new Error('on second thoughts')
    }
    expect(await failure(database.db.serializable(work))).toMatchObject({ message: 'on second thoughts' })
    expect(await levelOf('user_gone')).toBeUndefined()
    expect(await database.db.prisma.team.count({ where: { id: 'team_gone' } })).toBe(0)
  })

  test('rolls back all writes of one nested call', async () => {
    const work = async (tx: Tx) => {
      const teams = { create: { team: { create: { id: 'team_nested', name: 'nested', account: 'nested' } } } }
      await tx.prisma.user.create({ data: { ...person('user_nested'), teams } })
      throw new Error('on second thoughts')
    }
    await failure(database.db.serializable(work))
    expect(await levelOf('user_nested')).toBeUndefined()
    expect(await database.db.prisma.team.count({ where: { id: 'team_nested' } })).toBe(0)
  })

  test('is retried after a conflict', async () => {
    await database.db.serializable((tx) =>
      tx.prisma.user.createMany({ data: [person('user_left'), person('user_right')] }),
    )
    let arrived = 0
    const attempt = (reads: string, writes: string) =>
      database.db.serializable(async (tx) => {
        const row = await tx.prisma.user.findUniqueOrThrow({ where: { id: reads } })
        arrived += 1
        await until(() => arrived >= 2, { what: 'both have read' })
        await tx.prisma.user.update({ where: { id: writes }, data: { displayName: row.displayName ?? 'first' } })
      })
    await Promise.all([attempt('user_left', 'user_right'), attempt('user_right', 'user_left')])
    expect(arrived).toBe(3)
  })

  test('does not lend its connection to model calls that follow its end', async () => {
    let later: (() => Promise<unknown>) | undefined
    await database.db.serializable(async (tx) => {
      await tx.prisma.user.count()
      later = () => Promise.all([readPid(), readPid()])
    })
    await expect(later?.()).resolves.toHaveLength(2)
  })

  const readPid = () =>
    database.db.prisma.user.findUnique({ where: { id: `user_${Math.random()}` }, select: { id: true } })

  test('stores and reads times in the same way for every time zone and date style of the database', async () => {
    await using far = await createDatabase()
    for (const other of ["timezone TO 'Asia/Kathmandu'", 'datestyle TO German'])
      await far.db.sql.query(`ALTER DATABASE "${new URL(far.url).pathname.slice(1)}" SET ${other}`)
    const db = openDb({ address: far, connectionsMax: 1, log: createLog('silent'), applicationName: 'berth test' })
    const expiresAt = new Date('2030-01-02T03:04:05.678Z')
    await db.serializable(async (tx) => {
      await tx.prisma.user.create({ data: person('user_far') })
      const token = {
        id: 'token_far',
        userId: 'user_far',
        name: 'far',
        prefix: 'far',
        hash: Buffer.alloc(32),
        expiresAt,
      }
      await tx.prisma.apiToken.create({ data: token })
    })
    const [row] = await db.sql.query('SELECT expires_at AS "expiresAt" FROM api_token')
    const read = await db.prisma.apiToken.findFirst()
    await db.close()
    expect({ stored: row?.['expiresAt'], read: read?.expiresAt }).toEqual({ stored: expiresAt, read: expiresAt })
  })
})

describe('a failed model call throws the same error as a failed statement', () => {
  const failing = (work: (tx: Tx) => Promise<unknown>) => failure(database.db.serializable(work))

  test('for a duplicate key', async () => {
    const data = person('user_taken')
    await database.db.serializable((tx) => tx.prisma.user.create({ data }))
    const error = await failing((tx) => tx.prisma.user.create({ data }))
    expect([readSqlState(error), brokenConstraint(error)]).toEqual(['23505', 'user_pkey'])
  })

  test('for a CHECK constraint', async () => {
    const error = await failing((tx) => tx.prisma.feedHead.update({ where: { id: 1 }, data: { position: -1 } }))
    expect(readSqlState(error)).toBe('23514')
  })

  test('for a session that is terminated', async () => {
    const error = await failing(async (tx) => {
      const ending = failure(tx.query('SELECT pg_terminate_backend(pg_backend_pid())'))
      await Promise.all([ending, tx.prisma.user.findMany()])
    })
    expect(error).toBeInstanceOf(Unavailable)
  })

  test('for a lock timeout', async () => {
    await database.db.transaction(async (holder) => {
      await holder.query('LOCK TABLE "user" IN ACCESS EXCLUSIVE MODE')
      const error = await failing(async (tx) => {
        await tx.query("SET LOCAL lock_timeout = '50ms'")
        await tx.prisma.user.findMany()
      })
      expect(error).toBeInstanceOf(Unavailable)
    })
  })

  test('for a hanging database', async () => {
    const door = await createDoor(database.url)
    const db = openDb({ address: door, connectionsMax: 1, log: createLog('silent'), applicationName: 'berth silent' })
    const error = await failure(
      db.serializable(async (tx) => {
        await tx.prisma.user.count()
        door.freeze()
        await tx.prisma.user.count()
      }),
    )
    expect(error).toBeInstanceOf(Unavailable)
    door.thaw()
    expect(await db.prisma.user.count()).toBeGreaterThan(0)
    await db.close()
    await door.shut()
  })

  test('for a call after the transaction ended', async () => {
    const kept = await database.db.serializable(async (tx) => tx)
    expect(isUnavailable(await failure(kept.prisma.user.count()))).toBe(true)
  })
})
