-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- This is an empty migration.

-- End of the generated part.

-- Lists of jobs by queue, pool, executor and account, and of those that are alive or over (decision 0035). Entries of jobs that
-- are alive are together in both indexes, so quotas count by them as well.
CREATE INDEX job_by_place ON job (log_closed, account text_pattern_ops, pool, queue, executor);
CREATE INDEX job_by_phase ON job (log_closed, created_at DESC, id DESC);
DROP INDEX job_alive_of_account;

CREATE INDEX job_of_team_and_phase ON job (team_id, log_closed) WHERE team_id IS NOT NULL;
DROP INDEX job_of_team;
DROP INDEX job_alive_of_team;
ALTER INDEX job_of_team_and_phase RENAME TO job_of_team;

-- Which of these values ever met: without it the planner multiplies their shares.
CREATE STATISTICS job_places (mcv) ON state, log_closed, pool, queue, executor, account FROM job;
