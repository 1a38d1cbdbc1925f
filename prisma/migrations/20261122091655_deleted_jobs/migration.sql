-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- CreateTable
CREATE TABLE "deleted_job" (
    "job_id" TEXT NOT NULL,
    "position" BIGINT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "user_id" TEXT NOT NULL,
    "name" TEXT,
    "labels" JSONB NOT NULL,
    "team_id" TEXT,
    "account" TEXT NOT NULL,
    "project" TEXT,
    "queue" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "executor" TEXT NOT NULL,
    "state" "job_state" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "deleted_job_pkey" PRIMARY KEY ("job_id")
);

-- End of the generated part.

ALTER TABLE deleted_job ADD CONSTRAINT deleted_job_position_from_1 CHECK (position >= 1);
CREATE UNIQUE INDEX deleted_job_position ON deleted_job (position) WHERE position IS NOT NULL;
CREATE INDEX deleted_job_without_position ON deleted_job (at, job_id) WHERE position IS NULL;

-- Progress is looked for once a second for all streams: by its time, so that it costs what was reported meanwhile.
CREATE INDEX job_progress ON job (progress_at) WHERE progress_at IS NOT NULL;

-- In the transaction of the deletion, whatever deletes: what was deleted is announced exactly once.
CREATE FUNCTION berth_jobs_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deleted_job (job_id, user_id, name, labels, team_id, account, project, queue, pool, executor, state, created_at, finished_at)
  SELECT id, user_id, name, labels, team_id, account, project, queue, pool, executor, state, created_at, finished_at FROM gone
  -- An operator may have put a job back.
  ON CONFLICT (job_id) DO UPDATE SET position = NULL, at = EXCLUDED.at, state = EXCLUDED.state, finished_at = EXCLUDED.finished_at;
  RETURN NULL;
END $$;
CREATE TRIGGER job_deleted AFTER DELETE ON job REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION berth_jobs_deleted();
