-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "told_at" TIMESTAMPTZ(3);

-- End of the generated part.

-- Readers of jobs look which of theirs were told something.
DROP INDEX job_progress;
CREATE INDEX job_told ON job (told_at) WHERE told_at IS NOT NULL;
