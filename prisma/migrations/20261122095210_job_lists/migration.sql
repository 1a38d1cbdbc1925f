-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- This is an empty migration.

-- End of the generated part.

-- Lists of jobs: each order and each filter that may match few of very many jobs (bench/lists.ts, decision 0035).

-- The same order as before, in the form in which it is asked: jobs that are alive come after all others.
DROP INDEX job_finished;
CREATE INDEX job_by_finish ON job (coalesce(finished_at, 'infinity') DESC, id DESC);
CREATE INDEX job_by_priority ON job ((coalesce(priority_override, base_priority)::bigint) DESC, id DESC);
CREATE INDEX job_of_project ON job (project, created_at DESC, id DESC) WHERE project IS NOT NULL;
CREATE INDEX job_named ON job (name text_pattern_ops, created_at DESC, id DESC) WHERE name IS NOT NULL;
CREATE INDEX job_labelled ON job USING gin (labels) WHERE labels <> '{}';
-- An entry is made when such a job ends, not when it is submitted.
CREATE INDEX job_unsuccessful ON job (state, created_at DESC, id DESC) WHERE state IN ('FAILED', 'INTERRUPTED', 'CANCELLED');
