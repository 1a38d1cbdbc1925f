-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "node" ADD COLUMN     "engine" TEXT;

-- End of the generated part.
