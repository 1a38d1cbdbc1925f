-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "run" ADD COLUMN     "cpu_seconds" DOUBLE PRECISION,
ADD COLUMN     "ip" TEXT,
ADD COLUMN     "max_memory_bytes" BIGINT;

-- End of the generated part.

ALTER TABLE run
  ADD CONSTRAINT run_cpu_seconds_is_an_amount CHECK (cpu_seconds >= 0 AND cpu_seconds < 'Infinity'),
  ADD CONSTRAINT run_max_memory_is_an_amount CHECK (max_memory_bytes >= 0);
