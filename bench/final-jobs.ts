import pg from 'pg'

/**
 * Final copies of a waiting job, with names, labels and projects. Like Berth's ids, theirs grow with time, and they
 * sort before those of newer jobs.
 */
const finalJobsSql = `
INSERT INTO job (id, lane_id, sequence, account, user_id, state, created_at, finished_at, log_closed, name, labels, project,
  started_at, state_reason, base_priority, priority_override, spec, pool, queue, executor, cpu_millis, memory_bytes, gpu)
SELECT 'job_00' || lpad(n::text, 24, '0'), j.lane_id, -n, 'account' || n % 101, 'user_bench' || n % 100,
  (CASE WHEN n % 1000 = 0 THEN 'INTERRUPTED' WHEN n % 13 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END)::job_state,
  clock.now - interval '1 day' - ($1::int - n) * interval '10 seconds', clock.now - interval '1 day' - ($1::int - n - n % 977) * interval '10 seconds',
  true, 'train-' || n % 1000, jsonb_build_object('exp', 'e' || n % 5000) || CASE WHEN n % 2 = 0 THEN '{"half": ""}' ELSE '{}' END::jsonb,
  'p' || n % 201, clock.now - interval '1 day' - ($1::int - n - n % 977 / 2) * interval '10 seconds',
  CASE WHEN n % 1000 = 0 THEN 'PREEMPTED' WHEN n % 13 = 0 THEN 'EXIT_CODE' END, n % 4 * 10, CASE WHEN n % 5000 = 0 THEN 45 END, j.spec, j.pool,
  CASE WHEN n % 5000 = 1 THEN 'rare' WHEN n % 20 = 2 THEN 'night' ELSE j.queue END,
  CASE WHEN n % 5000 = 3 THEN 'slurm' WHEN n % 20 = 4 THEN 'kubernetes' ELSE j.executor END, j.cpu_millis, j.memory_bytes, j.gpu
FROM (SELECT berth_now() AS now) clock, generate_series(1, $1::int) n, (SELECT * FROM job LIMIT 1) j`

export async function addFinalJobs(url: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // Otherwise closing the database hides the error of a statement.
  client.on('error', () => undefined)
  await client.query('SET session_replication_role = replica')
  await client.query(finalJobsSql, [count])
  await client.query('VACUUM ANALYZE')
  await client.end()
}
