-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "node" ADD COLUMN     "gpu_jobs_only" BOOLEAN NOT NULL DEFAULT false;

-- End of the generated part.
