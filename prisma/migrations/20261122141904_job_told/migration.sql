-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- This is an empty migration.

-- End of the generated part.

-- Readers of jobs look which of theirs were told something. Apart from the new column, whose lock would stop all reads of
-- jobs while the index is made.
CREATE INDEX job_told ON job (told_at) WHERE told_at IS NOT NULL;
DROP INDEX job_progress;
