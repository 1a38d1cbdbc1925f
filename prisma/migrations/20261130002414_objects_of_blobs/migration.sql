-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "blob" ADD COLUMN     "object_key" TEXT;

-- CreateTable
CREATE TABLE "removed_object" (
    "key" TEXT NOT NULL,

    CONSTRAINT "removed_object_pkey" PRIMARY KEY ("key")
);

-- End of the generated part.
