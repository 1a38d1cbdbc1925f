-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- CreateTable
CREATE TABLE "pool_forecast" (
    "pool" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "basis" TEXT NOT NULL,
    "starts" JSONB NOT NULL,

    CONSTRAINT "pool_forecast_pkey" PRIMARY KEY ("pool")
);

-- End of the generated part.
