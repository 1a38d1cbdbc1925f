-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- CreateTable
CREATE TABLE "retention_mark" (
    "task" TEXT NOT NULL,
    "finished_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retention_mark_pkey" PRIMARY KEY ("task")
);

-- End of the generated part.
