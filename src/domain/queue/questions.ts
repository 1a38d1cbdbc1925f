import { createBell } from '../../platform/bell.ts'
import { removeInBatches } from '../../platform/remove-in-batches.ts'
import { type Sql, Unavailable } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { newId } from '../ids.ts'
import { isLedSql, readLedPools } from '../leadership.ts'

/**
 * Questions to the leader of a pool, sent through the database. After its next pass the leader writes the answer into
 * the row of the question, under its epoch; the server that asked reads the answer and deletes the row. The leader
 * locks the row first and writes the answer and its effects in one transaction. A server that gives up deletes the row
 * first. So UNAVAILABLE means that nothing was done.
 */

/**
 * PASS: make all decisions that are possible now, and report them. FORECAST: estimate when a job that is not stored
 * starts; its simulations take long, so a loop of their own answers it.
 */
type QuestionKind = 'PREVIEW' | 'NO_WAIT' | 'PASS' | 'FORECAST'

export interface OpenQuestion {
  id: string
  kind: QuestionKind
  payload: unknown
}

export const askMsMax = 5_000
/** Less than 30 s, the time for which a client waits for an answer. */
export const passMsMax = 25_000
export const pollMs = 250
/** The rows of a dead server are removed at this age. */
const forgottenMs = 60_000
const questionsPerPass = 200

/** Throws Unavailable after `askMsMax` if the pool has no leader, else after `waitMsMax`. */
export async function askLeader(
  domain: Domain,
  pool: string,
  { kind, payload, waitMsMax = askMsMax }: Omit<OpenQuestion, 'id'> & { waitMsMax?: number },
): Promise<unknown> {
  const { db, clock, time, wakeups } = domain
  const id = newId('question', time.nowMs())
  const bell = createBell(clock)
  const unlisten = wakeups.on('answer', () => bell.ring())
  const { signal } = new AbortController()
  const values = [id, waitMsMax - askMsMax]
  try {
    await db.sql.query(
      `INSERT INTO question (id, pool, kind, payload, deadline)
       VALUES ($1, $2, $3::question_kind, $4, berth_now() + $5 * interval '1 millisecond')`,
      [id, pool, kind, JSON.stringify(payload), waitMsMax],
    )
    wakeups.poke('question')
    for (;;) {
      const [row] = await db.sql.query<{ answer: unknown; over: boolean }>(takeSql, values, 'take_answer')
      if (row && row.answer !== null) return row.answer
      if (row?.over !== false) throw new Unavailable(await describeMissingAnswer(domain, pool, waitMsMax))
      await bell.wait(pollMs, signal)
    }
  } finally {
    unlisten()
  }
}

/** Describes why the answer is missing. A leader whose lease is valid is busy with a long pass. */
async function describeMissingAnswer({ db }: Domain, pool: string, waitMsMax: number): Promise<string> {
  return (await readLedPools(db.sql)).includes(pool)
    ? `The scheduler of pool ${pool} is busy and did not answer within ${waitMsMax / 1_000} s`
    : `Pool ${pool} has no scheduler right now`
}

/** Reads the question. Deletes it if it is answered, too old, or $2 ms old in a pool without a leader. */
const takeSql = `
WITH taken AS (
  DELETE FROM question q WHERE id = $1 AND (answer IS NOT NULL OR deadline <= berth_now()
    OR (deadline - $2 * interval '1 millisecond' <= berth_now() AND NOT ${isLedSql('q.pool')})) RETURNING answer
)
SELECT answer, true AS over FROM taken
UNION ALL SELECT NULL, false FROM question WHERE id = $1 AND NOT EXISTS (SELECT FROM taken)`

export async function readOpenQuestions({ db }: Domain, pool: string): Promise<OpenQuestion[]> {
  return db.sql.query<OpenQuestion>(
    `SELECT id, kind::text AS kind, payload FROM question
     WHERE pool = $1 AND deadline > (SELECT berth_now()) AND answer IS NULL
     ORDER BY id LIMIT $2`,
    [pool, questionsPerPass],
    'open_questions',
  )
}

/** Locks the question; false: the server that asked has given up. */
export async function lockOpenQuestion(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.query(
    'SELECT 1 FROM question WHERE id = $1 AND deadline > berth_now() AND answer IS NULL FOR UPDATE',
    [id],
  )
  return rows.length > 0
}

export async function answerQuestion(sql: Sql, id: string, answer: unknown): Promise<void> {
  await sql.query('UPDATE question SET answer = $2 WHERE id = $1 AND answer IS NULL AND deadline > berth_now()', [
    id,
    JSON.stringify(answer),
  ])
}

export const forgetQuestions = ({ db }: Domain): Promise<number> => removeInBatches(db.sql, forgetSql, [forgottenMs])

const forgetSql = `
DELETE FROM question WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM question WHERE deadline < (SELECT berth_now()) - $2 * interval '1 millisecond' LIMIT $1))
RETURNING 1`
