-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "pool" ADD COLUMN     "directory" TEXT;

-- AlterTable
ALTER TABLE "scheduler_leader" ADD COLUMN     "place" TEXT;

-- End of the generated part.
