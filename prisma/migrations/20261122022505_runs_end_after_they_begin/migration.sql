-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- This is an empty migration.

-- End of the generated part.

-- Ends were told by another clock than beginnings: of the ends that lie before, nothing better is known than the beginning.
UPDATE run SET finished_at = started_at WHERE finished_at < started_at;
UPDATE job SET finished_at = started_at WHERE finished_at < started_at;
ALTER TABLE run ADD CONSTRAINT run_ends_after_it_began CHECK (finished_at >= started_at);
ALTER TABLE job ADD CONSTRAINT job_ends_after_it_began CHECK (finished_at >= started_at);
